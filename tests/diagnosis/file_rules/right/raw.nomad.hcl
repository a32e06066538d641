job "plugin-raw" {
  type = "system"
  group "nodes" {
    restart {
      mode = "delay"
    }
    task "plugin" {
      driver = "raw_exec"
      config {
        command = "/usr/local/bin/driver-of-my-own"
        args    = ["--endpoint=${CSI_ENDPOINT}"]
      }
      csi_plugin {
        id                     = "raw0"
        type                   = "node"
        stage_publish_base_dir = "/opt/nomad/client/csi/node/raw0"
      }
    }
  }
}
