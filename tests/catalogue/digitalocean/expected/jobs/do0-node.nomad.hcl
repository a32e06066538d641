# Rendered by nomad-csi. Change the spec and render again. Content 9df32a347b418a1f
# DigitalOcean CSI driver v4.16.0: the node plugin of CSI plugin do0.
#
# The clients need:
#   - docker with allow_privileged = true
#   - a droplet: the driver queries the metadata service for the droplet's id, and ends where it finds none
job "plugin-do0-nodes" {
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
        image = "docker.io/digitalocean/do-csi-plugin:v4.16.0"
        args = [
          "--endpoint=${CSI_ENDPOINT}",
          "--volume-limit=10",
        ]

        # Mounts of the node plugin must reach the whole client.
        privileged = true
      }

      # The plugin, by the id that all of its jobs have.
      csi_plugin {
        id             = "do0"
        type           = "node"
        mount_dir      = "/csi"
        health_timeout = "60s"
      }

      resources {
        cpu    = 100
        memory = 256
      }
    }
  }
}
