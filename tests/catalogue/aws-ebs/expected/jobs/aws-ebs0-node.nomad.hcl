# Rendered by nomad-csi. Change the spec and render again. Content d2e2028ca090af5c
# AWS EBS CSI driver v1.64.0: the node plugin of CSI plugin aws-ebs0.
#
# The clients need:
#   - docker with allow_privileged = true
#   - an instance metadata hop limit of at least 2, because the container is one hop away
job "plugin-aws-ebs0-nodes" {
  namespace   = "storage"
  datacenters = ["dc1", "dc2"]
  node_pool   = "csi"
  type        = "system"
  priority    = 90

  constraint {
    attribute = "${attr.platform.aws.placement.availability-zone}"
    value     = "us-east-1a"
  }

  constraint {
    attribute = "${attr.cpu.arch}"
    operator  = "!="
    value     = "arm64"
  }

  update {
    max_parallel      = 1
    min_healthy_time  = "30s"
    healthy_deadline  = "10m"
    progress_deadline = "20m"
    auto_revert       = true
  }

  group "nodes" {
    # Keep restarting: workloads depend on this plugin.
    restart {
      attempts = 5
      interval = "10m"
      delay    = "20s"
      mode     = "delay"
    }

    network {
      port "metrics" {
        static = 3301
        to     = 3301
      }
    }

    task "plugin" {
      driver = "docker"

      config {
        image = "mirror.example.com:5000/csi/ebs-csi-driver/aws-ebs-csi-driver:v1.64.0@sha256:5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef"
        args = [
          "node",
          "--endpoint=${CSI_ENDPOINT}",
          "--logging-format=text",
          "--v=4",
          "--metadata-sources=imds",
          "--http-endpoint=:3301",
          "--reserved-volume-attachments=2",
        ]

        auth {
          username = "${REGISTRY_USERNAME}"
          password = "${REGISTRY_PASSWORD}"
        }

        # Mounts of the node plugin must reach the whole client.
        privileged = true

        ports = ["metrics"]
      }

      # The plugin, by the id that all of its jobs have.
      csi_plugin {
        id             = "aws-ebs0"
        type           = "node"
        mount_dir      = "/csi"
        health_timeout = "2m"
      }

      # Rendered on the client; this file contains no secret values.
      template {
        destination = "${NOMAD_SECRETS_DIR}/registry.env"
        env         = true
        data        = <<EOT
{{ with nomadVar "nomad/jobs" -}}
{{ if not .password.Value }}{{ nomadVar "nomad/jobs/plugin-aws-ebs0-nodes/missing/password" }}{{ end -}}
{{ if not .username.Value }}{{ nomadVar "nomad/jobs/plugin-aws-ebs0-nodes/missing/username" }}{{ end -}}
REGISTRY_PASSWORD={{ .password.Value | toJSON }}
REGISTRY_USERNAME={{ .username.Value | toJSON }}
{{- end }}
EOT
      }

      env {
        AWS_REGION = "us-east-1"
        GODEBUG    = "fips140=on"
      }

      resources {
        cpu    = 100
        memory = 256
      }
    }
  }
}
