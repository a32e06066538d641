job "mysql-server" {
  group "db" {
    count = 1
    volume "data" {
      type            = "csi"
      source          = "mysql"
      access_mode     = "single-node-writer"
      attachment_mode = "file-system"
    }
    task "db" {
      driver = "docker"
      volume_mount {
        volume      = "data"
        destination = "/srv"
      }
    }
  }
}
