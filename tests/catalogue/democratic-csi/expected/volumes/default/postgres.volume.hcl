# Rendered by nomad-csi. Change the spec and render again. Content d9a93f5612fb5b16
# Its secrets (node-db.node.session.auth.authmethod, node-db.node.session.auth.password, node-db.node.session.auth.username) are sent with the registration and stand in no file.
type        = "csi"
id          = "postgres"
namespace   = "default"
name        = "postgres"
external_id = "postgres"
plugin_id   = "truenas-iscsi"

capability {
  access_mode     = "single-node-writer"
  attachment_mode = "file-system"
}

mount_options {
  fs_type = "ext4"
}

context = {
  iqn                = "iqn.2005-10.org.freenas.ctl:postgres"
  lun                = "0"
  node_attach_driver = "iscsi"
  portal             = "truenas.example.net:3260"
  provisioner_driver = "freenas-api-iscsi"
}
