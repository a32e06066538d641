# Rendered by nomad-csi. Change the spec and render again. Content 1e3e19599af71748
# Portworx CSI driver 2.13.1: the controller and node plugin, in one task, of CSI plugin portworx.
#
# The clients need:
#   - docker with allow_privileged = true and volumes { enabled = true }
#   - three such clients at least, for a quorum
#   - systemd, and a disk without a file system for -a to take
#   - a Consul or etcd that answers under kvdb, and Portworx's ports open between the clients
#   - max_kill_timeout of at least 120 s in the client's configuration
job "plugin-portworx-monolith" {
  namespace   = "default"
  datacenters = ["*"]
  node_pool   = "default"
  type        = "system"
  priority    = 80

  group "monolith" {
    # Keep restarting: workloads depend on this plugin.
    restart {
      attempts = 3
      interval = "5m"
      delay    = "15s"
      mode     = "delay"
    }

    task "plugin" {
      driver       = "docker"
      kill_timeout = "2m"

      config {
        image = "docker.io/portworx/oci-monitor:2.13.1"
        args = [
          "-c",
          "px-cluster-1",
          "-a",
          "-b",
          "-k",
          "etcd:http://10.0.0.5:2379",
          "--endpoint",
          "0.0.0.0:9015",
        ]

        # Mounts of the node plugin must reach the whole client.
        privileged = true

        # Host network: NFS mounts survive the replacement of this container.
        network_mode = "host"
        ipc_mode     = "host"

        # Host paths: state that outlives the container, and directories of the client.
        volumes = [
          "/var/cores:/var/cores",
          "/var/run/docker.sock:/var/run/docker.sock",
          "/run/containerd:/run/containerd",
          "/etc/pwx:/etc/pwx",
          "/opt/pwx:/opt/pwx",
          "/proc:/host_proc",
          "/etc/systemd/system:/etc/systemd/system",
          "/var/run/log:/var/run/log",
          "/var/log:/var/log",
          "/var/run/dbus:/var/run/dbus",
        ]
      }

      # The plugin, by the id that all of its jobs have.
      csi_plugin {
        id                     = "portworx"
        type                   = "monolith"
        mount_dir              = "/var/lib/csi"
        stage_publish_base_dir = "/var/lib/portworx"
        health_timeout         = "30m"
      }

      env {
        AUTO_NODE_RECOVERY_TIMEOUT_IN_SECS = "1500"
        PX_TEMPLATE_VERSION                = "V4"
      }

      resources {
        cpu    = 1024
        memory = 2048
      }
    }
  }
}
