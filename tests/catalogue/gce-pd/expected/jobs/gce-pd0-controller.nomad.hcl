# Rendered by nomad-csi. Change the spec and render again. Content 957f94be4ff8e347
# GCE PD CSI driver v1.26.4: the controller of CSI plugin gce-pd0.
#
# The clients need:
#   - a client on Compute Engine: project and zone come from the metadata server
job "plugin-gce-pd0-controller" {
  namespace   = "default"
  datacenters = ["*"]
  node_pool   = "default"
  type        = "service"
  priority    = 80

  constraint {
    attribute = "${attr.platform.gce.zone}"
    operator  = "is_set"
  }

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
        image = "registry.k8s.io/cloud-provider-gcp/gcp-compute-persistent-disk-csi-driver:v1.26.4"
        args = [
          "--endpoint=${CSI_ENDPOINT}",
          "--run-node-service=false",
          "--v=2",
          "--extra-labels=team=storage",
          "--fail-close-on-auth-error=true",
        ]
      }

      # The plugin, by the id that all of its jobs have.
      csi_plugin {
        id             = "gce-pd0"
        type           = "controller"
        mount_dir      = "/csi"
        health_timeout = "60s"
      }

      # Rendered on the client; this file contains no secret values.
      template {
        destination = "${NOMAD_SECRETS_DIR}/creds.json"
        data        = <<EOT
{{ with nomadVar "nomad/jobs/plugin-gce-pd0-controller" -}}
{{ if not .creds_json.Value }}{{ nomadVar "nomad/jobs/plugin-gce-pd0-controller/missing/creds_json" }}{{ end -}}
{{ .creds_json.Value }}
{{- end -}}
EOT
      }

      env {
        GOOGLE_APPLICATION_CREDENTIALS = "${NOMAD_SECRETS_DIR}/creds.json"
      }

      resources {
        cpu    = 100
        memory = 256
      }
    }
  }
}
