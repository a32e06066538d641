# Rendered by nomad-csi. Change the spec and render again. Content 4b99eda136d169fe
type      = "csi"
id        = "media"
namespace = "default"
name      = "media"
plugin_id = "kowlan"

# The plugin creates the volume: `nomad-csi apply` with the spec.
capacity_min = "100GiB"
capacity_max = "100GiB"

capability {
  access_mode     = "multi-node-multi-writer"
  attachment_mode = "file-system"
}

mount_options {
  mount_flags = ["noatime", "nfsvers=4.2"]
}
