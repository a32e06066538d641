# Rendered by nomad-csi. Change the spec and render again. Content 643c32355a0d50b6
type        = "csi"
id          = "old"
namespace   = "default"
name        = "old"
external_id = "0e7f2c4a-c6c5-11f0-9d5c-0242ac110002"
plugin_id   = "hostpath0"

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
        "topology.hostpath.csi/node" = "client-1"
      }
    }
  }
}
