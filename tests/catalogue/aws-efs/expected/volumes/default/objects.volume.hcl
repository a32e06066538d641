# Rendered by nomad-csi. Change the spec and render again. Content ef2d56115b8851d7
type        = "csi"
id          = "objects"
namespace   = "default"
name        = "objects"
external_id = "s3files:fs-0fedcba9876543210:/logs"
plugin_id   = "aws-efs0"

capability {
  access_mode     = "multi-node-multi-writer"
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
        "topology.kubernetes.io/zone" = "us-east-1a"
      }
    }
  }
}
