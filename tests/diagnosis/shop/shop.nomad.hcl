job "shop" {
  group "db" {
    volume "disk" {
      type            = "csi"
      source          = "mysql"
      access_mode     = "single-node-writer"
      attachment_mode = "file-system"
    }
    volume "files" {
      type            = "csi"
      source          = "shared"
      access_mode     = "multi-node-multi-writer"
      attachment_mode = "file-system"
    }
    task "db" {
      driver = "raw_exec"
      config {
        command = "sleep"
      }
    }
  }
}
