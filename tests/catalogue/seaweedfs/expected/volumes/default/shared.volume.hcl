# Rendered by nomad-csi. Change the spec and render again. Content 6ec7f176968bdc49
type      = "csi"
id        = "shared"
namespace = "default"
name      = "shared"
plugin_id = "seaweedfs0"

# The plugin creates the volume: `nomad-csi apply` with the spec.
capacity_min = "256GiB"

capability {
  access_mode     = "multi-node-multi-writer"
  attachment_mode = "file-system"
}

# Required by Nomad when a volume in use is registered again.
mount_options {
}

parameters = {
  replication = "001"
}
