# Rendered by nomad-csi. Change the spec and render again. Content 14b7fbed4ce40573
type      = "csi"
id        = "builds"
namespace = "default"
name      = "builds"
plugin_id = "nfs0"

# For `nomad volume create`: the plugin makes the volume.
capacity_min = "10GiB"

capability {
  access_mode     = "multi-node-multi-writer"
  attachment_mode = "file-system"
}

# Stands here even when empty: Nomad refuses a file without it while the volume is in use.
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
