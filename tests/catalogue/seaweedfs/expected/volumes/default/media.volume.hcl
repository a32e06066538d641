# Rendered by nomad-csi. Change the spec and render again. Content 75091cc47cbe13e4
type        = "csi"
id          = "media"
namespace   = "default"
name        = "media"
external_id = "media"
plugin_id   = "seaweedfs0"

capability {
  access_mode     = "single-node-writer"
  attachment_mode = "file-system"
}

# Required by Nomad when a volume in use is registered again.
mount_options {
}

context = {
  collection = "media"
  path       = "/buckets/media"
}
