type        = "csi"
id          = "mysql"
name        = "mysql"
external_id = "vol-0123456789abcdef0"
plugin_id   = "aws-ebs0"
capability {
  access_mode     = "single-node-writer"
  attachment_mode = "file-system"
}
mount_options {
  fs_type = "ext4"
}
topology_request {
  required {
    topology {
      segments = {
        "topology.ebs.csi.aws.com/zone" = "us-east-1a"
      }
    }
  }
}
context = {
  partition = "0"
}
