# Rendered by nomad-csi. Change the spec and render again. Content 811f7c60386f6656
# Its secrets (userID, userKey) are sent with the registration and stand in no file.
type        = "csi"
id          = "media"
namespace   = "default"
name        = "media"
external_id = "media"
plugin_id   = "cephfs0"

capability {
  access_mode     = "multi-node-multi-writer"
  attachment_mode = "file-system"
}

# Required by Nomad when a volume in use is registered again.
mount_options {
}

context = {
  clusterID    = "e9ba69fa-67ff-5920-b374-84d5801edd19"
  fsName       = "shared"
  rootPath     = "/volumes/group/media"
  staticVolume = "true"
}
