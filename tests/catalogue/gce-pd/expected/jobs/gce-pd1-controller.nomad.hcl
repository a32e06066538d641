# Rendered by nomad-csi. Change the spec and render again. Content a565c120c02c4241
# GCE PD CSI driver v1.26.4: the controller of CSI plugin gce-pd1.
#
# The clients need:
#   - a client on Compute Engine: project and zone come from the metadata server
job "plugin-gce-pd1-controller" {
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
        image = "registry.k8s.io/cloud-provider-gcp/gcp-compute-persistent-disk-csi-driver:v1.26.4"
        args = [
          "--endpoint=${CSI_ENDPOINT}",
          "--run-node-service=false",
          "--v=2",
        ]
      }

      # The plugin, by the id that all of its jobs have.
      csi_plugin {
        id             = "gce-pd1"
        type           = "controller"
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
