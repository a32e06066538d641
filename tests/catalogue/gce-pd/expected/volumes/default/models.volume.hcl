# Rendered by nomad-csi. Change the spec and render again. Content 118957822be135d2
type        = "csi"
id          = "models"
namespace   = "default"
name        = "models"
external_id = "projects/my-project/zones/us-central1-a/disks/models"
plugin_id   = "gce-pd0"

capability {
  access_mode     = "single-node-writer"
  attachment_mode = "file-system"
}

capability {
  access_mode     = "multi-node-reader-only"
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
        "topology.gke.io/zone" = "us-central1-a"
      }
    }
  }
}
