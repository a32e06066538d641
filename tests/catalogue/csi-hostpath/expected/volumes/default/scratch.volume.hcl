# Rendered by nomad-csi. Change the spec and render again. Content 9f65be64d3d39680
type      = "csi"
id        = "scratch"
namespace = "default"
name      = "scratch"
plugin_id = "hostpath0"

# For `nomad volume create`: the plugin makes the volume.
capacity_min = "100MiB"

capability {
  access_mode     = "single-node-writer"
  attachment_mode = "file-system"
}

# Stands here even when empty: Nomad refuses a file without it while the volume is in use.
mount_options {
}
