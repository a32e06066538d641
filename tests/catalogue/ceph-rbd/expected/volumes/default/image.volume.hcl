# Rendered by nomad-csi. Change the spec and render again. Content f105f982dc7dd444
# Its secrets (userID, userKey) are sent with the registration and stand in no file.
type        = "csi"
id          = "image"
namespace   = "default"
name        = "image"
external_id = "my-image"
plugin_id   = "ceph-rbd0"

capability {
  access_mode     = "single-node-writer"
  attachment_mode = "file-system"
}

mount_options {
  fs_type = "ext4"
}

context = {
  clusterID     = "e9ba69fa-67ff-5920-b374-84d5801edd19"
  imageFeatures = "layering"
  pool          = "rbd"
  staticVolume  = "true"
}
