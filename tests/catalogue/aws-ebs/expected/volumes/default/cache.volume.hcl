# Rendered by nomad-csi. Change the spec and render again. Content bda0839c6d0ab669
type        = "csi"
id          = "cache"
namespace   = "default"
name        = "cache"
external_id = "local-ebs://dev/xvdbz"
plugin_id   = "aws-ebs0"

capability {
  access_mode     = "multi-node-multi-writer"
  attachment_mode = "file-system"
}

# Required by Nomad when a volume in use is registered again.
mount_options {
}
