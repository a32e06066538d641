# Rendered by nomad-csi. Change the spec and render again. Content f61c8842587dd6c1
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

    # One controller per client, so that one survives the loss of a client.
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

      # Controller and node jobs of one plugin have the same id.
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
