# Rendered by nomad-csi. Change the spec and render again. Content cbe6c32cc9509a09
type      = "csi"
id        = "shared"
namespace = "default"
name      = "shared"
plugin_id = "portworx"

# The plugin creates the volume: `nomad-csi apply` with the spec.
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
