# Rendered by nomad-csi. Change the spec and render again. Content bf2fd3d69f5246b0
# democratic-csi CSI driver v1.9.4: the controller of CSI plugin kowlan.
#
# The clients need:
#   - a way to the storage system's API or SSH
job "plugin-kowlan-controller" {
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
          "--csi-name=org.democratic-csi.kowlan",
          "--driver-config-file=${NOMAD_SECRETS_DIR}/driver-config-file.yaml",
          "--log-level=info",
          "--csi-mode=controller",
          "--server-socket=${CSI_ENDPOINT}",
        ]
      }

      # The plugin, by the id that all of its jobs have.
      csi_plugin {
        id             = "kowlan"
        type           = "controller"
        mount_dir      = "/csi"
        health_timeout = "60s"
      }

      # Rendered on the client; this file contains no secret values.
      template {
        destination = "${NOMAD_SECRETS_DIR}/driver-config-file.yaml"
        data        = <<EOT
{{ with nomadVar "nomad/jobs/democratic-csi" -}}
{{ if not .ssh_private_key.Value }}{{ nomadVar "nomad/jobs/plugin-kowlan-controller/missing/ssh_private_key" }}{{ end -}}
driver: zfs-generic-nfs
nfs:
  shareHost: nas.example.net
  shareStrategy: setDatasetProperties
  shareStrategySetDatasetProperties:
    properties:
      sharenfs: "rw=10.0.0.0/16"
sshConnection:
  host: nas.example.net
  port: 22
  privateKey: {{ .ssh_private_key.Value | toJSON }}
  username: democratic
zfs:
  datasetEnableQuotas: true
  datasetParentName: pool2/democratic/root
  datasetPermissionsMode: "0777"
  detachedSnapshotsDatasetParentName: pool2/democratic/snapshots
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
