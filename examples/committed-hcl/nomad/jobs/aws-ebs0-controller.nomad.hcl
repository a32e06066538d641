# Rendered by nomad-csi. Change the spec and render again. Content d0db972927a27c35
# AWS EBS CSI driver v1.64.0: the controller of CSI plugin aws-ebs0.
#
# The clients need:
#   - an instance role with the policy of this plugin, unless credentials say otherwise
job "plugin-aws-ebs0-controller" {
  namespace   = "default"
  datacenters = ["*"]
  node_pool   = "default"
  type        = "service"
  priority    = 80

  group "controller" {
    count = 2

    # At most one controller per client, so that another survives the loss of a client.
    constraint {
      operator = "distinct_hosts"
      value    = "true"
    }

    # Keep restarting: workloads depend on this plugin.
    restart {
      attempts = 3
      interval = "5m"
      delay    = "15s"
      mode     = "delay"
    }

    task "plugin" {
      driver = "docker"

      config {
        image = "public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver:v1.64.0"
        args = [
          "controller",
          "--endpoint=${CSI_ENDPOINT}",
          "--logging-format=text",
          "--v=2",
          "--extra-tags=team=storage",
        ]
      }

      # The plugin, by the id that all of its jobs have.
      csi_plugin {
        id             = "aws-ebs0"
        type           = "controller"
        mount_dir      = "/csi"
        health_timeout = "60s"
      }

      env {
        AWS_REGION = "us-east-1"
      }

      resources {
        cpu    = 100
        memory = 256
      }
    }
  }
}
