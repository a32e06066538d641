# Rendered by nomad-csi. Change the spec and render again. Content 9668a041816988ef
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

mount_options {
  mount_flags = ["iam", "noresvport"]
}
