# Rendered by nomad-csi. Change the spec and render again. Content 4eebce2262362c28
type        = "csi"
id          = "mysql"
namespace   = "default"
name        = "mysql"
external_id = "projects/my-project/zones/us-central1-a/disks/mysql"
plugin_id   = "gce-pd0"

capability {
  access_mode     = "single-node-writer"
  attachment_mode = "file-system"
}

mount_options {
  fs_type = "xfs"
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
