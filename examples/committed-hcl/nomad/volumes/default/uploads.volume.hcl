# Rendered by nomad-csi. Change the spec and render again. Content e5daa8deb7af6aaf
type        = "csi"
id          = "uploads"
namespace   = "default"
name        = "uploads"
external_id = "fs-0123456789abcdef0::fsap-0123456789abcdef0"
plugin_id   = "aws-efs0"

capability {
  access_mode     = "multi-node-multi-writer"
  attachment_mode = "file-system"
}

mount_options {
  mount_flags = ["tls", "noresvport"]
}
