# Rendered by nomad-csi. Change the spec and render again. Content a8d0e0241ff98fde
type      = "csi"
id        = "disk"
namespace = "default"
name      = "disk"
plugin_id = "hostpath0"

# For `nomad volume create`: the plugin creates the volume.
capacity_min = "1GiB"
capacity_max = "2GiB"

capability {
  access_mode     = "single-node-writer"
  attachment_mode = "block-device"
}

# Required by Nomad when a volume in use is registered again.
mount_options {
}
