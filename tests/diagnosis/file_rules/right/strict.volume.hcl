type        = "csi"
id          = "strict-volume"
external_id = "strict-1"
plugin_id   = "strict"
capability {
  access_mode     = "single-node-writer"
  attachment_mode = "file-system"
}
mount_options {
  fs_type = "nfs"
}
context = {
  driver = "nfs"
  server = "nas.example.net"
}
parameters = {
  type = "a"
}
