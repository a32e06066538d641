# Rendered by nomad-csi. Change the spec and render again. Content 19999d9918035de2
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
        image = "public.ecr.aws/efs-csi-driver/amazon/aws-efs-csi-driver:v3.4.1"
        args = [
          "--endpoint=${CSI_ENDPOINT}",
          "--v=2",
        ]

        # Mounts of the node plugin must reach the whole client.
        privileged = true

        # Host network: NFS mounts survive the replacement of this container.
        network_mode = "host"

        # Host paths: state that outlives the container, and directories of the client.
        volumes = [
          "/var/amazon/efs:/var/amazon/efs",
          "/var/run/efs:/var/run/efs",
        ]
      }

      # The plugin, by the id that all of its jobs have.
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
        cpu    = 100
        memory = 256
      }
    }
  }
}
