# Rendered by nomad-csi. Change the spec and render again. Content 4f18d71b1df54973
type      = "csi"
id        = "made"
namespace = "default"
name      = "made"
plugin_id = "gce-pd0"

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
        "topology.gke.io/zone" = "us-central1-b"
      }
    }
  }
}

parameters = {
  labels = "team=storage,stage=test"
  type   = "pd-balanced"
}
