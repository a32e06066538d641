# Rendered by nomad-csi. Change the spec and render again. Content 0943bb3e63e09c78
# AWS EBS CSI driver v1.64.0: the controller of CSI plugin aws-ebs1.
#
# The clients need:
#   - an instance role with the policy of this plugin, unless credentials say otherwise
job "plugin-aws-ebs1-controller" {
  namespace   = "default"
  datacenters = ["*"]
  node_pool   = "default"
  type        = "service"
  priority    = 80

  group "controller" {
    count = 2

    # One controller per client, so that one survives the loss of a client.
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
        ]
      }

      # Controller and node jobs of one plugin have the same id.
      csi_plugin {
        id             = "aws-ebs1"
        type           = "controller"
        mount_dir      = "/csi"
        health_timeout = "60s"
      }

      env {
        AWS_REGION = "eu-central-1"
      }

      resources {
        cpu    = 100
        memory = 256
      }
    }
  }
}
