# Rendered by nomad-csi. Change the spec and render again. Content f4893582eb159c1c
# rocketDuck NFS CSI driver 1.1.0: the node plugin of CSI plugin rocketduck0.
#
# The clients need:
#   - docker with allow_privileged = true
#   - the kernel's NFS client, and a way to the NFS server
job "plugin-rocketduck0-nodes" {
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
        image = "registry.gitlab.com/rocketduck/csi-plugin-nfs:1.1.0"
        args = [
          "--type=node",
          "--endpoint=${CSI_ENDPOINT}",
          "--node-id=${attr.unique.hostname}",
          "--nfs-server=nas.example.net:/export",
          "--mount-options=nfsvers=4.1,noatime",
          "--allow-nested-volumes",
        ]

        # Mounts of the node plugin must reach the whole client.
        privileged = true

        # Host network: NFS mounts survive the replacement of this container.
        network_mode = "host"
      }

      # The plugin, by the id that all of its jobs have.
      csi_plugin {
        id             = "rocketduck0"
        type           = "node"
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
