# Rendered by nomad-csi. Change the spec and render again. Content 1d98dd686172f4cb
type      = "csi"
id        = "builds"
namespace = "default"
name      = "builds"
plugin_id = "nfs0"

# The plugin creates the volume: `nomad-csi apply` with the spec.
capacity_min = "10GiB"

capability {
  access_mode     = "multi-node-multi-writer"
  attachment_mode = "file-system"
}

mount_options {
  mount_flags = ["nfsvers=4.1"]
}

parameters = {
  mountPermissions = "0770"
  onDelete         = "retain"
  server           = "nas.example.net"
  share            = "/export"
  subDir           = "builds"
}
