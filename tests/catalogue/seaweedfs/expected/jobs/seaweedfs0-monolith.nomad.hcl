# Rendered by nomad-csi. Change the spec and render again. Content f050c317f41df8b0
# SeaweedFS CSI driver v1.3.5: the controller and node plugin, in one task, of CSI plugin seaweedfs0.
#
# The clients need:
#   - docker with allow_privileged = true
#   - FUSE in the kernel, and a way to the filer and to the volume servers
job "plugin-seaweedfs0-monolith" {
  namespace   = "default"
  datacenters = ["*"]
  node_pool   = "default"
  type        = "system"
  priority    = 80

  group "monolith" {
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
        image = "docker.io/chrislusf/seaweedfs-csi-driver:v1.3.5"
        args = [
          "--endpoint=${CSI_ENDPOINT}",
          "--filer=filer-1.example.net:8888,filer-2.example.net:8888",
          "--nodeid=${node.unique.name}",
          "--cacheDir=/tmp/seaweedfs",
          "--cacheCapacityMB=256",
        ]

        # Mounts of the node plugin must reach the whole client.
        privileged = true

        # Host network: NFS mounts survive the replacement of this container.
        network_mode = "host"
      }

      # The plugin, by the id that all of its jobs have.
      csi_plugin {
        id             = "seaweedfs0"
        type           = "monolith"
        mount_dir      = "/csi"
        health_timeout = "30s"
      }

      resources {
        cpu    = 100
        memory = 256
      }
    }
  }
}
