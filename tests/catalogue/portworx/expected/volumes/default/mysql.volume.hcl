# Rendered by nomad-csi. Change the spec and render again. Content c804c9cc0e8aa58c
# Its secrets (auth-token) are sent with the registration and stand in no file.
type      = "csi"
id        = "mysql"
namespace = "default"
name      = "mysql"
plugin_id = "portworx"

# For `nomad volume create`: the plugin creates the volume.
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
