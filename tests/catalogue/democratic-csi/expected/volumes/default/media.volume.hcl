# Rendered by nomad-csi. Change the spec and render again. Content b10c997a2631cc3a
type      = "csi"
id        = "media"
namespace = "default"
name      = "media"
plugin_id = "kowlan"

# For `nomad volume create`: the plugin creates the volume.
capacity_min = "100GiB"
capacity_max = "100GiB"

capability {
  access_mode     = "multi-node-multi-writer"
  attachment_mode = "file-system"
}

mount_options {
  mount_flags = ["noatime", "nfsvers=4.2"]
}
