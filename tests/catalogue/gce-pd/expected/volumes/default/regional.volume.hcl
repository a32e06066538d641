# Rendered by nomad-csi. Change the spec and render again. Content 4cc09d6068757a0f
type        = "csi"
id          = "regional"
namespace   = "default"
name        = "regional"
external_id = "projects/my-project/regions/us-central1/disks/regional"
plugin_id   = "gce-pd1"

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
        "topology.gke.io/zone" = "us-central1-a"
      }
    }
    topology {
      segments = {
        "topology.gke.io/zone" = "us-central1-b"
      }
    }
  }
}

context = {
  force-attach = "true"
}
