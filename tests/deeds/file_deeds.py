"""The cases of the commands that read and write files alone: the whole spec of an import, findings, rendered files."""

import json

from tests.deeds import command_deeds
from tests.deeds.deeds import Case

OWN_DRIVER = """job "san-{role}" {{
  type      = "{kind}"
  namespace = "storage"
  priority  = 70
  node_pool = "disks"
  constraint {{
    attribute = "${{node.class}}"
    operator  = "!="
    value     = "small"
  }}
  group "g" {{
    count = {count}
    restart {{
      attempts = 4
      interval = "10m"
      delay    = "30s"
      mode     = "delay"
    }}
    network {{
      mode = "host"
    }}
    task "t" {{
      driver       = "docker"
      kill_timeout = "20s"
      env {{
        SAN_HOST     = "san.example"
        SAN_PASSWORD = "canary-51"
      }}
      template {{
        data        = "a = {{{{ env \\"x\\" }}}}"
        destination = "secrets/a.env"
        env         = true
      }}
      config {{
        image        = "registry.example/san-csi:1.2.3"
        args         = ["--endpoint=${{CSI_ENDPOINT}}", "--node-id=${{node.unique.name}}", "--token=canary-52"]
        privileged   = true
        network_mode = "host"
        ipc_mode     = "host"
        volumes      = ["/dev:/dev", "local/x:/x"]
        cap_add      = ["SYS_ADMIN"]
      }}
      csi_plugin {{
        id             = "san"
        type           = "{role}"
        mount_dir      = "/run/csi"
        health_timeout = "45s"
      }}
      resources {{
        cpu        = 200
        memory     = 128
        memory_max = 256
      }}
    }}
  }}
}}
"""
VOLUME = """id          = "data"
name        = "data-one"
namespace   = "prod"
type        = "csi"
plugin_id   = "san"
external_id = "lun-7"
capability {
  access_mode     = "multi-node-single-writer"
  attachment_mode = "block-device"
}
mount_options {
  fs_type     = "xfs"
  mount_flags = ["noatime", "password=canary-53"]
}
topology_request {
  required {
    topology {
      segments {
        "san.example/rack" = "r1"
      }
    }
  }
}
secrets {
  chap = "canary-54"
}
parameters {
  tier = "gold"
}
context {
  target = "iqn.x"
  token  = "canary-55"
}
"""
CREATED = """id           = "new"
type         = "csi"
plugin_id    = "san"
capacity_min = "10GiB"
capacity_max = "20GB"
clone_id     = "lun-1"
capability {
  access_mode     = "single-node-writer"
  attachment_mode = "file-system"
}
"""
STATE = {
    "version": 4,
    "terraform_version": "1.11.4",
    "resources": [
        {
            "mode": "managed",
            "type": kind,
            "name": name,
            "instances": [{"attributes": attributes} | ({"index_key": key} if key else {})],
        }
        for kind, name, key, attributes in (
            (
                "nomad_csi_volume_registration",
                "mysql",
                "one",
                {
                    "volume_id": "mysql",
                    "namespace": "prod",
                    "name": "mysql-data",
                    "plugin_id": "aws-ebs0",
                    "external_id": "vol-0123456789abcdef0",
                    "capability": [{"access_mode": "single-node-writer", "attachment_mode": "file-system"}],
                    "mount_options": [{"fs_type": "ext4", "mount_flags": ["noatime"]}],
                    "topology_request": [
                        {"required": [{"topology": [{"segments": {"topology.ebs.csi.aws.com/zone": "us-east-1b"}}]}]}
                    ],
                    "secrets": {"key": "canary-56"},
                    "parameters": {"type": "gp3"},
                    "context": {"partition": "1"},
                    "deregister_on_destroy": True,
                },
            ),
            (
                "nomad_csi_volume",
                "made",
                "",
                {
                    "volume_id": "made",
                    "name": "made",
                    "plugin_id": "aws-ebs0",
                    "capability": [{"access_mode": "single-node-writer", "attachment_mode": "file-system"}],
                    "capacity_min": "10GiB",
                    "capacity_max": "12GiB",
                    "snapshot_id": "snap-1",
                    "clone_id": "",
                },
            ),
            (
                "nomad_csi_volume_registration",
                "web",
                "",
                {
                    "volume_id": "web",
                    "plugin_id": "aws-efs0",
                    "external_id": "fs-0123456789abcdef0::fsap-0123456789abcdef0",
                    "capability": [{"access_mode": "multi-node-multi-writer", "attachment_mode": "file-system"}],
                },
            ),
            (
                "aws_ebs_volume",
                "disk",
                "",
                {
                    "id": "vol-0123456789abcdef0",
                    "availability_zone": "us-east-1b",
                    "size": 40,
                    "type": "gp3",
                    "iops": 4000,
                    "throughput": 250,
                    "encrypted": True,
                    "kms_key_id": "arn:aws:kms:us-east-1:123456789012:key/a",
                    "tags": {"team": "db"},
                    "snapshot_id": "",
                    "arn": "arn:aws:ec2:us-east-1:123456789012:volume/vol-0123456789abcdef0",
                },
            ),
            (
                "aws_efs_file_system",
                "shared",
                "",
                {
                    "id": "fs-0123456789abcdef0",
                    "arn": "arn:aws:elasticfilesystem:us-east-1:123456789012:file-system/fs-0123456789abcdef0",
                    "encrypted": True,
                    "performance_mode": "generalPurpose",
                    "throughput_mode": "elastic",
                    "kms_key_id": "arn:aws:kms:us-east-1:123456789012:key/b",
                    "lifecycle_policy": [{"transition_to_ia": "AFTER_30_DAYS"}],
                    "tags": {"team": "web"},
                },
            ),
            (
                "aws_efs_access_point",
                "web",
                "",
                {
                    "id": "fsap-0123456789abcdef0",
                    "file_system_id": "fs-0123456789abcdef0",
                    "posix_user": [{"uid": 1000, "gid": 1001, "secondary_gids": []}],
                    "root_directory": [
                        {
                            "path": "/web",
                            "creation_info": [{"owner_uid": 1000, "owner_gid": 1001, "permissions": "0750"}],
                        }
                    ],
                },
            ),
            (
                "aws_efs_mount_target",
                "a",
                "",
                {"file_system_id": "fs-0123456789abcdef0", "subnet_id": "subnet-1", "security_groups": ["sg-1"]},
            ),
            ("aws_s3_bucket", "other", "", {"id": "b"}),
        )
    ],
}


def _files(agent, found):
    """Return a folder with the files *found*, by name."""
    folder = agent.folder / "given"
    folder.mkdir()
    for name, text in found.items():
        (folder / name).write_text(text)
    return str(folder)


def _command(*words, files=None):
    """Return what runs a command; ``FILES`` in *words* is a folder with *files*."""

    def run(agent, context):
        folder = _files(agent, files or {})
        result = command_deeds.command(*(word.replace("FILES", folder) for word in words))(agent, context)
        hidden = [line.replace(folder, "FILES") for line in agent.messages]
        agent.messages[:] = hidden
        return json.loads(json.dumps(result).replace(folder, "FILES"))

    return run


def _rendered(agent, context):
    folder = agent.folder / "out"
    for word in ((), ("--check",)):
        command_deeds.command("render", "SPEC", "--out", str(folder), *word)(agent, context)
    agent.messages[:] = [line.replace(str(folder), "OUT") for line in agent.messages]
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.hcl"))


OWN = {
    "nodes.nomad.hcl": OWN_DRIVER.format(role="node", kind="system", count=1),
    "controller.nomad.hcl": OWN_DRIVER.format(role="controller", kind="service", count=2),
    "data.volume.hcl": VOLUME,
    "new.volume.hcl": CREATED,
}
TERRAFORM = {"terraform.tfstate": json.dumps(STATE)}
CASES = (
    Case("import: a driver of its own", _command("import", "FILES", "--json", files=OWN)),
    Case("import: a driver of its own, as text", _command("import", "FILES", files=OWN)),
    Case("check", _command("check", "FILES", "--json", files=OWN)),
    Case("import: Terraform", _command("import", "FILES/terraform.tfstate", "--json", files=TERRAFORM)),
    Case(
        "import --with-storage: Terraform",
        _command("import", "FILES/terraform.tfstate", "--with-storage", "--json", files=TERRAFORM),
    ),
    Case("render", _rendered),
    Case("snippet", _command("snippet", "SPEC", "prod/web")),
    Case("acl-policy", _command("acl-policy", "apply", "remove", "claims repair", "verify", "up")),
    Case("explain", _command("explain", "claim-vanished")),
)
