# Rendered by nomad-csi. Change the spec and render again. Content 56ca785102d75fc4
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

# Stands here even when empty: Nomad refuses a file without it while the volume is in use.
mount_options {
}
