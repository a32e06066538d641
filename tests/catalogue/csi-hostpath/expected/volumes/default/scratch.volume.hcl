# Rendered by nomad-csi. Change the spec and render again. Content 89d37ac39938326f
type      = "csi"
id        = "scratch"
namespace = "default"
name      = "scratch"
plugin_id = "hostpath0"

# For `nomad volume create`: the plugin creates the volume.
capacity_min = "100MiB"

capability {
  access_mode     = "single-node-writer"
  attachment_mode = "file-system"
}

# Required by Nomad when a volume in use is registered again.
mount_options {
}
