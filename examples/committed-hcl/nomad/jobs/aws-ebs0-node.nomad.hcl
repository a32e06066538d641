# Rendered by nomad-csi. Change the spec and render again. Content a3d661a3a231e140
# AWS EBS CSI driver v1.64.0: the node plugin of CSI plugin aws-ebs0.
#
# The clients need:
#   - docker with allow_privileged = true
#   - an instance metadata hop limit of at least 2, because the container is one hop away
job "plugin-aws-ebs0-nodes" {
  namespace   = "default"
  datacenters = ["*"]
  node_pool   = "default"
  type        = "system"
  priority    = 80

  group "nodes" {
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
          "node",
          "--endpoint=${CSI_ENDPOINT}",
          "--logging-format=text",
          "--v=2",
          "--metadata-sources=imds",
        ]

        # Mounts of the node plugin must reach the whole client.
        privileged = true
      }

      # The plugin, by the id that all of its jobs have.
      csi_plugin {
        id             = "aws-ebs0"
        type           = "node"
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
