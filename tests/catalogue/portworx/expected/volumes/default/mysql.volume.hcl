# Rendered by nomad-csi. Change the spec and render again. Content 0defee5511a9da7b
# Its secrets (auth-token) are sent with the registration and stand in no file.
type      = "csi"
id        = "mysql"
namespace = "default"
name      = "mysql"
plugin_id = "portworx"

# For `nomad volume create`: the plugin makes the volume.
capacity_min = "10GiB"
capacity_max = "10GiB"

capability {
  access_mode     = "single-node-writer"
  attachment_mode = "file-system"
}

# Stands here even when empty: Nomad refuses a file without it while the volume is in use.
mount_options {
}

parameters = {
  io_profile = "db_remote"
  repl       = "3"
}
