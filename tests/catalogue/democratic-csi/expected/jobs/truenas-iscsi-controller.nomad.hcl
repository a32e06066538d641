# Rendered by nomad-csi. Change the spec and render again. Content 6d4bbaf8e94a4178
# democratic-csi CSI driver v1.9.4: the controller of CSI plugin truenas-iscsi.
#
# The clients need:
#   - a way to the storage system's API or SSH
job "plugin-truenas-iscsi-controller" {
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
        image = "docker.io/democraticcsi/democratic-csi:v1.9.4"
        args = [
          "--csi-version=1.5.0",
          "--csi-name=org.democratic-csi.truenas-iscsi",
          "--driver-config-file=${NOMAD_SECRETS_DIR}/driver-config-file.yaml",
          "--log-level=debug",
          "--csi-mode=controller",
          "--server-socket=${CSI_ENDPOINT}",
        ]
      }

      # Controller and node jobs of one plugin have the same id.
      csi_plugin {
        id             = "truenas-iscsi"
        type           = "controller"
        mount_dir      = "/csi"
        health_timeout = "60s"
      }

      # For the templates; the plugin itself gets no token of Vault.
      vault {
        role         = "csi"
        env          = false
        disable_file = true
      }

      # Filled in on the client; nothing secret stands in this file.
      template {
        destination = "${NOMAD_SECRETS_DIR}/driver-config-file.yaml"
        data        = <<EOT
{{ with secret "secret/data/democratic-csi" -}}
{{ if not .Data.data.api_key }}{{ nomadVar "nomad/jobs/plugin-truenas-iscsi-controller/missing/api_key" }}{{ end -}}
driver: freenas-api-iscsi
httpConnection:
  apiKey: {{ .Data.data.api_key | toJSON }}
  host: truenas.example.net
  port: 443
  protocol: https
iscsi:
  targetGroups:
  - targetGroupAuthType: CHAP
    targetGroupInitiatorGroup: 1
    targetGroupPortalGroup: 1
  targetPortal: "truenas.example.net:3260"
zfs:
  datasetParentName: tank/iscsi/volumes
  detachedSnapshotsDatasetParentName: tank/iscsi/snapshots
{{- end }}
EOT
      }

      env {
        CSI_NODE_ID = "${attr.unique.hostname}"
      }

      resources {
        cpu    = 100
        memory = 256
      }
    }
  }
}
