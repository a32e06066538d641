# Rendered by nomad-csi. Change the spec and render again. Content cc6e55e4fd33dab0
# democratic-csi CSI driver v1.9.4: the node plugin of CSI plugin truenas-iscsi.
#
# The clients need:
#   - docker with allow_privileged = true and volumes { enabled = true }
#   - for NFS: the kernel's NFS client; for iSCSI: open-iscsi, its service iscsid running, each client with an initiator name of its own, multipath-tools where there are several portals
job "plugin-truenas-iscsi-nodes" {
  namespace   = "default"
  datacenters = ["*"]
  node_pool   = "default"
  type        = "system"
  priority    = 80

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
        image = "docker.io/democraticcsi/democratic-csi:v1.9.4"
        args = [
          "--csi-version=1.5.0",
          "--csi-name=org.democratic-csi.truenas-iscsi",
          "--driver-config-file=${NOMAD_SECRETS_DIR}/driver-config-file.yaml",
          "--log-level=debug",
          "--csi-mode=node",
          "--server-socket=${CSI_ENDPOINT}",
        ]

        # Mounts of the node plugin must reach the whole client.
        privileged = true

        # Host network: NFS mounts survive the replacement of this container.
        network_mode = "host"
        ipc_mode     = "host"

        # Host paths: state that outlives the container, and directories of the client.
        volumes = [
          "/:/host",
        ]
      }

      # The plugin, by the id that all of its jobs have.
      csi_plugin {
        id             = "truenas-iscsi"
        type           = "node"
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
{{ if not .Data.data.api_key }}{{ nomadVar "nomad/jobs/plugin-truenas-iscsi-nodes/missing/api_key" }}{{ end -}}
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
        CSI_NODE_ID                        = "${attr.unique.hostname}"
        FILESYSTEM_TYPE_DETECTION_STRATEGY = "blkid"
      }

      resources {
        cpu    = 100
        memory = 256
      }
    }
  }
}
