# Rendered by nomad-csi. Change the spec and render again. Content 5e7cf75037562432
# GCE PD CSI driver v1.26.4: the node plugin of CSI plugin gce-pd0.
#
# The clients need:
#   - docker with allow_privileged = true and volumes { enabled = true }
#   - a client on Compute Engine: the driver ends where it finds no metadata server
job "plugin-gce-pd0-nodes" {
  namespace   = "default"
  datacenters = ["*"]
  node_pool   = "default"
  type        = "system"
  priority    = 80

  constraint {
    attribute = "${attr.platform.gce.zone}"
    operator  = "is_set"
  }

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
        image = "registry.k8s.io/cloud-provider-gcp/gcp-compute-persistent-disk-csi-driver:v1.26.4"
        args = [
          "--endpoint=${CSI_ENDPOINT}",
          "--run-controller-service=false",
          "--v=2",
        ]

        # Mounts of the node plugin must reach the whole client.
        privileged = true

        # Host paths: state that outlives the container, and directories of the client.
        volumes = [
          "/etc/udev:/etc/udev",
          "/lib/udev:/lib/udev",
          "/run/udev:/run/udev",
          "/sys:/sys",
          "/lib/modules:/lib/modules:ro",
        ]
      }

      # The plugin, by the id that all of its jobs have.
      csi_plugin {
        id             = "gce-pd0"
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
