# Rendered by nomad-csi. Change the spec and render again. Content 188ddf042227e527
type        = "csi"
id          = "kafka[2]"
namespace   = "default"
name        = "kafka[2]"
external_id = "vol-0aa1c0ffee0000003"
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
        "topology.ebs.csi.aws.com/zone" = "us-east-1c"
      }
    }
  }
}
