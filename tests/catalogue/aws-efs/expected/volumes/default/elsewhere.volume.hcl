# Rendered by nomad-csi. Change the spec and render again. Content db932d2f91a32330
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

# Required by Nomad when a volume in use is registered again.
mount_options {
}

context = {
  encryptInTransit = "false"
  mounttargetipmap = "{\"us-east-1a\": \"10.0.0.1\"}"
}
