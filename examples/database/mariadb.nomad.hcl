# A database whose data lives in the CSI volume "mysql". MariaDB comes from the package mariadb-server on the clients, and
# runs as the package's user mysql, who must own the file system: `chown mysql` once, where it is new. With Docker, an
# image of MariaDB takes the place of command and args, and the rest stays.
job "mysql-server" {
  datacenters = ["*"]
  type        = "service"

  group "mysql-server" {
    count = 1

    volume "mysql" {
      type            = "csi"
      source          = "mysql"
      access_mode     = "single-node-writer"
      attachment_mode = "file-system"
    }

    network {
      port "db" {}
    }

    # A volume that is still being detached elsewhere is not there at once: keep trying.
    restart {
      attempts = 10
      interval = "5m"
      delay    = "2s"
      mode     = "delay"
    }

    task "mysql-server" {
      driver = "exec"
      user   = "mysql"

      # Time to write what is in memory before the task is killed.
      kill_timeout = "30s"

      volume_mount {
        volume      = "mysql"
        destination = "/srv"
      }

      config {
        command = "/bin/sh"
        args    = ["-c", <<-EOT
          set -e
          test -d /srv/mysql/mysql || mariadb-install-db --datadir=/srv/mysql --skip-test-db > /dev/null
          exec mariadbd --no-defaults --datadir=/srv/mysql --bind-address=$NOMAD_IP_db --port=$NOMAD_PORT_db \
            --socket=$NOMAD_TASK_DIR/mysqld.sock --pid-file=$NOMAD_TASK_DIR/mysqld.pid --init-file=$NOMAD_TASK_DIR/init.sql
          EOT
        ]
      }

      template {
        data        = <<-EOT
          CREATE USER IF NOT EXISTS 'app'@'127.0.0.1' IDENTIFIED BY '{{ with nomadVar "nomad/jobs/mysql-server" }}{{ .password }}{{ end }}';
          CREATE DATABASE IF NOT EXISTS app;
          GRANT ALL ON app.* TO 'app'@'127.0.0.1';
          EOT
        destination = "local/init.sql"
      }

      resources {
        cpu    = 500
        memory = 1024
      }
    }
  }
}
