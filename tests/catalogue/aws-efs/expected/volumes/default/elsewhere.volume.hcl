# Rendered by nomad-csi. Change the spec and render again. Content e6b42cf7e3560c80
type        = "csi"
id          = "elsewhere"
namespace   = "default"
name        = "elsewhere"
external_id = "efs:fs-0123456789abcdef0"
plugin_id   = "aws-efs0"

capability {
  access_mode     = "multi-node-multi-writer"
  attachment_mode = "file-system"
}

# Stands here even when empty: Nomad refuses a file without it while the volume is in use.
mount_options {
}

context = {
  encryptInTransit = "false"
  mounttargetipmap = "{\"us-east-1a\": \"10.0.0.1\"}"
}
