# Rendered by nomad-csi. Change the spec and render again. Content 623b32e6d1645f77
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

# Stands here even when empty: Nomad refuses a file without it while the volume is in use.
mount_options {
}
