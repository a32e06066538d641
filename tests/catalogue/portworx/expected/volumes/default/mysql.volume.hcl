# Rendered by nomad-csi. Change the spec and render again. Content 309fa3f89c5646a4
# Its secrets (auth-token) are sent with the registration and stand in no file.
type      = "csi"
id        = "mysql"
namespace = "default"
name      = "mysql"
plugin_id = "portworx"

# The plugin creates the volume: `nomad-csi apply` with the spec.
capacity_min = "10GiB"
capacity_max = "10GiB"

capability {
  access_mode     = "single-node-writer"
  attachment_mode = "file-system"
}

# Required by Nomad when a volume in use is registered again.
mount_options {
}

parameters = {
  io_profile = "db_remote"
  repl       = "3"
}
