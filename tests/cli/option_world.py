"""What commands meet while their options are tried: files, a cluster with plugins and volumes, and other programs."""

import contextlib
import itertools
import json
import subprocess
import types
from pathlib import Path
from unittest import mock

import yaml

from nomad_csi.diagnosis import doctor, rounds, verification
from nomad_csi.hcl import documents, environment
from nomad_csi.jobs import apply as applied_plugins
from nomad_csi.nomad import jobs
from nomad_csi.plan import storage
from nomad_csi_sandbox.nomad import state
from nomad_csi_sandbox.session import report
from nomad_csi_sandbox.session import session as sandbox
from tests import emulated_agent

SOCKET = "/run/csi.sock"
DISK = "vol-00000000000000001"
SPEC = """plugins:
- {{id: efs, driver: aws-efs, aws_region: us-east-1}}
- {{id: ebs, driver: aws-ebs, aws_region: us-east-1, controller: {{count: 1}}}}
volumes:
- id: web
  namespace: prod
  plugin_id: efs
  existing: {{external_id: "fs-0123456789abcdef0:/web"}}
  capabilities: [{{access_mode: multi-node-multi-writer, attachment_mode: file-system}}]
  mount_options: {{mount_flags: [tls]}}
- id: logs
  plugin_id: efs
  existing: {{external_id: "fs-0123456789abcdef0:/logs"}}
  context: {{encryptInTransit: "true"}}
- id: scratch
  namespace: prod
  plugin_id: ebs
  create: {{capacity_min_gib: {size}, availability_zone: us-east-1a}}
  parameters: {{type: gp3}}
"""
SMALL = SPEC.format(size=5)
ON_A_DISK = "- id: disk\n  namespace: prod\n  plugin_id: ebs\n  ebs: {availability_zone: us-east-1a, size_gib: 8}\n"
JOB = """job "san-node" {
  type = "system"
  group "g" {
    task "t" {
      driver = "docker"
      config { image = "registry.example/san-csi:1.2.3" }
      csi_plugin {
        id        = "san"
        type      = "node"
        mount_dir = "/run/csi"
      }
    }
  }
}
"""
TERRAFORM = {
    "nomad_csi_volume_registration": {
        "volume_id": "mysql",
        "namespace": "prod",
        "plugin_id": "aws-ebs0",
        "external_id": "vol-0123456789abcdef0",
        "capability": [{"access_mode": "single-node-writer", "attachment_mode": "file-system"}],
        "secrets": {"key": "canary-56"},
    },
    "aws_ebs_volume": {
        "id": "vol-0123456789abcdef0",
        "availability_zone": "us-east-1b",
        "size": 40,
        "type": "gp3",
        "encrypted": True,
        "arn": "arn:aws:ec2:us-east-1:123456789012:volume/vol-0123456789abcdef0",
    },
}
"""A resource of each type, by its attributes."""


def _volume_file(volume_id, more=""):
    return (
        f'id = "{volume_id}"\nname = "{volume_id}"\ntype = "csi"\nplugin_id = "efs"\n'
        f'external_id = "fs-0123456789abcdef0:/{volume_id}"\ncapability {{\n'
        f'  access_mode = "multi-node-multi-writer"\n  attachment_mode = "file-system"\n}}\n{more}'
    )


def _template(name):
    return environment.templates_folder().joinpath(name).read_text()


FILES = {
    "storage.yaml": SMALL + ON_A_DISK,
    "small.yaml": SMALL,
    "grown.yaml": SPEC.format(size=7),
    "named.yaml": f"out: edited\n{SMALL}{ON_A_DISK}",
    "outputs.json": json.dumps({"externalIds": {"prod/disk": "vol-0123456789abcdef0"}}),
    "secrets.yaml": "default/logs: {key: canary-95}\nprod/web: {key: canary-90}\nprod/scratch: {key: canary-91}\n",
    "of-web.yaml": "prod/web: {key: canary-90}\n",
    "request.json": '{"volume_id": "vol-9", "secrets": {"key": "canary-92"}}',
    "of-request.yaml": "key: canary-93\n",
    "web.volume.hcl": _volume_file("web", 'namespace = "prod"\nmount_options {\n  mount_flags = ["tls"]\n}\n'),
    "logs.volume.hcl": _volume_file("logs"),
    "secret.volume.hcl": _volume_file("logs", 'secrets {\n  key = "[from --secrets]"\n}\n'),
    "new.volume.hcl": _volume_file("new"),
    "data.volume.hcl": _volume_file("data", 'parameters {\n  tier = "gold"\n}\n'),
    "variable.nomad.hcl": 'variable "role" {}\n' + JOB.replace('"system"', "var.role"),
    "role.hcl": 'role = "system"\n',
    "broken/job.nomad.hcl.j2": "{{ job.nothing | text }}",
    "own/job.nomad.hcl.j2": _template("job.nomad.hcl.j2") + "# of our own\n",
    "own/volume.volume.hcl.j2": _template("volume.volume.hcl.j2") + "# of our own\n",
    "own/Pulumi.yaml": "name: own\nruntime: yaml\n",
    "other/Pulumi.yaml": "name: other\nruntime: python\n",
    "edited/jobs/efs-node.nomad.hcl": "# Rendered by nomad-csi. Change the spec and render again. Content 0123456789abcdef\nx\n",
    "edited/volumes/default/old.volume.hcl": "# Rendered by nomad-csi. Change the spec and render again. Content 0123456789abcdef\nx\n",
    "client/csi/plugins/a1/empty": "",
    "terraform.tfstate": json.dumps(
        {
            "version": 4,
            "terraform_version": "1.11.4",
            "resources": [
                {"mode": "managed", "type": kind, "name": "mysql", "instances": [{"attributes": attributes}]}
                for kind, attributes in TERRAFORM.items()
            ],
        }
    ),
    "state.json": json.dumps(
        {
            "deployment": {
                "resources": [
                    {
                        "type": "nomad-csi:index:CreatedVolume",
                        "outputs": {"madeStorage": external_id, "namespace": "prod", "volumeId": volume_id},
                    }
                    for volume_id, external_id in (("scratch", DISK), ("gone", "vol-9"))
                ]
            }
        }
    ),
    "smoke.json": json.dumps(
        {
            "namespace": "prod",
            "volume_id": "web",
            "status": "failed",
            "verified": ["canary-94 was written"],
            "not_verified": ["that it is there afterwards"],
            "left_behind": ["job nomad-csi-smoke"],
        }
    ),
}
"""In the directory of each run."""

RESOURCES = [
    {"urn": "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev", "type": "pulumi:pulumi:Stack"},
    {
        "urn": "urn:pulumi:dev::shop::nomad-csi:index:PluginJob::web",
        "type": "nomad-csi:index:PluginJob",
        "id": "default/j",
        "inputs": {"jobId": "j", "namespace": "default", "hcl": 'job "j" {}\n'},
    },
]
STEP = {
    "op": "create",
    "urn": "urn:pulumi:dev::shop::nomad-csi:index:VolumeRegistration::web",
    "newState": {
        "type": "nomad-csi:index:VolumeRegistration",
        "inputs": {
            "namespace": "prod",
            "volumeId": "web",
            "pluginId": "efs",
            "externalId": "fs-0123456789abcdef0:/web",
        },
    },
}
IMPORTS = {"resources": [{"type": "nomad-csi:index:VolumeRegistration", "name": "web", "id": "<PLACEHOLDER>"}]}


@contextlib.contextmanager
def pulumi(agent):
    """Answer what a command asks of ``pulumi``."""

    def run(words, *, cwd, **_):
        asked = [word for word in words[1:] if not word.endswith("imports.json")]
        agent.messages.append(f"pulumi {' '.join(asked)} in {cwd}")
        if "preview" in words:
            Path(words[words.index("--import-file") + 1]).write_text(json.dumps(IMPORTS))
            return types.SimpleNamespace(returncode=0, stdout=json.dumps({"steps": [STEP]}), stderr="")
        kept = RESOURCES[:1] if any("state delete" in each for each in agent.messages) else RESOURCES
        stdout = json.dumps({"version": 3, "deployment": {"resources": kept}})
        return types.SimpleNamespace(returncode=0, stdout=stdout, stderr="")

    with mock.patch.object(subprocess, "run", run):
        yield


@contextlib.contextmanager
def session(agent):
    """Record what a command has the sandbox do."""

    class Session:
        def __init__(self, project):
            agent.messages.append(f"sandbox of {project}")

        def __getattr__(self, name):
            def call(*words, **more):
                agent.messages.append(f"{name} {words} {more}")
                return {"NOMAD_ADDR": "http://x"} if name == "shell_variables" else 0

            return call

    def shown(_session, **how):
        agent.messages.append(f"shows its report {how}")
        return 0

    with mock.patch.object(sandbox, "Session", Session), mock.patch.object(report, "show", shown):
        yield


def healthy(agent):
    """Record which plugins are run before volumes are applied."""

    def start(_client, planned, requester, *, templates, report):
        names = [each.expectation.plugin_id for each in planned]
        agent.messages.append(f"runs {names} for {requester} with templates {templates}")
        report("all are healthy")

    return mock.patch.object(applied_plugins, "start", start)


def untagged(_agent):
    """Have a disk that lacks the tag of the cluster."""
    return mock.patch.object(doctor.DoctorReport, "untagged", (DISK,))


@contextlib.contextmanager
def two_rounds(agent):
    """End a watch after two rounds, and record what it waits for."""
    run_one, left = rounds.Rounds.run, [2]

    def run(of, **how):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return run_one(of, **how)

    clock = mock.MagicMock()
    clock.now.side_effect = itertools.count(step=4)
    clock.sleep.side_effect = lambda seconds: agent.messages.append(f"waits {seconds:.0f} s")
    with mock.patch.object(rounds.Rounds, "run", run), mock.patch.object(verification.Verifier, "clock", clock):
        yield


def running(agent):
    """Run all plugins, with all volumes registered, a claim on one, and one on a disk that AWS knows."""
    (agent.folder / "small.yaml").write_text(SMALL)
    with healthy(agent):
        code, _, err = emulated_agent.typed(agent.folder, "apply", "small.yaml", "--owner", "shop/prod", "--yes")
    assert code == 0, err
    known = agent.cluster.state
    node = next(iter(known.nodes.values()))
    driver = {"Detected": True, "Healthy": True, "HealthDescription": ""}
    privileged = {"driver.docker.privileged.enabled": "true", "driver.docker.volumes.enabled": "true"}
    node["Drivers"] = {"docker": driver | {"Attributes": privileged}, "raw_exec": driver | {"Attributes": {}}}
    node["Attributes"]["platform.aws.placement.availability-zone"] = "us-east-1a"
    for plugin in storage.plan_document(yaml.safe_load(SMALL)).plugins:
        for job in plugin.jobs:
            _run(agent, node, plugin.expectation, job)
    stray = {"AllocID": "stray", "ControllerInfo": dict.fromkeys(emulated_agent.ABILITIES, False)}
    efs = known.plugins["efs"]
    efs.controllers = {key: info | stray for key, info in efs.nodes.items()}
    node["CSINodePlugins"] = {
        plugin_id: {"Healthy": True, "NodeInfo": record.nodes[node["ID"]]["NodeInfo"]}
        for plugin_id, record in known.plugins.items()
    }
    claim = {"Mode": "write", "AccessMode": "single-node-writer", "AttachmentMode": "file-system", "NodeID": "n"}
    known.volumes["default", "logs"].claims["gone"] = claim
    known.volumes["prod", "scratch"].spec["ExternalID"] = DISK
    known.variables["prod", "nomad-csi/volumes/scratch"]["Items"]["external_id"] = DISK


def _run(agent, node, expected, job):
    """Run a *job* of a plugin, healthy on the *node*."""
    known, client, source = agent.cluster.state, agent.client(), documents.job_file(job)
    jobs.register(client, jobs.parse(client, source), source=source, enforce_index=None)
    stored = known.jobs[job.namespace, job.job_id].spec
    record = known.plugins[expected.plugin_id]
    record.provider, record.version = expected.provider, expected.version
    info = {
        "Healthy": True,
        "HealthDescription": "healthy",
        "Provider": expected.provider,
        "ProviderVersion": expected.version,
        "PluginID": expected.plugin_id,
        "AllocID": job.job_id,
        "UpdateTime": "",
        "AllocUpdateTime": 0,
    }
    controller = info | {"ControllerInfo": dict.fromkeys(emulated_agent.ABILITIES, True)}
    if job.role == "controller":
        record.controllers = {node["ID"]: controller}
    else:
        segments = {"topology.ebs.csi.aws.com/zone": "us-east-1a"} if job.plugin_id == "ebs" else {}
        instance = {"ID": "i-1", "MaxVolumes": 25, "AccessibleTopology": {"Segments": segments}}
        record.nodes = {node["ID"]: info | {"NodeInfo": instance}}
    group = stored["TaskGroups"][0]
    known.allocs[job.job_id] = state.Allocation(
        alloc_id=job.job_id,
        eval_id="",
        job=stored,
        group=group,
        spec={},
        index=0,
        node_id=node["ID"],
        node_name=node["Name"],
        create_index=20,
        create_ns=1,
        modify_ns=2,
        client_status="running",
        tasks={each["Name"]: state.TaskState(state="running", started_ns=3) for each in group["Tasks"]},
    )


def without_ready_snapshots(agent):
    """As `running`, with a controller whose snapshots are not ready."""
    running(agent)
    agent.disks.is_ready = False


def with_snapshots(agent):
    """As `running`, with snapshots of two volumes."""
    running(agent)
    for external_id in (DISK, "vol-2"):
        agent.disks.create_snapshot(external_id, {"Name": external_id, "Secrets": {}, "Parameters": {}})
