# Rendered by nomad-csi. Change the spec and render again. Content 9ab90e12af2a66c7
type        = "csi"
id          = "raw"
namespace   = "default"
name        = "raw"
external_id = "vol-0fedcba9876543210"
plugin_id   = "aws-ebs0"

capability {
  access_mode     = "single-node-writer"
  attachment_mode = "block-device"
}

capability {
  access_mode     = "multi-node-multi-writer"
  attachment_mode = "block-device"
}

# Required by Nomad when a volume in use is registered again.
mount_options {
}

# Nomad places jobs that use the volume only where it can be attached.
topology_request {
  required {
    topology {
      segments = {
        "topology.ebs.csi.aws.com/zone" = "us-east-1a"
      }
    }
  }
}
