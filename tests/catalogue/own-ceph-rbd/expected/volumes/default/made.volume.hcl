# Rendered by nomad-csi. Change the spec and render again. Content 6e18a01ad37bae54
# Its secrets (userID, userKey) are sent with the registration and stand in no file.
type      = "csi"
id        = "made"
namespace = "default"
name      = "made"
plugin_id = "ceph-rbd"

# For `nomad volume create`: the plugin makes the volume.
capacity_min = "1GiB"

capability {
  access_mode     = "single-node-writer"
  attachment_mode = "file-system"
}

# Stands here even when empty: Nomad refuses a file without it while the volume is in use.
mount_options {
}

parameters = {
  clusterID     = "e9ba69fa-67ff-5920-b374-84d5801edd19"
  imageFeatures = "layering"
  pool          = "rbd"
}
