# Rendered by nomad-csi. Change the spec and render again. Content f5c8eb2262aa0479
# SMB CSI driver v1.20.3: the node plugin of CSI plugin smb0.
#
# The clients need:
#   - docker with allow_privileged = true
#   - the kernel's CIFS client, and a way to the SMB server
job "plugin-smb0-nodes" {
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
        image = "registry.k8s.io/sig-storage/smbplugin:v1.20.3"
        args = [
          "--endpoint=${CSI_ENDPOINT}",
          "--nodeid=${attr.unique.hostname}",
          "--v=2",
        ]

        # Mounts of the node plugin must reach the whole client.
        privileged = true

        # Host network: NFS mounts survive the replacement of this container.
        network_mode = "host"
      }

      # The plugin, by the id that all of its jobs have.
      csi_plugin {
        id             = "smb0"
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
