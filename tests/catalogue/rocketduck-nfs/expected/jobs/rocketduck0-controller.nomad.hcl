# Rendered by nomad-csi. Change the spec and render again. Content 82edf11795458e59
# rocketDuck NFS CSI driver 1.1.0: the controller of CSI plugin rocketduck0.
#
# The clients need:
#   - docker with allow_privileged = true
#   - the kernel's NFS client, and a way to the NFS server
job "plugin-rocketduck0-controller" {
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
        image = "registry.gitlab.com/rocketduck/csi-plugin-nfs:1.1.0"
        args = [
          "--type=controller",
          "--endpoint=${CSI_ENDPOINT}",
          "--node-id=${attr.unique.hostname}",
          "--nfs-server=nas.example.net:/export",
          "--mount-options=nfsvers=4.1,noatime",
          "--allow-nested-volumes",
        ]

        # This controller mounts volumes itself when it provisions them.
        privileged = true

        # Host network: NFS mounts survive the replacement of this container.
        network_mode = "host"
      }

      # The plugin, by the id that all of its jobs have.
      csi_plugin {
        id             = "rocketduck0"
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
