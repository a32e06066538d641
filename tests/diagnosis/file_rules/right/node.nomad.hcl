job "plugin-aws-ebs0-nodes" {
  type = "system"
  group "nodes" {
    restart {
      mode = "delay"
    }
    task "plugin" {
      driver = "docker"
      config {
        image = "public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver:v1.64.0"
        args = [
          "node",
          "--endpoint=${CSI_ENDPOINT}",
        ]
        privileged = true
      }
      csi_plugin {
        id             = "aws-ebs0"
        type           = "node"
        health_timeout = "60s"
      }
    }
  }
}
