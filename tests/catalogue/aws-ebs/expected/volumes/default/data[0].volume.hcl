# Rendered by nomad-csi. Change the spec and render again. Content 6ce4676dc7d0423b
type        = "csi"
id          = "data[0]"
namespace   = "default"
name        = "data[0]"
external_id = "vol-00000000000000001"
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
