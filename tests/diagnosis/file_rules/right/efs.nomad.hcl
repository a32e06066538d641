job "plugin-aws-efs0-nodes" {
  type = "system"
  group "nodes" {
    restart {
      mode = "delay"
    }
    task "plugin" {
      driver = "docker"
      config {
        image        = "public.ecr.aws/efs-csi-driver/amazon/aws-efs-csi-driver:v3.4.1"
        args         = ["--endpoint=${CSI_ENDPOINT}", "--logtostderr"]
        privileged   = true
        network_mode = "host"
        volumes      = ["/var/amazon/efs:/var/amazon/efs", "/var/run/efs:/var/run/efs"]
      }
      csi_plugin {
        id   = "aws-efs0"
        type = "node"
      }
    }
  }
}
