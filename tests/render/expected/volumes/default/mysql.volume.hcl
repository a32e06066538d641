# Rendered by nomad-csi. Change the spec and render again. Content b9893dc6ae399f11
type        = "csi"
id          = "mysql"
namespace   = "default"
name        = "mysql"
external_id = "vol-0b756b75620d63af5"
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
