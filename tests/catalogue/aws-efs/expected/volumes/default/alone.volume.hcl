# Rendered by nomad-csi. Change the spec and render again. Content 3abdca6c54748c3b
type        = "csi"
id          = "alone"
namespace   = "default"
name        = "alone"
external_id = "fs-0123456789abcdef0::fsap-0fedcba9876543210"
plugin_id   = "aws-efs0"

capability {
  access_mode     = "single-node-writer"
  attachment_mode = "file-system"
}

# Stands here even when empty: Nomad refuses a file without it while the volume is in use.
mount_options {
}
