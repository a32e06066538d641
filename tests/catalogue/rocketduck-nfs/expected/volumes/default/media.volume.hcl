# Rendered by nomad-csi. Change the spec and render again. Content 1f1d5500daf8cf9b
type        = "csi"
id          = "media"
namespace   = "default"
name        = "media"
external_id = "media"
plugin_id   = "rocketduck0"

capability {
  access_mode     = "multi-node-multi-writer"
  attachment_mode = "file-system"
}

# Required by Nomad when a volume in use is registered again.
mount_options {
}
