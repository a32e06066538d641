# Rendered by nomad-csi. Change the spec and render again. Content e9b9c85090378ea1
type      = "csi"
id        = "builds"
namespace = "default"
name      = "builds"
plugin_id = "rocketduck0"

# The plugin creates the volume: `nomad-csi apply` with the spec.
capacity_min = "1GiB"

capability {
  access_mode     = "multi-node-multi-writer"
  attachment_mode = "file-system"
}

# Required by Nomad when a volume in use is registered again.
mount_options {
}

parameters = {
  gid  = "1000"
  mode = "770"
  uid  = "1000"
}
