# Rendered by nomad-csi. Change the spec and render again. Content 07a907bd81ab1364
type      = "csi"
id        = "made"
namespace = "default"
name      = "Made by the plugin"
plugin_id = "aws-ebs1"

# The plugin creates the volume: `nomad-csi apply` with the spec.
capacity_min = "20GiB"
capacity_max = "40GiB"

capability {
  access_mode     = "single-node-writer"
  attachment_mode = "file-system"
}

mount_options {
  fs_type = "ext4"
}

# Nomad places jobs that use the volume only where it can be attached.
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
