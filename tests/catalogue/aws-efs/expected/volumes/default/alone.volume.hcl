# Rendered by nomad-csi. Change the spec and render again. Content a0ca400ac588def3
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

# Required by Nomad when a volume in use is registered again.
mount_options {
}
