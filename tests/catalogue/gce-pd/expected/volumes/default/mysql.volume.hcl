# Rendered by nomad-csi. Change the spec and render again. Content 75e800f66d1544af
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

# Stands here even when empty: Nomad refuses a file without it while the volume is in use.
mount_options {
  fs_type = "xfs"
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
