# Rendered by nomad-csi. Change the spec and render again. Content 60e588db18258736
# Ceph RBD CSI driver v3.17.1: the controller of CSI plugin own-rbd.
#
# The clients need:
#   - docker with volumes { enabled = true }
job "plugin-own-rbd-controller" {
  namespace   = "default"
  datacenters = ["*"]
  node_pool   = "default"
  type        = "service"
  priority    = 80

  group "controller" {
    count = 2

    # At most one controller per client, so that another survives the loss of a client.
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
        image = "registry.example.net/storage/ceph-csi:v3.17.1"
        args = [
          "--type=rbd",
          "--drivername=rbd.csi.ceph.com",
          "--endpoint=${CSI_ENDPOINT}",
          "--nodeid=${node.unique.name}",
          "--instanceid=own-rbd",
          "--pidlimit=-1",
          "--v=5",
          "--controllerserver=true",
        ]

        # Host paths: state that outlives the container, and directories of the client.
        volumes = [
          "secrets/config.json:/etc/ceph-csi-config/config.json:ro",
        ]
      }

      # The plugin, by the id that all of its jobs have.
      csi_plugin {
        id             = "own-rbd"
        type           = "controller"
        mount_dir      = "/csi"
        health_timeout = "60s"
      }

      # Rendered on the client; this file contains no secret values.
      template {
        destination = "${NOMAD_SECRETS_DIR}/config.json"
        data        = <<EOT
{{ with nomadVar "nomad/jobs" -}}
{{ if not .clusters_json.Value }}{{ nomadVar "nomad/jobs/plugin-own-rbd-controller/missing/clusters_json" }}{{ end -}}
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
