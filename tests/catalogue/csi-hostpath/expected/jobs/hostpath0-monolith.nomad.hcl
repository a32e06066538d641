# Rendered by nomad-csi. Change the spec and render again. Content 72b7a458f37c6916
# hostpath CSI driver v1.18.0: the controller and node plugin, in one task, of CSI plugin hostpath0.
#
# The clients need:
#   - docker with allow_privileged = true and volumes { enabled = true }
#   - one client alone, because the volumes are its folders: add a constraint where there are more
job "plugin-hostpath0-monolith" {
  namespace   = "default"
  datacenters = ["*"]
  node_pool   = "default"
  type        = "system"
  priority    = 80

  constraint {
    attribute = "${node.unique.name}"
    value     = "client-1"
  }

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
        image = "registry.k8s.io/sig-storage/hostpathplugin:v1.18.0"
        args = [
          "--endpoint=${CSI_ENDPOINT}",
          "--nodeid=${node.unique.name}",
          "--statedir=/srv/csi-hostpath",
          "--v=2",
        ]

        # Mounts of the node plugin must reach the whole client.
        privileged = true

        # Host paths: state that outlives the container, and directories of the client.
        volumes = [
          "/srv/csi-hostpath:/srv/csi-hostpath",
        ]
      }

      # The plugin, by the id that all of its jobs have.
      csi_plugin {
        id             = "hostpath0"
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
