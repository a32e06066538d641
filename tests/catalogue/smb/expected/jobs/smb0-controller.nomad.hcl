# Rendered by nomad-csi. Change the spec and render again. Content e166567a412c2b38
# SMB CSI driver v1.20.3: the controller of CSI plugin smb0.
#
# The clients need:
#   - docker with allow_privileged = true
#   - the kernel's CIFS client, and a way to the SMB server
job "plugin-smb0-controller" {
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
        image = "registry.k8s.io/sig-storage/smbplugin:v1.20.3"
        args = [
          "--endpoint=${CSI_ENDPOINT}",
          "--nodeid=${attr.unique.hostname}",
          "--v=2",
        ]

        # This controller mounts volumes itself when it provisions them.
        privileged = true
      }

      # The plugin, by the id that all of its jobs have.
      csi_plugin {
        id             = "smb0"
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
