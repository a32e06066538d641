# Rendered by nomad-csi. Change the spec and render again. Content c47eb7ac22380be6
# Ceph RBD CSI driver v3.12.2: the node plugin of CSI plugin ceph-rbd0.
#
# The clients need:
#   - docker with allow_privileged = true and volumes { enabled = true }
#   - the kernel module rbd, and a way to the monitors and to the OSDs of the cluster
job "plugin-ceph-rbd0-nodes" {
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
        image = "quay.io/cephcsi/cephcsi:v3.12.2"
        args = [
          "--type=rbd",
          "--nodeserver=true",
          "--endpoint=${CSI_ENDPOINT}",
          "--nodeid=${node.unique.name}",
          "--instanceid=ceph-rbd0",
          "--pidlimit=-1",
          "--v=2",
        ]

        # Mounts of the node plugin must reach the whole client.
        privileged = true

        # Host network: NFS mounts survive the replacement of this container.
        network_mode = "host"

        # Host paths: state that outlives the container, and directories of the client.
        volumes = [
          "secrets/config.json:/etc/ceph-csi-config/config.json:ro",
          "secrets:/tmp/csi/keys",
          "/dev:/dev",
          "/sys:/sys",
          "/run/mount:/run/mount",
          "/lib/modules:/lib/modules:ro",
        ]
      }

      # The plugin, by the id that all of its jobs have.
      csi_plugin {
        id             = "ceph-rbd0"
        type           = "node"
        mount_dir      = "/csi"
        health_timeout = "60s"
      }

      # Rendered on the client; this file contains no secret values.
      template {
        destination = "${NOMAD_SECRETS_DIR}/config.json"
        data        = <<EOT
{{ with nomadVar "nomad/jobs" -}}
{{ if not .clusters_json.Value }}{{ nomadVar "nomad/jobs/plugin-ceph-rbd0-nodes/missing/clusters_json" }}{{ end -}}
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
