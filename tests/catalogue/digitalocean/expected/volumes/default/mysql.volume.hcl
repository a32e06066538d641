# Rendered by nomad-csi. Change the spec and render again. Content 0399c8a1da1e00ea
type        = "csi"
id          = "mysql"
namespace   = "default"
name        = "mysql"
external_id = "506f78a4-e098-11e5-ad9f-000f53306ae1"
plugin_id   = "do0"

capability {
  access_mode     = "single-node-writer"
  attachment_mode = "file-system"
}

# Stands here even when empty: Nomad refuses a file without it while the volume is in use.
mount_options {
  fs_type = "ext4"
}

# Jobs that use the volume run only where it can be attached.
topology_request {
  required {
    topology {
      segments = {
        region = "nyc3"
      }
    }
  }
}

context = {
  "dobs.csi.digitalocean.com/noformat" = "true"
}
