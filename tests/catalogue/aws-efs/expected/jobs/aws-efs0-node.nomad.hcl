# Rendered by nomad-csi. Change the spec and render again. Content b72537887c3d9098
# AWS EFS CSI driver v3.4.1: the node plugin of CSI plugin aws-efs0.
#
# The clients need:
#   - docker with allow_privileged = true and volumes { enabled = true }
#   - no amazon-efs-utils of its own on the client: both would manage the same state
job "plugin-aws-efs0-nodes" {
  namespace   = "default"
  datacenters = ["*"]
  node_pool   = "default"
  type        = "system"
  priority    = 80

  group "nodes" {
    # Without volumes nothing runs: keep trying, however often it fails.
    restart {
      attempts = 3
      interval = "5m"
      delay    = "15s"
      mode     = "delay"
    }

    network {
      port "metrics" {
        static = 3302
      }
    }

    task "plugin" {
      driver = "docker"

      config {
        image = "public.ecr.aws/efs-csi-driver/amazon/aws-efs-csi-driver:v3.4.1"
        args = [
          "--endpoint=${CSI_ENDPOINT}",
          "--v=2",
          "--tags=stage:test team:storage",
          "--http-endpoint=:3302",
          "--vol-metrics-opt-in=true",
        ]

        # A node plugin mounts for the whole client.
        privileged = true

        # Mounts go through this container's network; with a network of its own they would hang when it is replaced.
        network_mode = "host"

        # State that must outlive the container, or what is the client's own.
        volumes = [
          "/var/amazon/efs:/var/amazon/efs",
          "/var/run/efs:/var/run/efs",
        ]
      }

      # Controller and node jobs of one plugin have the same id.
      csi_plugin {
        id             = "aws-efs0"
        type           = "node"
        mount_dir      = "/csi"
        health_timeout = "30s"
      }

      env {
        AWS_REGION = "us-east-1"
      }

      resources {
        cpu        = 100
        memory     = 512
        memory_max = 1024
      }
    }
  }
}
