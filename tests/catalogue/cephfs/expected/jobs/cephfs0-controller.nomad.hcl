# Rendered by nomad-csi. Change the spec and render again. Content c7862550fada345d
# CephFS CSI driver v3.12.2: the controller of CSI plugin cephfs0.
#
# The clients need:
#   - docker with volumes { enabled = true }
#   - a way to the monitors, managers and OSDs of the cluster
job "plugin-cephfs0-controller" {
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
        image = "quay.io/cephcsi/cephcsi:v3.12.2"
        args = [
          "--type=cephfs",
          "--controllerserver=true",
          "--endpoint=${CSI_ENDPOINT}",
          "--nodeid=${node.unique.name}",
          "--instanceid=cephfs0",
          "--v=2",
        ]

        # Host paths: state that outlives the container, and directories of the client.
        volumes = [
          "secrets/config.json:/etc/ceph-csi-config/config.json:ro",
          "secrets:/tmp/csi/keys",
        ]
      }

      # The plugin, by the id that all of its jobs have.
      csi_plugin {
        id             = "cephfs0"
        type           = "controller"
        mount_dir      = "/csi"
        health_timeout = "60s"
      }

      # Rendered on the client; this file contains no secret values.
      template {
        destination = "${NOMAD_SECRETS_DIR}/config.json"
        data        = <<EOT
{{ with nomadVar "nomad/jobs" -}}
{{ if not .clusters_json.Value }}{{ nomadVar "nomad/jobs/plugin-cephfs0-controller/missing/clusters_json" }}{{ end -}}
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
