# Rendered by nomad-csi. Change the spec and render again. Content aebfa8a11b98ef49
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
