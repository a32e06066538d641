# Rendered by nomad-csi. Change the spec and render again. Content 4ba896d2fc8b3f0b
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

    # Each instance on a client of its own, so that one remains when a client goes.
    constraint {
      operator = "distinct_hosts"
      value    = "true"
    }

    # Without volumes nothing runs: keep trying, however often it fails.
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

      # Controller and node jobs of one plugin have the same id.
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
