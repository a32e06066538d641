# Rendered by nomad-csi. Change the spec and render again. Content 32f5ac0efa48c652
# Ceph RBD CSI driver v3.17.1: the controller of CSI plugin ceph-rbd.
#
# The clients need:
#   - docker with volumes { enabled = true }
job "plugin-ceph-rbd-controller" {
  namespace   = "default"
  datacenters = ["*"]
  node_pool   = "default"
  type        = "service"
  priority    = 80

  group "controller" {
    count = 2

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
        image = "quay.io/cephcsi/cephcsi:v3.17.1"
        args = [
          "--type=rbd",
          "--drivername=rbd.csi.ceph.com",
          "--endpoint=${CSI_ENDPOINT}",
          "--nodeid=${node.unique.name}",
          "--instanceid=ceph-rbd",
          "--pidlimit=-1",
          "--v=5",
          "--controllerserver=true",
        ]

        # State that must outlive the container, or what is the client's own.
        volumes = [
          "secrets/config.json:/etc/ceph-csi-config/config.json:ro",
        ]
      }

      # Controller and node jobs of one plugin have the same id.
      csi_plugin {
        id             = "ceph-rbd"
        type           = "controller"
        mount_dir      = "/csi"
        health_timeout = "60s"
      }

      # Filled in on the client; nothing secret stands in this file.
      template {
        destination = "${NOMAD_SECRETS_DIR}/config.json"
        data        = <<EOT
{{ with nomadVar "nomad/jobs" -}}
{{ if not .clusters_json.Value }}{{ nomadVar "nomad/jobs/plugin-ceph-rbd-controller/missing/clusters_json" }}{{ end -}}
{{ .clusters_json.Value }}
{{- end -}}
EOT
      }

      resources {
        cpu    = 100
        memory = 256
      }
    }
  }
}
