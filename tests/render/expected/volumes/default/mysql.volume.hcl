# Rendered by nomad-csi. Change the spec and render again. Content ed29c93b846344a6
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
