# Rendered by nomad-csi. Change the spec and render again. Content be29e6d18cc6cc0d
# Its secrets (userID, userKey) are sent with the registration and stand in no file.
type      = "csi"
id        = "made"
namespace = "default"
name      = "made"
plugin_id = "own-rbd"

# The plugin creates the volume: `nomad-csi apply` with the spec.
capacity_min = "1GiB"

capability {
  access_mode     = "single-node-writer"
  attachment_mode = "file-system"
}

# Required by Nomad when a volume in use is registered again.
mount_options {
}

parameters = {
  clusterID     = "e9ba69fa-67ff-5920-b374-84d5801edd19"
  imageFeatures = "layering"
  pool          = "rbd"
}
