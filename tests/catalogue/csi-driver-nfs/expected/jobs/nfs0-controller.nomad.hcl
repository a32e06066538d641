# Rendered by nomad-csi. Change the spec and render again. Content 6d55600c87866538
# NFS CSI driver v4.13.4: the controller of CSI plugin nfs0.
#
# The clients need:
#   - docker with allow_privileged = true
#   - the kernel's NFS client, and a way to the NFS server
job "plugin-nfs0-controller" {
  namespace   = "default"
  datacenters = ["*"]
  node_pool   = "default"
  type        = "service"
  priority    = 80

  group "controller" {
    count = 1

    # At most one controller per client.
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
        image = "registry.k8s.io/sig-storage/nfsplugin:v4.13.4"
        args = [
          "--endpoint=${CSI_ENDPOINT}",
          "--nodeid=${attr.unique.hostname}",
          "--v=2",
          "--default-ondelete-policy=retain",
        ]

        # This controller mounts volumes itself when it provisions them.
        privileged = true

        # Host network: NFS mounts survive the replacement of this container.
        network_mode = "host"
      }

      # The plugin, by the id that all of its jobs have.
      csi_plugin {
        id             = "nfs0"
        type           = "controller"
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
