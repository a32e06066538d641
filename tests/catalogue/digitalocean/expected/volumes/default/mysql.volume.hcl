# Rendered by nomad-csi. Change the spec and render again. Content f8df2bab050d43b3
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

mount_options {
  fs_type = "ext4"
}

# Nomad places jobs that use the volume only where it can be attached.
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
