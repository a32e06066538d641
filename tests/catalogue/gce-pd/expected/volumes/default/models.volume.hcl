# Rendered by nomad-csi. Change the spec and render again. Content a805b747b80d6d10
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

# Required by Nomad when a volume in use is registered again.
mount_options {
}

# Nomad places jobs that use the volume only where it can be attached.
topology_request {
  required {
    topology {
      segments = {
        "topology.gke.io/zone" = "us-central1-a"
      }
    }
  }
}
