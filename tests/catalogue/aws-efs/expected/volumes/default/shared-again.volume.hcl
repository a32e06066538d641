# Rendered by nomad-csi. Change the spec and render again. Content 7d567d0916c814aa
# Other volumes may stand for the same storage (shares_storage).
type        = "csi"
id          = "shared-again"
namespace   = "default"
name        = "shared-again"
external_id = "fs-0123456789abcdef0:/shared/a b:fsap-0123456789abcdef0"
plugin_id   = "aws-efs0"

capability {
  access_mode     = "multi-node-multi-writer"
  attachment_mode = "file-system"
}

# Required by Nomad when a volume in use is registered again.
mount_options {
}
