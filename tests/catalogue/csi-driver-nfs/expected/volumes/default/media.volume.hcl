# Rendered by nomad-csi. Change the spec and render again. Content 212d4b3ef3c79ace
type        = "csi"
id          = "media"
namespace   = "default"
name        = "media"
external_id = "nas.example.net#export/media"
plugin_id   = "nfs0"

capability {
  access_mode     = "multi-node-multi-writer"
  attachment_mode = "file-system"
}

mount_options {
  mount_flags = ["nfsvers=4.1", "noatime"]
}

context = {
  server = "nas.example.net"
  share  = "/export/media"
}
