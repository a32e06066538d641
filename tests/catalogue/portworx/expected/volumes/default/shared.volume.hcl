# Rendered by nomad-csi. Change the spec and render again. Content e3729eedd62149fc
type      = "csi"
id        = "shared"
namespace = "default"
name      = "shared"
plugin_id = "portworx"

# For `nomad volume create`: the plugin makes the volume.
capacity_min = "5GiB"

capability {
  access_mode     = "multi-node-multi-writer"
  attachment_mode = "file-system"
}

capability {
  access_mode     = "multi-node-reader-only"
  attachment_mode = "file-system"
}

# Stands here even when empty: Nomad refuses a file without it while the volume is in use.
mount_options {
}

parameters = {
  repl     = "2"
  sharedv4 = "true"
}
