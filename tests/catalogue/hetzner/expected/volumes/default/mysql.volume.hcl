# Rendered by nomad-csi. Change the spec and render again. Content ec75dcf84f7ad0f3
type        = "csi"
id          = "mysql"
namespace   = "default"
name        = "mysql"
external_id = "12345678"
plugin_id   = "hetzner0"

capability {
  access_mode     = "single-node-writer"
  attachment_mode = "file-system"
}

mount_options {
  fs_type     = "ext4"
  mount_flags = ["discard"]
}

# Nomad places jobs that use the volume only where it can be attached.
topology_request {
  required {
    topology {
      segments = {
        "csi.hetzner.cloud/location" = "fsn1"
      }
    }
  }
}
