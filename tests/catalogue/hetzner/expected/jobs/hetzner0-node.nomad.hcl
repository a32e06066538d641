# Rendered by nomad-csi. Change the spec and render again. Content c3bbe3f8f93dda46
# Hetzner Cloud CSI driver v2.22.1: the node plugin of CSI plugin hetzner0.
#
# The clients need:
#   - docker with allow_privileged = true
#   - a server of Hetzner Cloud: it reads its id and location from the metadata service, and ends where there is none
job "plugin-hetzner0-nodes" {
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
        image = "docker.io/hetznercloud/hcloud-csi-driver:v2.22.1"
        args = [
          "--node",
        ]

        # Mounts of the node plugin must reach the whole client.
        privileged = true
      }

      # The plugin, by the id that all of its jobs have.
      csi_plugin {
        id             = "hetzner0"
        type           = "node"
        mount_dir      = "/csi"
        health_timeout = "60s"
      }

      env {
        ENABLE_METRICS = "false"
      }

      resources {
        cpu    = 100
        memory = 256
      }
    }
  }
}
