# Rendered by nomad-csi. Change the spec and render again. Content ed19230a94faa2c1
# Ceph RBD CSI driver v3.17.1: the node plugin of CSI plugin own-rbd.
#
# The clients need:
#   - docker with allow_privileged = true and volumes { enabled = true }
#   - the kernel module rbd
job "plugin-own-rbd-nodes" {
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
        image = "registry.example.net/storage/ceph-csi:v3.17.1"
        args = [
          "--type=rbd",
          "--drivername=rbd.csi.ceph.com",
          "--endpoint=${CSI_ENDPOINT}",
          "--nodeid=${node.unique.name}",
          "--instanceid=own-rbd",
          "--pidlimit=-1",
          "--v=5",
          "--nodeserver=true",
        ]

        # Mounts of the node plugin must reach the whole client.
        privileged = true

        # Host network: NFS mounts survive the replacement of this container.
        network_mode = "host"

        # Host paths: state that outlives the container, and directories of the client.
        volumes = [
          "secrets/config.json:/etc/ceph-csi-config/config.json:ro",
          "/sys:/sys",
          "/run/mount:/run/mount",
          "/lib/modules:/lib/modules:ro",
        ]
      }

      # The plugin, by the id that all of its jobs have.
      csi_plugin {
        id             = "own-rbd"
        type           = "node"
        mount_dir      = "/csi"
        health_timeout = "60s"
      }

      # Rendered on the client; this file contains no secret values.
      template {
        destination = "${NOMAD_SECRETS_DIR}/config.json"
        data        = <<EOT
{{ with nomadVar "nomad/jobs" -}}
{{ if not .clusters_json.Value }}{{ nomadVar "nomad/jobs/plugin-own-rbd-nodes/missing/clusters_json" }}{{ end -}}
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
