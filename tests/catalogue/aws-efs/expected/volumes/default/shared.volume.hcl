# Rendered by nomad-csi. Change the spec and render again. Content bf4efc3a60933c95
type        = "csi"
id          = "shared"
namespace   = "default"
name        = "shared"
external_id = "fs-0123456789abcdef0:/shared/a b:fsap-0123456789abcdef0"
plugin_id   = "aws-efs0"

capability {
  access_mode     = "multi-node-multi-writer"
  attachment_mode = "file-system"
}

# Stands here even when empty: Nomad refuses a file without it while the volume is in use.
mount_options {
  mount_flags = ["iam", "noresvport"]
}
