# Rendered by nomad-csi. Change the spec and render again. Content f79b92937b4ca874
# DigitalOcean CSI driver v4.16.0: the controller of CSI plugin do0.
#
# The clients need:
#   - a droplet: the driver queries the metadata service for the droplet's id, and ends where it finds none
job "plugin-do0-controller" {
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
        image = "docker.io/digitalocean/do-csi-plugin:v4.16.0"
        args = [
          "--endpoint=${CSI_ENDPOINT}",
          "--token=${DIGITALOCEAN_ACCESS_TOKEN}",
          "--url=https://api.digitalocean.com/",
          "--do-tag=nomad",
          "--do-api-rate-limit=5",
        ]
      }

      # The plugin, by the id that all of its jobs have.
      csi_plugin {
        id             = "do0"
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
        destination = "${NOMAD_SECRETS_DIR}/credentials.env"
        env         = true
        data        = <<EOT
{{ with secret "secret/data/digitalocean" -}}
{{ if not .Data.data.token }}{{ nomadVar "nomad/jobs/plugin-do0-controller/missing/token" }}{{ end -}}
DIGITALOCEAN_ACCESS_TOKEN={{ .Data.data.token | toJSON }}
{{- end }}
EOT
      }

      resources {
        cpu    = 100
        memory = 256
      }
    }
  }
}
