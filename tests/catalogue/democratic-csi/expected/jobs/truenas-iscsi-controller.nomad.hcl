# Rendered by nomad-csi. Change the spec and render again. Content cdd560d717716d6f
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

      # The plugin, by the id that all of its jobs have.
      csi_plugin {
        id             = "truenas-iscsi"
        type           = "controller"
        mount_dir      = "/csi"
        health_timeout = "60s"
      }

      # For the templates only: the plugin gets no Vault token.
      vault {
        role         = "csi"
        env          = false
        disable_file = true
      }

      # Rendered on the client; this file contains no secret values.
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
