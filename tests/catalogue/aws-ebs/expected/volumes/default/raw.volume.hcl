# Rendered by nomad-csi. Change the spec and render again. Content 7323f75167843130
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

# Stands here even when empty: Nomad refuses a file without it while the volume is in use.
mount_options {
}

# Jobs that use the volume run only where it can be attached.
topology_request {
  required {
    topology {
      segments = {
        "topology.ebs.csi.aws.com/zone" = "us-east-1a"
      }
    }
  }
}
