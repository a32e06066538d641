"""What a spec accepts reaches a resource: each of its fields is changed, and an input of a resource changes."""

import copy
import json
import typing
from collections.abc import Iterator

import pulumi
import pydantic
import pytest
import yaml
from pulumi.runtime import mocks

from nomad_csi.spec import model

EBS = """
plugins:
  - id: aws-ebs0
    driver: aws-ebs
    aws_region: us-east-1
    iam: {role_name: nomad-client}
    constraints: [{attribute: "${node.class}", operator: "=", value: storage}]
    resources: {cpu_mhz: 100, memory_mib: 64, memory_max_mib: 128}
    controller: {count: 2, resources: {cpu_mhz: 50, memory_mib: 32, memory_max_mib: 64}}
    node: {resources: {cpu_mhz: 50, memory_mib: 32, memory_max_mib: 64}}
    update: {max_parallel: 1}
    verify: {min_healthy_percent: 90}
volumes:
  - id: mysql
    plugin_id: aws-ebs0
    ebs: {availability_zone: us-east-1a, size_gib: 40, iops: 3000}
    capabilities: [{access_mode: single-node-writer, attachment_mode: file-system}]
"""
PRESET = """
classes:
  fast: {ebs: {iops: 4000}}
plugins:
  - {id: aws-ebs0, driver: aws-ebs, aws_region: us-east-1}
volumes:
  - {id: mysql, class: fast, plugin_id: aws-ebs0, ebs: {availability_zone: us-east-1a, size_gib: 40}}
"""
ZONED = """
plugins:
  - {id: aws-ebs0, driver: aws-ebs, aws_region: us-east-1, availability_zone: us-east-1a}
"""
ASKED = """
plugins:
  - {id: aws-ebs0, driver: aws-ebs, aws_region: us-east-1, verify: {evidence: csi, on_nodes: {state_dir: /srv/client}}}
"""
PROCESS = """
plugins:
  - id: aws-ebs0
    driver: aws-ebs
    aws_region: us-east-1
    task_driver: {name: raw_exec, command: /opt/ebs, client_data_dir: /opt/nomad}
    controller: {task_driver: {name: raw_exec, command: /opt/ebs, client_data_dir: /opt/nomad}}
"""
SNAPSHOTS = """
snapshots:
  nightly: {keep: 7}
plugins:
  - {id: aws-ebs0, driver: aws-ebs, aws_region: us-east-1}
volumes:
  - {id: mysql, plugin_id: aws-ebs0, ebs: {availability_zone: us-east-1a, size_gib: 40}, snapshots: [nightly]}
"""
BACKUPS = """
snapshots:
  nightly: {keep_days: 35}
plugins:
  - {id: aws-efs0, driver: aws-efs, aws_region: us-east-1}
volumes:
  - id: shared
    plugin_id: aws-efs0
    efs: {mount_targets: [{availability_zone: us-east-1a}], clients: {cidr_blocks: [10.0.0.0/8]}}
    snapshots: [nightly]
"""
EFS = """
plugins:
  - {id: aws-efs0, driver: aws-efs, aws_region: us-east-1}
volumes:
  - id: shared
    plugin_id: aws-efs0
    efs:
      mount_targets: [{availability_zone: us-east-1a}]
      clients: {cidr_blocks: [10.0.0.0/8]}
      access_point: {path: /data, uid: 1000, gid: 1000}
"""
EFS_IAM = """
plugins:
  - {id: aws-efs0, driver: aws-efs, aws_region: us-east-1}
volumes:
  - id: shared
    plugin_id: aws-efs0
    efs:
      mount_targets: [{availability_zone: us-east-1a}]
      clients: {cidr_blocks: [10.0.0.0/8]}
      iam: {role_name: nomad-client}
    mount_options: {mount_flags: [iam]}
"""
SHARED_EFS = """
snapshots:
  nightly: {keep_days: 35}
  weekly: {keep_days: 70}
file_systems:
  data:
    mount_targets: [{availability_zone: us-east-1a}]
    clients: {cidr_blocks: [10.0.0.0/8]}
    iam: {role_name: nomad-client}
    snapshots: [nightly]
  other:
    mount_targets: [{availability_zone: us-east-1a}]
    clients: {cidr_blocks: [10.0.0.0/8]}
plugins:
  - {id: aws-efs0, driver: aws-efs, aws_region: us-east-1}
volumes:
  - id: uploads
    plugin_id: aws-efs0
    efs: {file_system: data, access_point: {path: /uploads, uid: 1000, gid: 1000}}
    mount_options: {mount_flags: [iam]}
"""
EFS_ELSEWHERE = """
plugins:
  - {id: aws-efs0, driver: aws-efs, aws_region: us-east-1}
volumes:
  - id: uploads
    plugin_id: aws-efs0
    efs: {file_system_id: fs-0123456789abcdef0, access_point: {path: /uploads, uid: 1000, gid: 1000}}
"""
EXISTING = """
plugins:
  - {id: aws-ebs0, driver: aws-ebs, aws_region: us-east-1}
  - {id: aws-ebs1, driver: aws-ebs, aws_region: us-east-1}
volumes:
  - id: old
    plugin_id: aws-ebs0
    existing: {external_id: vol-0123456789abcdef0, availability_zone: us-east-1a}
"""
CREATED = """
plugins:
  - {id: aws-ebs0, driver: aws-ebs, aws_region: us-east-1}
volumes:
  - id: made
    plugin_id: aws-ebs0
    create:
      capacity_min_gib: 10
      availability_zone: us-east-1a
      on_destroy: delete
      deletion: {aws_region: us-east-1}
"""
EXACT = """
plugins:
  - {id: hostpath0, driver: csi-hostpath}
volumes:
  - {id: made, plugin_id: hostpath0, create: {capacity_min_bytes: 104857600}}
"""
HOSTPATH = """
plugins:
  - id: hostpath0
    driver: csi-hostpath
    monolith: {resources: {cpu_mhz: 50, memory_mib: 32, memory_max_mib: 64}}
volumes:
  - id: made
    plugin_id: hostpath0
    create: {capacity_min_gib: 10, on_destroy: delete, deletion: {endpoint: /run/csi.sock, accept_unguarded: true}}
"""
SERVICE = """
plugins:
  - {id: px, driver: portworx, config: {cluster_id: px}, monolith: {job_type: service, count: 3}}
"""
DEMOCRATIC = """
plugins:
  - {id: nas, driver: democratic-csi, config: {driver: zfs-generic-nfs}}
"""
VARIABLE = """
plugins:
  - id: aws-ebs0
    driver: aws-ebs
    aws_region: us-east-1
    credentials: {nomad_variable: nomad/jobs/ebs}
    registry_credentials: {nomad_variable: nomad/jobs/registry}
"""
VAULT = """
plugins:
  - id: aws-ebs0
    driver: aws-ebs
    aws_region: us-east-1
    credentials: {vault: {path: secret/data/ebs}}
"""
REGISTRY = """
plugins:
  - {id: aws-ebs0, driver: aws-ebs, aws_region: us-east-1, registry_credentials: {vault: {path: secret/data/registry}}}
"""
IDENTITY = """
plugins:
  - id: aws-ebs0
    driver: aws-ebs
    aws_region: us-east-1
    credentials: {workload_identity: {role_arn: "arn:aws:iam::123456789012:role/ebs"}}
"""
KEY_ARN = "arn:aws:kms:us-east-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"

CHANGES = {
    "owner": (None, "the command line's: a stack has its own name"),
    "out": (None, "the command line's: where it writes rendered files"),
    "protect": (EBS, False),
    "classes": (PRESET, {"fast": {"ebs": {"iops": 5000}}}),
    "snapshots{}.every_hours": (SNAPSHOTS, 12),
    "snapshots{}.at": (SNAPSHOTS, "04:00"),
    "snapshots{}.keep": (SNAPSHOTS, 8),
    "snapshots{}.keep_days": (BACKUPS, 36),
    "file_systems{}.mount_targets[].availability_zone": (SHARED_EFS, "us-east-1b"),
    "file_systems{}.mount_targets[].subnet_id": (SHARED_EFS, "subnet-0abc12345"),
    "file_systems{}.clients.cidr_blocks": (SHARED_EFS, ["10.1.0.0/16"]),
    "file_systems{}.clients.security_group_ids": (SHARED_EFS, ["sg-0123456789abcdef0"]),
    "file_systems{}.performance_mode": (SHARED_EFS, "maxIO"),
    "file_systems{}.throughput_mode": (SHARED_EFS, "elastic"),
    "file_systems{}.encrypted": (SHARED_EFS, False),
    "file_systems{}.kms_key_arn": (SHARED_EFS, KEY_ARN),
    "file_systems{}.tags": (SHARED_EFS, {"team": "db"}),
    "file_systems{}.iam.role_name": (SHARED_EFS, "other"),
    "file_systems{}.iam.required": (
        None,
        "needs the mount flag iam of its volumes: tests/components/test_shared_file_system.py",
    ),
    "file_systems{}.iam.root_access": (SHARED_EFS, True),
    "file_systems{}.snapshots": (SHARED_EFS, ["weekly"]),
    "file_systems{}.protect": (SHARED_EFS, False),
    "file_systems{}.moved_from": (SHARED_EFS, "old"),
    "plugins[].id": (ZONED, "aws-ebs9"),
    "plugins[].driver": (ZONED, "aws-efs"),
    "plugins[].aws_region": (IDENTITY, "us-west-2"),
    "plugins[].nomad_region": (EBS, "eu"),
    "plugins[].namespace": (EBS, "storage"),
    "plugins[].datacenters": (EBS, ["dc2"]),
    "plugins[].node_pool": (EBS, "all"),
    "plugins[].job_ids.controller": (EBS, "plugin-aws-ebs-controller"),
    "plugins[].job_ids.node": (EBS, "plugin-aws-ebs-nodes"),
    "plugins[].job_ids.monolith": (HOSTPATH, "plugin-hostpath"),
    "plugins[].availability_zone": (ZONED, "us-east-1b"),
    "plugins[].constraints[].attribute": (EBS, "${meta.storage}"),
    "plugins[].constraints[].operator": (EBS, "!="),
    "plugins[].constraints[].value": (EBS, "other"),
    "plugins[].priority": (EBS, 81),
    "plugins[].config": (HOSTPATH, {"state_dir": "/srv/csi"}),
    "plugins[].credentials.nomad_variable": (VARIABLE, "nomad/jobs/other"),
    "plugins[].credentials.vault.path": (VAULT, "secret/data/other"),
    "plugins[].credentials.vault.role": (VAULT, "storage"),
    "plugins[].credentials.workload_identity.role_arn": (IDENTITY, "arn:aws:iam::123456789012:role/other"),
    "plugins[].credentials.workload_identity.audience": (IDENTITY, "aws"),
    "plugins[].iam.role_name": (EBS, "other"),
    "plugins[].iam.create_volumes": (EBS, True),
    "plugins[].iam.kms_key_arns": (EBS, [KEY_ARN]),
    "plugins[].iam.volume_ids": (EBS, ["vol-0123456789abcdef0"]),
    "plugins[].controller.count": (EBS, 3),
    "plugins[].controller.resources.cpu_mhz": (EBS, 51),
    "plugins[].controller.resources.memory_mib": (EBS, 33),
    "plugins[].controller.resources.memory_max_mib": (EBS, 65),
    "plugins[].controller.task_driver.name": (PROCESS, "exec"),
    "plugins[].controller.task_driver.command": (PROCESS, "/opt/other"),
    "plugins[].controller.task_driver.arguments": (PROCESS, ["run"]),
    "plugins[].controller.task_driver.client_data_dir": (PROCESS, "/srv/nomad"),
    "plugins[].node.resources.cpu_mhz": (EBS, 51),
    "plugins[].node.resources.memory_mib": (EBS, 33),
    "plugins[].node.resources.memory_max_mib": (EBS, 65),
    "plugins[].monolith.job_type": (HOSTPATH, "service"),
    "plugins[].monolith.count": (SERVICE, 4),
    "plugins[].monolith.resources.cpu_mhz": (HOSTPATH, 51),
    "plugins[].monolith.resources.memory_mib": (HOSTPATH, 33),
    "plugins[].monolith.resources.memory_max_mib": (HOSTPATH, 65),
    "plugins[].task_driver.name": (EBS, "podman"),
    "plugins[].task_driver.command": (PROCESS, "/opt/other"),
    "plugins[].task_driver.arguments": (PROCESS, ["run"]),
    "plugins[].task_driver.client_data_dir": (PROCESS, "/srv/nomad"),
    "plugins[].host_network": (EBS, True),
    "plugins[].image": (EBS, "registry.example/ebs:v1.16.0"),
    "plugins[].arguments_checked": (None, "it lets a plugin run an image, and is no part of the job"),
    "plugins[].image_registry": (EBS, "mirror.example"),
    "plugins[].image_digest": (EBS, f"sha256:{'0' * 64}"),
    "plugins[].registry_credentials.nomad_variable": (VARIABLE, "nomad/jobs/other"),
    "plugins[].registry_credentials.vault.path": (REGISTRY, "secret/data/other"),
    "plugins[].registry_credentials.vault.role": (REGISTRY, "storage"),
    "plugins[].extra_arguments.controller": (EBS, ["--batching=true"]),
    "plugins[].extra_arguments.node": (EBS, ["--legacy-xfs=true"]),
    "plugins[].extra_arguments.monolith": (HOSTPATH, ["--attach-limit=3"]),
    "plugins[].extra_tags": (EBS, {"team": "db"}),
    "plugins[].metrics_port": (EBS, 9100),
    "plugins[].environment": (EBS, {"AWS_EC2_ENDPOINT": "http://127.0.0.1"}),
    "plugins[].resources.cpu_mhz": (IDENTITY, 51),
    "plugins[].resources.memory_mib": (IDENTITY, 33),
    "plugins[].resources.memory_max_mib": (IDENTITY, 65),
    "plugins[].restart.attempts": (EBS, 4),
    "plugins[].restart.interval_s": (EBS, 600),
    "plugins[].restart.delay_s": (EBS, 16),
    "plugins[].update.max_parallel": (EBS, 2),
    "plugins[].update.min_healthy_time_s": (EBS, 11),
    "plugins[].update.healthy_deadline_s": (EBS, 301),
    "plugins[].update.auto_revert": (EBS, True),
    "plugins[].log_verbosity": (EBS, 5),
    "plugins[].log_level": (DEMOCRATIC, "debug"),
    "plugins[].health_timeout_s": (EBS, 61),
    "plugins[].verify.evidence": (EBS, "csi"),
    "plugins[].verify.on_nodes.command": (ASKED, "/opt/nomad-csi"),
    "plugins[].verify.on_nodes.image": (ASKED, "registry.example/nomad-csi:1"),
    "plugins[].verify.on_nodes.state_dir": (ASKED, "/srv/other"),
    "plugins[].verify.on_nodes.timeout_s": (ASKED, 90),
    "plugins[].verify.timeout_s": (EBS, 301),
    "plugins[].verify.stable_s": (EBS, 4),
    "plugins[].verify.min_healthy_percent": (EBS, 50),
    "plugins[].verify.min_healthy_per_zone": (EBS, 2),
    "plugins[].adopt": (EBS, True),
    "volumes[].id": (EBS, "db"),
    "volumes[].namespace": (EBS, "prod"),
    "volumes[].name": (EBS, "The database"),
    "volumes[].plugin_id": (EXISTING, "aws-ebs1"),
    "volumes[].ebs.availability_zone": (EBS, "us-east-1b"),
    "volumes[].ebs.size_gib": (EBS, 41),
    "volumes[].ebs.volume_type": (EBS, "io2"),
    "volumes[].ebs.iops": (EBS, 4000),
    "volumes[].ebs.throughput_mib_per_s": (EBS, 250),
    "volumes[].ebs.encrypted": (EBS, False),
    "volumes[].ebs.kms_key_arn": (EBS, KEY_ARN),
    "volumes[].ebs.tags": (EBS, {"team": "db"}),
    "volumes[].efs.mount_targets[].availability_zone": (EFS, "us-east-1b"),
    "volumes[].efs.mount_targets[].subnet_id": (EFS, "subnet-0abc12345"),
    "volumes[].efs.clients.cidr_blocks": (EFS, ["10.1.0.0/16"]),
    "volumes[].efs.clients.security_group_ids": (EFS, ["sg-0123456789abcdef0"]),
    "volumes[].efs.performance_mode": (EFS, "maxIO"),
    "volumes[].efs.throughput_mode": (EFS, "elastic"),
    "volumes[].efs.encrypted": (EFS, False),
    "volumes[].efs.kms_key_arn": (EFS, KEY_ARN),
    "volumes[].efs.tags": (EFS, {"team": "db"}),
    "volumes[].efs.file_system": (SHARED_EFS, "other"),
    "volumes[].efs.file_system_id": (EFS_ELSEWHERE, "fs-0fedcba9876543210"),
    "volumes[].efs.iam.role_name": (EFS_IAM, "other"),
    "volumes[].efs.iam.required": (EFS_IAM, True),
    "volumes[].efs.access_point.path": (EFS, "/other"),
    "volumes[].efs.access_point.uid": (EFS, 1001),
    "volumes[].efs.access_point.gid": (EFS, 1001),
    "volumes[].efs.access_point.permissions": (EFS, "0700"),
    "volumes[].existing.external_id": (EXISTING, "vol-0123456789abcdef1"),
    "volumes[].existing.availability_zone": (EXISTING, "us-east-1b"),
    "volumes[].create.capacity_min_gib": (CREATED, 11),
    "volumes[].create.capacity_min_bytes": (EXACT, 104_857_601),
    "volumes[].create.capacity_max_gib": (CREATED, 20),
    "volumes[].create.capacity_max_bytes": (EXACT, 2**31 + 1),
    "volumes[].create.availability_zone": (CREATED, "us-east-1b"),
    "volumes[].create.clone_id": (CREATED, "vol-0123456789abcdef0"),
    "volumes[].create.snapshot_id": (CREATED, "snap-0123456789abcdef0"),
    "volumes[].create.on_destroy": (CREATED, "keep"),
    "volumes[].create.deletion.endpoint": (HOSTPATH, "/run/other.sock"),
    "volumes[].create.deletion.aws_region": (CREATED, "us-east-2"),
    "volumes[].create.deletion.accept_unguarded": (CREATED, True),
    "volumes[].create.deletion.skip_final_snapshot": (CREATED, True),
    "volumes[].capabilities[].access_mode": (HOSTPATH, "multi-node-multi-writer"),
    "volumes[].capabilities[].attachment_mode": (EBS, "block-device"),
    "volumes[].mount_options.fs_type": (EBS, "xfs"),
    "volumes[].mount_options.mount_flags": (EBS, ["noatime"]),
    "volumes[].topologies": (CREATED, [{"topology.ebs.csi.aws.com/zone": "us-east-1b"}]),
    "volumes[].context": (EXISTING, {"partition": "1"}),
    "volumes[].parameters": (CREATED, {"type": "io2", "iops": "1000"}),
    "volumes[].secrets": (EXISTING, {"key": "value"}),
    "volumes[].snapshots": (SNAPSHOTS, []),
    "volumes[].shares_storage": (EFS, True),
    "volumes[].protect": (EBS, False),
    "volumes[].moved_from": (EBS, "old"),
    "volumes[].adopt": (EBS, True),
}
"""
A spec in which the field can be changed, and its other value, by the field's path.

Instead of a spec ``None``, with the reason why the field changes nothing alone.
"""


def models(annotation) -> Iterator[type[pydantic.BaseModel]]:
    """Yield the models that a value of *annotation* may be of."""
    if isinstance(annotation, type) and issubclass(annotation, pydantic.BaseModel):
        yield annotation
    for part in typing.get_args(annotation):
        yield from models(part)


def paths(kind, prefix=""):
    """Yield the path of each field of *kind* that is no model itself. A driver's description is the catalogue's test."""
    marks = {tuple: "[]", dict: "{}"}
    for name, field in kind.model_fields.items():
        inner = [found for found in models(field.annotation) if found is not model.DriverSpec]
        if inner:
            yield from paths(inner[0], f"{prefix}{name}{marks.get(typing.get_origin(field.annotation), '')}.")
        else:
            yield f"{prefix}{name}"


def changed(spec, path, value):
    """Return *spec* with *value* at *path*: in the first item of each list, and of each mapping of names."""
    spec = copy.deepcopy(spec)
    inside = spec
    *way, last = path.split(".")
    for step in way:
        inside = inside.setdefault(step.rstrip("[]{}"), [{}] if step.endswith("[]") else {})
        if step.endswith("[]"):
            inside = inside[0]
        elif step.endswith("{}"):
            inside = next(iter(inside.values()))
    inside[last] = value
    return spec


@pytest.fixture(scope="module")
def known():
    """The resources of each spec that is changed, by its text."""
    return {}


@pytest.fixture
def register(new_cloud, ready_stack, monkeypatch):
    """Return a function that registers the resources of a spec, and gives what they were registered with."""
    requests = []
    register = mocks.MockMonitor.RegisterResource

    def record(self, request):
        # A component has its arguments as inputs, whatever becomes of them.
        inputs = pulumi.runtime.rpc.deserialize_properties(request.object) if request.custom else {}
        aliases = sorted(alias.SerializeToString().hex() for alias in request.aliases)
        text = json.dumps(inputs, sort_keys=True, default=str)
        requests.append((request.type, request.name, request.protect, aliases, text))
        return register(self, request)

    monkeypatch.setattr(mocks.MockMonitor, "RegisterResource", record)

    def declare(spec):
        requests.clear()
        cloud = new_cloud()
        cloud.recorder.file_systems = {"data": "fs-0123456789abcdef0", "other": "fs-0fedcba9876543210"}
        ready_stack(cloud, spec, renderTo="out")
        return sorted(made for made in requests if made[0] != "pulumi:pulumi:Stack")  # of a process, once

    return declare


def test_every_field_of_the_spec_is_in_the_table():
    """A field that is added is changed here, too, or has its reason."""
    assert list(CHANGES) == list(paths(model.StorageSpec))


def test_equal_specs_make_equal_resources(register):
    """So a difference below is one of the field."""
    assert register(yaml.safe_load(EBS)) == register(yaml.safe_load(EBS))


@pytest.mark.parametrize("path", [path for path, (base, _) in CHANGES.items() if base])
def test_field_reaches_a_resource(register, known, path):
    """A value that is accepted and reaches nothing would be dropped in silence."""
    base, value = CHANGES[path]
    spec = yaml.safe_load(base)

    if base not in known:
        known[base] = register(spec)

    assert register(changed(spec, path, value)) != known[base]
