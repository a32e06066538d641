# Rendered by nomad-csi. Change the spec and render again. Content 4aac29de65034991
# Its secrets (adminID, adminKey) are sent with the registration and stand in no file.
type      = "csi"
id        = "made"
namespace = "default"
name      = "made"
plugin_id = "cephfs0"

# The plugin creates the volume: `nomad-csi apply` with the spec.
capacity_min = "10GiB"

capability {
  access_mode     = "multi-node-multi-writer"
  attachment_mode = "file-system"
}

# Required by Nomad when a volume in use is registered again.
mount_options {
}

parameters = {
  clusterID = "e9ba69fa-67ff-5920-b374-84d5801edd19"
  fsName    = "shared"
}
