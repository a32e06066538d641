# Rendered by nomad-csi. Change the spec and render again. Content c3220dbd1b5d5a60
type        = "csi"
id          = "data[1]"
namespace   = "default"
name        = "data[1]"
external_id = "vol-00000000000000002"
plugin_id   = "aws-ebs0"

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
        "topology.ebs.csi.aws.com/zone" = "us-east-1a"
      }
    }
  }
}
