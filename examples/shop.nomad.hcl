# A job that uses the volume "mysql" of the sandbox, for `nomad-csi sandbox exec -- nomad job run`.
job "shop" {
  group "shop" {
    volume "mysql" {
      type            = "csi"
      source          = "mysql"
      access_mode     = "single-node-writer"
      attachment_mode = "file-system"
    }

    task "shop" {
      driver = "exec"

      config {
        command = "sleep"
        args    = ["3600"]
      }

      volume_mount {
        volume      = "mysql"
        destination = "/srv"
      }
    }
  }
}
