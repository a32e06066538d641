# Rendered by nomad-csi. Change the spec and render again. Content 9a5ccb71da38cac3
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

# Stands here even when empty: Nomad refuses a file without it while the volume is in use.
mount_options {
  fs_type     = "xfs"
  mount_flags = ["noatime"]
}

# Jobs that use the volume run only where it can be attached.
topology_request {
  required {
    topology {
      segments = {
        "topology.ebs.csi.aws.com/zone" = "us-east-1b"
      }
    }
  }
}
