# Rendered by nomad-csi. Change the spec and render again. Content b1988294db85169d
type        = "csi"
id          = "kafka[1]"
namespace   = "default"
name        = "kafka[1]"
external_id = "vol-0aa1c0ffee0000002"
plugin_id   = "aws-ebs0"

capability {
  access_mode     = "single-node-writer"
  attachment_mode = "file-system"
}

mount_options {
  fs_type     = "xfs"
  mount_flags = ["noatime"]
}

# Nomad places jobs that use the volume only where it can be attached.
topology_request {
  required {
    topology {
      segments = {
        "topology.ebs.csi.aws.com/zone" = "us-east-1b"
      }
    }
  }
}
