# Rendered by nomad-csi. Change the spec and render again. Content 569496a33942bd86
type      = "csi"
id        = "disk"
namespace = "default"
name      = "disk"
plugin_id = "hostpath0"

# The plugin creates the volume: `nomad-csi apply` with the spec.
capacity_min = "1GiB"
capacity_max = "2GiB"

capability {
  access_mode     = "single-node-writer"
  attachment_mode = "block-device"
}

# Required by Nomad when a volume in use is registered again.
mount_options {
}
