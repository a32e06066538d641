# Rendered by nomad-csi. Change the spec and render again. Content 5654467723bc3092
type      = "csi"
id        = "made"
namespace = "default"
name      = "made"
plugin_id = "hetzner0"

# The plugin creates the volume: `nomad-csi apply` with the spec.
capacity_min = "10GiB"

capability {
  access_mode     = "single-node-writer"
  attachment_mode = "file-system"
}

# Required by Nomad when a volume in use is registered again.
mount_options {
}

# Nomad places jobs that use the volume only where it can be attached.
topology_request {
  required {
    topology {
      segments = {
        "csi.hetzner.cloud/location" = "nbg1"
      }
    }
  }
}

parameters = {
  labels = "team=storage"
}
