# Rendered by nomad-csi. Change the spec and render again. Content 982fc950fa21dd5b
type      = "csi"
id        = "made"
namespace = "default"
name      = "Made by the plugin"
plugin_id = "aws-ebs1"

# For `nomad volume create`: the plugin makes the volume.
capacity_min = "20GiB"
capacity_max = "40GiB"

capability {
  access_mode     = "single-node-writer"
  attachment_mode = "file-system"
}

# Stands here even when empty: Nomad refuses a file without it while the volume is in use.
mount_options {
  fs_type = "ext4"
}

# Jobs that use the volume run only where it can be attached.
topology_request {
  required {
    topology {
      segments = {
        "topology.ebs.csi.aws.com/zone" = "eu-central-1b"
      }
    }
  }
}

parameters = {
  encrypted          = "true"
  iops               = "4000"
  tagSpecification_1 = "team=storage"
  throughput         = "200"
  type               = "gp3"
}
