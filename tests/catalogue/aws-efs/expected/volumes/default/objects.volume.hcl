# Rendered by nomad-csi. Change the spec and render again. Content d4dc82e9c1241ea2
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

# Stands here even when empty: Nomad refuses a file without it while the volume is in use.
mount_options {
}

# Jobs that use the volume run only where it can be attached.
topology_request {
  required {
    topology {
      segments = {
        "topology.kubernetes.io/zone" = "us-east-1a"
      }
    }
  }
}
