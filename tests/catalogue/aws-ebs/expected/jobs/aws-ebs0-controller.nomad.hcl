# Rendered by nomad-csi. Change the spec and render again. Content 4debbf53f04448e7
# AWS EBS CSI driver v1.64.0: the controller of CSI plugin aws-ebs0.
#
# The clients need:
#   - an instance role with the policy of this plugin, unless credentials say otherwise
job "plugin-aws-ebs0-controller" {
  namespace   = "storage"
  datacenters = ["dc1", "dc2"]
  node_pool   = "csi"
  type        = "service"
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

  group "controller" {
    count = 3

    # At most one controller per client, so that another survives the loss of a client.
    constraint {
      operator = "distinct_hosts"
      value    = "true"
    }

    # Keep restarting: workloads depend on this plugin.
    restart {
      attempts = 5
      interval = "10m"
      delay    = "20s"
      mode     = "delay"
    }

    network {
      port "metrics" {
        static = 3302
        to     = 3302
      }
    }

    task "plugin" {
      driver = "docker"

      config {
        image = "mirror.example.com:5000/csi/ebs-csi-driver/aws-ebs-csi-driver:v1.64.0@sha256:5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef"
        args = [
          "controller",
          "--endpoint=${CSI_ENDPOINT}",
          "--logging-format=text",
          "--v=4",
          "--extra-tags=cost-centre=4711,team=storage",
          "--http-endpoint=:3302",
          "--batching=true",
          "--enable-node-local-volumes=true",
        ]

        auth {
          username = "${REGISTRY_USERNAME}"
          password = "${REGISTRY_PASSWORD}"
        }

        ports = ["metrics"]
      }

      # The plugin, by the id that all of its jobs have.
      csi_plugin {
        id             = "aws-ebs0"
        type           = "controller"
        mount_dir      = "/csi"
        health_timeout = "2m"
      }

      # Rendered on the client; this file contains no secret values.
      template {
        destination = "${NOMAD_SECRETS_DIR}/credentials.env"
        env         = true
        data        = <<EOT
{{ with nomadVar "nomad/jobs/plugin-aws-ebs0-controller" -}}
{{ if not .access_key_id.Value }}{{ nomadVar "nomad/jobs/plugin-aws-ebs0-controller/missing/access_key_id" }}{{ end -}}
{{ if not .secret_access_key.Value }}{{ nomadVar "nomad/jobs/plugin-aws-ebs0-controller/missing/secret_access_key" }}{{ end -}}
AWS_ACCESS_KEY_ID={{ .access_key_id.Value | toJSON }}
AWS_SECRET_ACCESS_KEY={{ .secret_access_key.Value | toJSON }}
{{- end }}
EOT
      }

      # Rendered on the client; this file contains no secret values.
      template {
        destination = "${NOMAD_SECRETS_DIR}/registry.env"
        env         = true
        data        = <<EOT
{{ with nomadVar "nomad/jobs" -}}
{{ if not .password.Value }}{{ nomadVar "nomad/jobs/plugin-aws-ebs0-controller/missing/password" }}{{ end -}}
{{ if not .username.Value }}{{ nomadVar "nomad/jobs/plugin-aws-ebs0-controller/missing/username" }}{{ end -}}
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
        cpu        = 200
        memory     = 128
        memory_max = 512
      }
    }
  }
}
