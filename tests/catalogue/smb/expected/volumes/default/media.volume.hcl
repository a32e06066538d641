# Rendered by nomad-csi. Change the spec and render again. Content 741b6bc2b07865dc
# Its secrets (password, username) are sent with the registration and stand in no file.
type        = "csi"
id          = "media"
namespace   = "default"
name        = "media"
external_id = "nas.example.net/share#media#"
plugin_id   = "smb0"

capability {
  access_mode     = "multi-node-multi-writer"
  attachment_mode = "file-system"
}

mount_options {
  mount_flags = ["vers=3.0", "uid=1000"]
}

context = {
  source = "//nas.example.net/share"
  subDir = "media"
}
