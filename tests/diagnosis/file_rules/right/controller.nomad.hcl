job "plugin-aws-ebs0-controller" {
  type = "service"
  group "controller" {
    count = 2
    constraint {
      operator = "distinct_hosts"
      value    = "true"
    }
    restart {
      mode = "delay"
    }
    task "plugin" {
      driver = "docker"
      config {
        image = "public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver:v1.64.0"
        args = [
          "controller",
          "--endpoint=${CSI_ENDPOINT}",
          "--v=2",
        ]
      }
      csi_plugin {
        id             = "aws-ebs0"
        type           = "controller"
        health_timeout = "60s"
      }
      env {
        AWS_REGION = "us-east-1"
      }
    }
  }
}
