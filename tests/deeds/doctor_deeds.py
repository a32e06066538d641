"""The cases of the doctor, of a cluster with one thing wrong at a time and of AWS; and of a Terraform state, changed."""

import copy
import itertools
import json
from concurrent import futures
from unittest import mock

from nomad_csi import errors
from nomad_csi.migration import adopt, model, terraform
from tests.deeds import aws_deeds, command_deeds, deeds, reply_deeds, spec_deeds, verify_deeds
from tests.deeds import plugin as plugins
from tests.deeds.deeds import Case

DOCTOR = ("doctor", "SPEC", "--json")


def _doctor(*words, pages=None, refused=""):
    """Return the function of a case: the doctor, with what AWS answers; its questions stand in order."""

    def run(agent, _context, _before=None):
        in_order = mock.patch.object(futures, "ThreadPoolExecutor", plugins.InOrder)
        with in_order, mock.patch.dict(aws_deeds.PAGES, pages or {}):
            found = aws_deeds.asked(agent, lambda each: command_deeds.command(*words)(each, None), refused)
        agent.messages.sort()
        return found

    return run


def _aws(known, node):
    """Have the client be an instance of the account."""
    node["Attributes"] |= {
        "unique.platform.aws.instance-id": "i-1",
        "platform.aws.instance-type": "m5.large",
        "platform.aws.placement.availability-zone": "eu-west-1a",
    }
    del known


def _then(*changes):
    """Return what brings the cluster to where all is well, also for containers with privileges, but for *changes*."""

    def change(known, node):
        node["Drivers"]["docker"]["Attributes"] = {"driver.docker.privileged.enabled": "true"}
        for each in changes:
            each(known, node)

    return verify_deeds.then(change)


def _older_client(_known, node):
    node["Attributes"]["nomad.version"] = "1.2.0"


def _no_privileged(_known, node):
    node["Drivers"]["docker"]["Attributes"] = {"driver.docker.privileged.enabled": ""}


def _other_zone(_known, node):
    node["Attributes"]["platform.aws.placement.availability-zone"] = "us-east-1f"


HOST = [{"Reservations": [{"Instances": [
    {"InstanceId": "i-1", "State": {"Name": "running"}, "Placement": {"AvailabilityZone": "eu-west-1a"},
     "MetadataOptions": {"HttpPutResponseHopLimit": 1, "HttpEndpoint": "enabled"}, "IamInstanceProfile": {"Arn": aws_deeds.PROFILE}}
]}]}]  # fmt: skip
PAGES = {
    "as it is": {},
    "one hop": {"DescribeInstances": HOST},
    "no instances": {"DescribeInstances": [{"Reservations": []}]},
    "no volumes": {"DescribeVolumes": [{"Volumes": []}]},
    "no file systems": {"DescribeFileSystems": [{"FileSystems": []}]},
    "key of AWS": {"DescribeKey": [{"KeyMetadata": {"Arn": "arn:k", "KeyState": "Disabled", "KeyManager": "AWS"}}]},
}


def _by_aws(pages):
    return _doctor(*DOCTOR, "--aws-region", "eu-west-1", pages=pages)


def _storage(known, node):
    """Have volumes of the account registered."""
    _aws(known, node)
    web = known.volumes["prod", "web"]
    web.spec["ExternalID"] = f"{aws_deeds.SYSTEM}::{aws_deeds.POINT}"
    logs = known.volumes["default", "logs"] = copy.deepcopy(web)
    logs.spec |= {
        "ID": "logs",
        "Name": "logs",
        "Namespace": "default",
        "PluginID": "ebs",
        "ExternalID": aws_deeds.DISKS[0],
    }


def _unencrypted(known, _node):
    """Have a registered volume whose storage has no key."""
    known.volumes["default", "logs"].spec["ExternalID"] = aws_deeds.DISKS[1]


CAPABILITY = [{"access_mode": "single-node-writer", "attachment_mode": "file-system"}]
DISK, KEY = "vol-0123456789abcdef0", "arn:aws:kms:us-east-1:123456789012:key/12345678-1234-1234-1234-123456789012"
ALLOWS = json.dumps(
    {"Statement": [{"Effect": "Allow", "Action": ["ec2:AttachVolume", "s3:*"]}, {"Effect": "Allow", "Action": "x"}]}
)
STATE = {
    "nomad_csi_volume_registration": {
        "id": "mysql", "volume_id": "mysql", "namespace": "prod", "name": "mysql", "plugin_id": "ebs", "external_id": DISK, "capability": CAPABILITY,
        "mount_options": [{"fs_type": "ext4", "mount_flags": ["noatime"]}], "secrets": {"key": "canary-3"}, "parameters": None, "context": {"a": "b"},
        "topology_request": [{"required": [{"topology": [{"segments": {"topology.ebs.csi.aws.com/zone": "us-east-1b"}}]}]}],
        "deregister_on_destroy": True,
    },
    "nomad_csi_volume_registration.": {
        "id": "web", "volume_id": "web", "namespace": "default", "name": "web", "plugin_id": "efs", "external_id": "fs-0123456789abcdef0::fsap-0123456789abcdef0",
        "capability": [{"access_mode": "multi-node-multi-writer", "attachment_mode": "file-system"}],
    },
    "nomad_csi_volume": {
        "volume_id": "made", "namespace": "default", "name": "made", "plugin_id": "ebs", "capability": CAPABILITY, "capacity_min": "10GiB", "capacity_max": "",
        "mount_options": [], "topology_request": [{"required": [{"topology": [{"segments": {"topology.ebs.csi.aws.com/zone": "us-east-1b"}}]}], "preferred": []}],
    },
    "aws_ebs_volume": {
        "id": DISK, "availability_zone": "us-east-1b", "size": 40, "type": "gp3", "iops": 4000, "throughput": 125, "encrypted": True, "kms_key_id": KEY,
        "tags": {"team": "db", "Name": "mysql"},
    },
    "aws_efs_file_system": {
        "id": "fs-0123456789abcdef0", "encrypted": True, "kms_key_id": "", "performance_mode": "generalPurpose", "throughput_mode": "bursting", "tags": {"team": "shop"},
        "arn": "arn:aws:elasticfilesystem:us-east-1:123456789012:file-system/fs-0123456789abcdef0",
    },
    "aws_efs_mount_target": {
        "id": "fsmt-1", "file_system_id": "fs-0123456789abcdef0", "subnet_id": "subnet-0123456789abcdef0", "availability_zone_name": "us-east-1b",
        "security_groups": ["sg-1"],
    },
    "aws_efs_access_point": {
        "id": "fsap-0123456789abcdef0", "file_system_id": "fs-0123456789abcdef0", "posix_user": [{"uid": 1000, "gid": 1001}],
        "root_directory": [{"path": "/a", "creation_info": [{"owner_uid": 1000, "owner_gid": 1001, "permissions": "0755"}]}],
    },
    "aws_security_group": {
        "id": "sg-1",
        "ingress": [
            {"from_port": 2049, "to_port": 2049, "protocol": "tcp", "cidr_blocks": ["10.0.0.0/8"], "security_groups": ["sg-0123456789abcdef0"]},
            {"from_port": 22, "to_port": 22, "protocol": "tcp", "cidr_blocks": ["1.0.0.0/8"]},
        ],
    },
    "aws_iam_policy": {"id": "arn:p", "arn": "arn:p", "policy": ALLOWS},
    "aws_iam_role_policy_attachment": {"id": "x", "policy_arn": "arn:p", "role": "nodes"},
    "aws_iam_role_policy": {"id": "r:p", "role": "mounts", "policy": json.dumps({"Statement": {"Action": "elasticfilesystem:ClientMount"}})},
}  # fmt: skip


def _adopted(values, *, takes_over):
    resources = [
        {
            "mode": "managed",
            "type": kind.rstrip("."),
            "name": f"n{at}",
            "instances": [{"schema_version": 0, "attributes": each}],
        }
        for at, (kind, each) in enumerate(values.items())
    ]
    text = json.dumps({"version": 4, "terraform_version": "1.11.4", "serial": 7, "resources": resources})
    remarks = model.Remarks()
    try:
        read = terraform.read(text, "terraform.tfstate", remarks)
        found = adopt.adopt(
            read,
            remarks=remarks,
            storage_found=terraform.read_aws([(text, "terraform.tfstate")]),
            takes_over=takes_over,
        )
    except errors.NomadCsiError as error:
        return {"": str(error)}
    shown = {"document": found.document, "remarks": sorted(f"{each.kind} {each.text}" for each in found.remarks)}
    return spec_deeds.paths(shown)


def _other(value):
    if isinstance(value, dict):
        return {}
    return [] if isinstance(value, list) else reply_deeds.another(value)


def _state(agent, _context):
    """Adopt the state, and with each of its values missing or another; with the storage, and without."""
    whole = {takes_over: _adopted(STATE, takes_over=takes_over) for takes_over in (True, False)}
    for takes_over, path in itertools.product((True, False), reply_deeds.places(STATE)):
        last = STATE
        for part in path:
            last = last[part]
        for what, new in {"missing": ..., "another": _other(last)}.items():
            if takes_over or not path[0].startswith("aws_"):
                before, now = (
                    whole[takes_over],
                    _adopted(reply_deeds.with_value(STATE, path, new), takes_over=takes_over),
                )
                changes = deeds.changes(before, now)
                text = json.dumps(changes, sort_keys=True, default=str)
                if changes:
                    agent.messages.append(f"{takes_over} {'.'.join(map(str, path))} {what}: {spec_deeds.short(text)}")
    return whole


CASES = (
    Case("well", _doctor(*DOCTOR, "--no-aws"), before=_then(), fails=True),
    Case("well, as text", _doctor("doctor", "SPEC", "--no-aws"), before=_then()),
    Case("without a spec", _doctor("doctor", "--json", "--no-aws"), before=_then()),
    *(
        Case(change.__name__[1:].replace("_", " "), _doctor(*DOCTOR, "--no-aws"), before=_then(change))
        for change in (*verify_deeds.CHANGES, _older_client, _no_privileged, _other_zone)
    ),
    *(Case(f"AWS: {name}", _by_aws(pages), before=_then(_storage)) for name, pages in PAGES.items()),
    Case("AWS: without a key", _by_aws({}), before=_then(_storage, _unencrypted)),
    Case("AWS: another region", _doctor(*DOCTOR), before=_then(_aws)),
    *(
        Case(
            f"AWS: {code}",
            _doctor(*DOCTOR, "--aws-region", "eu-west-1", refused=code),
            before=_then(_storage),
        )
        for code in ("UnauthorizedOperation", "InvalidVolume.NotFound")
    ),
    Case("a Terraform state", _state),
)
