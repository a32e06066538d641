# Rendered by nomad-csi. Change the spec and render again. Content 8e43750fa5b5629e
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

# Required by Nomad when a volume in use is registered again.
mount_options {
}

# Nomad places jobs that use the volume only where it can be attached.
topology_request {
  required {
    topology {
      segments = {
        "topology.hostpath.csi/node" = "client-1"
      }
    }
  }
}
