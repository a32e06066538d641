# Rendered by nomad-csi. Change the spec and render again. Content 0ff3ea4cf4e1d5af
# democratic-csi CSI driver v1.9.4: the node plugin of CSI plugin kowlan.
#
# The clients need:
#   - docker with allow_privileged = true and volumes { enabled = true }
#   - for NFS: the kernel's NFS client; for iSCSI: open-iscsi, its service iscsid running, each client with an initiator name of its own, multipath-tools where there are several portals
job "plugin-kowlan-nodes" {
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
          "--csi-name=org.democratic-csi.kowlan",
          "--driver-config-file=${NOMAD_SECRETS_DIR}/driver-config-file.yaml",
          "--log-level=info",
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
        id             = "kowlan"
        type           = "node"
        mount_dir      = "/csi"
        health_timeout = "60s"
      }

      # Rendered on the client; this file contains no secret values.
      template {
        destination = "${NOMAD_SECRETS_DIR}/driver-config-file.yaml"
        data        = <<EOT
{{ with nomadVar "nomad/jobs/democratic-csi" -}}
{{ if not .ssh_private_key.Value }}{{ nomadVar "nomad/jobs/plugin-kowlan-nodes/missing/ssh_private_key" }}{{ end -}}
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
