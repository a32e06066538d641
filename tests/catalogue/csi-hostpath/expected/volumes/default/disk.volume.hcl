# Rendered by nomad-csi. Change the spec and render again. Content 75d49b86bba3aeb4
type      = "csi"
id        = "disk"
namespace = "default"
name      = "disk"
plugin_id = "hostpath0"

# For `nomad volume create`: the plugin makes the volume.
capacity_min = "1GiB"
capacity_max = "2GiB"

capability {
  access_mode     = "single-node-writer"
  attachment_mode = "block-device"
}

# Stands here even when empty: Nomad refuses a file without it while the volume is in use.
mount_options {
}
