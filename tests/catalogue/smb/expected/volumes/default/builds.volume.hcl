# Rendered by nomad-csi. Change the spec and render again. Content 0bd2d1c478624655
# Its secrets (password, username) are sent with the registration and stand in no file.
type      = "csi"
id        = "builds"
namespace = "default"
name      = "builds"
plugin_id = "smb0"

# The plugin creates the volume: `nomad-csi apply` with the spec.
capacity_min = "10GiB"

capability {
  access_mode     = "multi-node-multi-writer"
  attachment_mode = "file-system"
}

# Required by Nomad when a volume in use is registered again.
mount_options {
}

parameters = {
  onDelete = "retain"
  source   = "//nas.example.net/share"
  subDir   = "builds"
}
