type        = "csi"
id          = "shared"
external_id = "fs-0123456789abcdef0"
plugin_id   = "aws-efs0"
capability {
  access_mode     = "multi-node-multi-writer"
  attachment_mode = "file-system"
}
context = {
  encryptInTransit = "true"
}
