# Rendered by nomad-csi. Change the spec and render again. Content 9d14325dd5b3009c
type      = "csi"
id        = "media"
namespace = "default"
name      = "media"
plugin_id = "kowlan"

# For `nomad volume create`: the plugin makes the volume.
capacity_min = "100GiB"
capacity_max = "100GiB"

capability {
  access_mode     = "multi-node-multi-writer"
  attachment_mode = "file-system"
}

# Stands here even when empty: Nomad refuses a file without it while the volume is in use.
mount_options {
  mount_flags = ["noatime", "nfsvers=4.2"]
}
