# Rendered by nomad-csi. Change the spec and render again. Content ddaef581db94dce8
type        = "csi"
id          = "traefik-acme"
namespace   = "default"
name        = "traefik-acme"
external_id = "traefik-acme"
plugin_id   = "kowlan"

capability {
  access_mode     = "single-node-writer"
  attachment_mode = "file-system"
}

mount_options {
  fs_type     = "nfs"
  mount_flags = ["nolock"]
}

context = {
  node_attach_driver = "nfs"
  provisioner_driver = "zfs-generic-nfs"
  server             = "nas.example.net"
  share              = "/pool2/democratic/root/traefik-acme"
}
