# Rendered by nomad-csi. Change the spec and render again. Content 10df4932d40e1ad1
type      = "csi"
id        = "scratch"
namespace = "default"
name      = "scratch"
plugin_id = "hostpath0"

# The plugin creates the volume: `nomad-csi apply` with the spec.
capacity_min = "100MiB"

capability {
  access_mode     = "single-node-writer"
  attachment_mode = "file-system"
}

# Required by Nomad when a volume in use is registered again.
mount_options {
}
