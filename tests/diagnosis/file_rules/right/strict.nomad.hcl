job "plugin-strict-controller" {
  group "controller" {
    count = 1
    restart {
      mode = "delay"
    }
    task "plugin" {
      driver = "docker"
      config {
        image = "registry.example/strict-csi:v1"
        args  = ["--mode=controller", "--endpoint=${CSI_ENDPOINT}"]
      }
      csi_plugin {
        id             = "strict"
        type           = "controller"
        health_timeout = "90s"
      }
    }
  }
}
