# Rendered by nomad-csi. Change the spec and render again. Content a36c98ecdec63db0
type      = "csi"
id        = "made"
namespace = "default"
name      = "made"
plugin_id = "gce-pd0"

# For `nomad volume create`: the plugin makes the volume.
capacity_min = "10GiB"

capability {
  access_mode     = "single-node-writer"
  attachment_mode = "file-system"
}

# Stands here even when empty: Nomad refuses a file without it while the volume is in use.
mount_options {
}

# Jobs that use the volume run only where it can be attached.
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
