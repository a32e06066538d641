# Rendered by nomad-csi. Change the spec and render again. Content 0d21613dfecf6a72
type        = "csi"
id          = "mysql"
namespace   = "storage"
name        = "mysql"
external_id = "vol-0123456789abcdef0"
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
        "topology.ebs.csi.aws.com/zone" = "us-east-1a"
      }
    }
  }
}

context = {
  partition = "1"
}
