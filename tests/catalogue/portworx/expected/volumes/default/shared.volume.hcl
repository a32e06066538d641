# Rendered by nomad-csi. Change the spec and render again. Content c87e5fc8c46f6796
type      = "csi"
id        = "shared"
namespace = "default"
name      = "shared"
plugin_id = "portworx"

# For `nomad volume create`: the plugin creates the volume.
capacity_min = "5GiB"

capability {
  access_mode     = "multi-node-multi-writer"
  attachment_mode = "file-system"
}

capability {
  access_mode     = "multi-node-reader-only"
  attachment_mode = "file-system"
}

# Required by Nomad when a volume in use is registered again.
mount_options {
}

parameters = {
  repl     = "2"
  sharedv4 = "true"
}
