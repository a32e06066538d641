# Rendered by nomad-csi. Change the spec and render again. Content 5503f4a3faa66447
type        = "csi"
id          = "shared"
namespace   = "default"
name        = "shared"
external_id = "fs-0123456789abcdef0::fsap-0123456789abcdef0"
plugin_id   = "aws-efs0"

capability {
  access_mode     = "multi-node-multi-writer"
  attachment_mode = "file-system"
}

# Required by Nomad when a volume in use is registered again.
mount_options {
}
