# Rendered by nomad-csi. Change the spec and render again. Content 6993f3c9eed29e2d
# Hetzner Cloud CSI driver v2.22.1: the controller of CSI plugin hetzner0.
#
# The clients need:
#   - a server of Hetzner Cloud, or HCLOUD_VOLUME_DEFAULT_LOCATION: it ends where it finds no location
job "plugin-hetzner0-controller" {
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
        image = "docker.io/hetznercloud/hcloud-csi-driver:v2.22.1"
        args = [
          "--controller",
        ]
      }

      # The plugin, by the id that all of its jobs have.
      csi_plugin {
        id             = "hetzner0"
        type           = "controller"
        mount_dir      = "/csi"
        health_timeout = "60s"
      }

      # Rendered on the client; this file contains no secret values.
      template {
        destination = "${NOMAD_SECRETS_DIR}/credentials.env"
        env         = true
        data        = <<EOT
{{ with nomadVar "nomad/jobs/hetzner0-controller" -}}
{{ if not .hcloud_token.Value }}{{ nomadVar "nomad/jobs/plugin-hetzner0-controller/missing/hcloud_token" }}{{ end -}}
HCLOUD_TOKEN={{ .hcloud_token.Value | toJSON }}
{{- end }}
EOT
      }

      env {
        ENABLE_METRICS = "false"
      }

      resources {
        cpu    = 100
        memory = 256
      }
    }
  }
}
