# A plugin job as one finds it on many clusters: written some years ago, and copied since.
job "ebs-controller" {
  datacenters = ["dc1"]

  group "controller" {
    task "plugin" {
      driver = "docker"

      config {
        image = "public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver:latest"
        args  = ["controller", "--endpoint=unix:///csi/csi.sock", "--logtostderr", "--v=5"]
      }

      csi_plugin {
        id        = "aws-ebs0"
        type      = "controller"
        mount_dir = "/csi"
      }
    }
  }
}
