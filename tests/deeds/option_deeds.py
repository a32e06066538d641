"""
Every option of every command, once, with a value that is not its default: what differs from the run without it.

`tests/cli/test_options_do_something.py` compares the rows with the options that there are, and refuses one without effect.
"""

import contextlib
import difflib
import functools
import hashlib
import io
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import threading
import time
import types
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from unittest import mock

from nomad_csi import cli
from nomad_csi.cli import plugin as plugin_command
from nomad_csi.csi.v1 import csi_pb2
from nomad_csi.diagnosis import doctor, rounds, verification
from nomad_csi.jobs import apply as applied_plugins
from nomad_csi.nomad import transport
from nomad_csi.pulumi_state import stack_cli
from nomad_csi.render import environment
from nomad_csi_sandbox.session import report, session
from tests.deeds import agent as agents
from tests.deeds import aws_deeds, command_deeds, csi_answers, file_deeds, verify_deeds
from tests.deeds import plugin as plugins
from tests.deeds.deeds import Case

LONG = 220
"""Lines of more characters are cut, and end in a digest of the rest."""

SHOWN = 14
"""Of more lines a digest is shown."""

SPEC = command_deeds.SPEC.format(folder="web", size=5)
OUTPUTS = json.dumps({"externalIds": {"prod/disk": "vol-0123456789abcdef0"}})
STORAGE = f"""{SPEC}- id: disk
  namespace: prod
  plugin_id: ebs
  ebs: {{availability_zone: us-east-1a, size_gib: 8}}
"""
GIVEN = {
    "storage.yaml": STORAGE,
    "outputs.json": OUTPUTS,
    "secrets.yaml": "default/logs: {key: canary-95}\nprod/web: {key: canary-90}\nprod/scratch: {key: canary-91}\n",
    "of-web.yaml": "prod/web: {key: canary-90}\n",
    "request.json": '{"volume_id": "vol-9", "secrets": {"key": "canary-92"}}',
    "of-request.yaml": "key: canary-93\n",
    "web.volume.hcl": 'id = "web"\nname = "web"\nnamespace = "prod"\ntype = "csi"\nplugin_id = "efs"\n'
    'external_id = "fs-0123456789abcdef0:/web"\ncapability {\n  access_mode = "multi-node-multi-writer"\n'
    '  attachment_mode = "file-system"\n}\nmount_options {\n  mount_flags = ["tls"]\n}\n',
    "logs.volume.hcl": 'id = "logs"\nname = "logs"\ntype = "csi"\nplugin_id = "efs"\n'
    'external_id = "fs-0123456789abcdef0:/logs"\ncapability {\n  access_mode = "multi-node-multi-writer"\n'
    '  attachment_mode = "file-system"\n}\n',
    "small.yaml": SPEC,
    "grown.yaml": command_deeds.SPEC.format(folder="web", size=7),
    "broken/job.nomad.hcl.j2": "{{ job.nothing | text }}",
    "data.volume.hcl": file_deeds.VOLUME,
    "variable.nomad.hcl": 'variable "role" {}\n' + file_deeds.OWN["nodes.nomad.hcl"].replace('"system"', "var.role"),
    "role.hcl": 'role = "system"\n',
    "edited/jobs/efs-node.nomad.hcl": "# Rendered by nomad-csi. Change the spec and render again. Content 0123456789abcdef\nx\n",
    "secret.volume.hcl": 'id = "logs"\nname = "logs"\ntype = "csi"\nplugin_id = "efs"\n'
    'external_id = "fs-0123456789abcdef0:/logs"\ncapability {\n  access_mode = "multi-node-multi-writer"\n'
    '  attachment_mode = "file-system"\n}\nsecrets {\n  key = "[from --secrets]"\n}\n',
    "new.volume.hcl": 'id = "new"\nname = "new"\ntype = "csi"\nplugin_id = "efs"\n'
    'external_id = "fs-0123456789abcdef0:/new"\ncapability {\n  access_mode = "multi-node-multi-writer"\n'
    '  attachment_mode = "file-system"\n}\n',
    "own/job.nomad.hcl.j2": environment.templates_folder().joinpath("job.nomad.hcl.j2").read_text() + "# of our own\n",
    "own/volume.volume.hcl.j2": environment.templates_folder().joinpath("volume.volume.hcl.j2").read_text()
    + "# of our own\n",
    "other/README": "another directory",
    "terraform.tfstate": json.dumps(file_deeds.STATE),
    "state.json": json.dumps(
        {
            "deployment": {
                "resources": [
                    {
                        "type": "nomad-csi:index:CreatedVolume",
                        "outputs": {"madeStorage": storage, "namespace": "prod", "volumeId": volume_id},
                    }
                    for volume_id, storage in (("scratch", aws_deeds.DISKS[0]), ("gone", "vol-9"))
                ]
            }
        }
    ),
    "smoke.json": json.dumps(
        {
            "namespace": "prod",
            "volume_id": "web",
            "status": "failed",
            "verified": ["a file was written"],
            "not_verified": ["that it is there afterwards"],
            "left_behind": ["job nomad-csi-smoke"],
        }
    ),
}
CONNECTION = {
    "--address": "http://nomad.example:4646",
    "--namespace": "storage",
    "--region": "eu",
    "--ca-cert": "ca.pem",
    "--ca-path": "authorities",
    "--client-cert": "own.pem",
    "--client-key": "own.key",
    "--tls-server-name": "server.eu.nomad",
    "--insecure-http": "",
}
"""All at once: what a client is made with shows each."""

SHARED = ("-C", "--quiet", "--verbose", "--color")
"""Of every command, and run with one, which is enough: one function adds them."""


@dataclass(frozen=True)
class Command:
    """A command with a row for each option: the words of its run, in which ``+`` stands for the usual ones."""

    usual: str
    """Arguments of the run without options."""

    rows: dict
    """By option, ``WORDS => MORE``: the run of both is compared with that of *WORDS*, in which ``+`` are the usual ones."""

    before: object = None
    around: object = contextlib.nullcontext
    """Called with the agent: replaces other programs while the command runs."""

    calls: dict = field(default_factory=dict)
    """Answers of CSI plugins that differ from those of a healthy one."""


SOCKET = csi_answers.SOCKET
STACK = "urn:pulumi:dev::shop::"
RESOURCES = [
    {"urn": f"{STACK}pulumi:pulumi:Stack::shop-dev", "type": "pulumi:pulumi:Stack"},
    {
        "urn": f"{STACK}nomad-csi:index:PluginJob::web",
        "type": "nomad-csi:index:PluginJob",
        "id": "default/j",
        "inputs": {"jobId": "j", "namespace": "default", "hcl": 'job "j" {}\n'},
    },
]
STEPS = [
    {
        "op": "create",
        "urn": f"{STACK}nomad-csi:index:VolumeRegistration::web",
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
]
IMPORTED = {
    "resources": [{"type": "nomad-csi:index:VolumeRegistration", "name": "web", "id": "<PLACEHOLDER>"}],
}


@contextlib.contextmanager
def _pulumi(agent):
    """Answer what a command asks of ``pulumi``."""

    def run(words, *, cwd, timeout, **_):
        agent.messages.append(
            f"pulumi {' '.join(words[1:])} in {cwd} ({timeout:g} s)".replace(_temporary(words), "TMP")
        )
        if "preview" in words:
            Path(words[words.index("--import-file") + 1]).write_text(json.dumps(IMPORTED))
            return types.SimpleNamespace(returncode=0, stdout=json.dumps({"steps": STEPS}), stderr="")
        found = RESOURCES[:1] if any("state delete" in each for each in agent.messages) else RESOURCES
        return types.SimpleNamespace(
            returncode=0, stdout=json.dumps({"version": 3, "deployment": {"resources": found}}), stderr=""
        )

    with (
        mock.patch.object(subprocess, "run", run),
        mock.patch.object(stack_cli.shutil, "which", return_value="/bin/pulumi"),
    ):
        yield


def _temporary(words):
    return next((str(Path(word).parent) for word in words if word.endswith("imports.json")), "nothing")


@contextlib.contextmanager
def _session(agent):
    """Write down what a command has the sandbox do."""

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

    with mock.patch.object(session, "Session", Session), mock.patch.object(report, "show", shown):
        yield


@contextlib.contextmanager
def _unstarted(agent):
    """Write down which plugin is started."""

    def started(script):
        agent.messages.append(f"starts {script}")
        return 0

    with mock.patch.object(plugin_command, "_started", started):
        yield


@contextlib.contextmanager
def _healthy(agent):
    """Write down which plugins are run before volumes are applied."""

    def start(_client, planned, requester, *, templates, report):
        names = [each.expectation.plugin_id for each in planned]
        agent.messages.append(f"runs {names} for {requester} with templates {templates}")
        report("all are healthy")

    with mock.patch.object(applied_plugins, "start", start):
        yield


@contextlib.contextmanager
def _untagged(_agent):
    """Have a disk that lacks the tag of the cluster."""
    with mock.patch.object(doctor.DoctorReport, "untagged", tuple(aws_deeds.DISKS[:1])):
        yield


@contextlib.contextmanager
def _two_rounds(agent):
    """End a watch after two rounds, and write down what it waits."""
    made, left = rounds.Rounds.run, [2]

    def run(of, **how):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return made(of, **how)

    events = mock.MagicMock()
    events.__enter__.return_value = events
    events.wait.side_effect = lambda seconds: agent.messages.append(f"waits {seconds:.0f} s for events")
    with (
        mock.patch.object(rounds.Rounds, "run", run),
        mock.patch.object(verification.Verifier, "events", return_value=events),
    ):
        yield


DELETES = {
    "ValidateVolumeCapabilities": csi_answers.CONFIRMED,
    "CreateSnapshot": csi_answers.SNAPSHOTS["CreateSnapshot"],
    "ListSnapshots": csi_answers.SNAPSHOTS["ListSnapshots"],
    "DeleteVolume": csi_pb2.DeleteVolumeResponse(),
    "ControllerGetCapabilities": csi_answers.can(1, 5, 6),
}
"""A controller that creates, deletes, and makes snapshots."""


def _other_snapshot(agent, _context):
    agent.disks.create_snapshot("vol-2", {"Name": "c", "Secrets": {}, "Parameters": {}})


CALL = f"{SOCKET} ValidateVolumeCapabilities volume_id=v"
DELETION = "prod/scratch --owner shop/prod --delete-data --confirm prod/scratch"
BY_PLUGIN = f"{DELETION} --no-aws --endpoint {SOCKET} --state state.json"
UNKNOWN = "prod/gone --no-aws --owner shop/prod --delete-data --confirm prod/gone"
HCL_EBS = "new --hcl --storage ebs --aws-region us-east-1"
APPLIED = "storage.yaml --owner shop/prod --yes --stack-output outputs.json"
SMALL = "small.yaml"


def _world(agent, context):
    """Have all plugins run, with a claim on a volume, storage of EBS that AWS knows, and other instructions for logs."""
    verify_deeds.run_jobs(agent, context)
    known = agent.cluster.state
    command_deeds._claim("default", "logs")(agent, context)
    known.volumes["prod", "scratch"].spec["ExternalID"] = aws_deeds.DISKS[0]
    known.variables["prod", "nomad-csi/volumes/scratch"]["Items"]["external_id"] = aws_deeds.DISKS[0]
    efs = known.plugins["efs"]
    efs.controllers = {
        key: info | {"AllocID": "stray", "ControllerInfo": dict.fromkeys(agents.ABILITIES, False)}
        for key, info in efs.nodes.items()
    }
    for info in known.plugins["ebs"].controllers.values():
        info["ControllerInfo"] = dict.fromkeys(agents.ABILITIES, True)
    for node in known.nodes.values():
        node["Drivers"]["docker"]["Attributes"] = {
            "driver.docker.privileged.enabled": "true",
            "driver.docker.volumes.enabled": "true",
        }
        node["CSINodePlugins"] = {
            plugin_id: {"Healthy": True, "NodeInfo": record.nodes[node["ID"]]["NodeInfo"]}
            for plugin_id, record in known.plugins.items()
        }
        node["Drivers"]["raw_exec"] = {"Detected": True, "Healthy": True, "HealthDescription": "", "Attributes": {}}


COMMANDS = {
    "init": Command(
        "new --hcl --storage csi-hostpath",
        {
            "--dry-run": "+ => --dry-run",
            "--pulumi": "+ => = new --pulumi yaml --storage csi-hostpath",
            "--hcl": "new --pulumi yaml --storage csi-hostpath => = new --hcl --storage csi-hostpath",
            "--stack": "new --pulumi python --storage csi-hostpath => --stack live",
            "--storage": "+ => --storage csi-driver-nfs",
            "--aws-region": "new --hcl --storage efs --file-system-id fs-0123456789abcdef9 --aws-region us-east-1 => = new --hcl --storage efs --file-system-id fs-0123456789abcdef9 --aws-region eu-west-3",
            "--zone": f"{HCL_EBS} --role-name nodes --zone us-east-1a => --zone us-east-1b",
            "--role-name": f"{HCL_EBS} --zone us-east-1a --role-name nodes => = {HCL_EBS} --zone us-east-1a --role-name others",
            "--client-cidr": "+ => = new --pulumi yaml --storage efs --aws-region us-east-1 --zone us-east-1a --client-cidr 10.8.0.0/16",
            "--file-system-id": "new --hcl --storage efs --aws-region us-east-1 => --file-system-id fs-0123456789abcdef9",
        },
    ),
    "check": Command(
        "storage.yaml",
        {
            "--templates": "+ => --templates broken",
            "--json": "+ => --json",
            "--var": "variable.nomad.hcl => --var role=system",
            "--var-file": "variable.nomad.hcl => --var-file role.hcl",
            "--strict": "data.volume.hcl => --strict",
        },
    ),
    "import": Command(
        "terraform.tfstate",
        {
            "--with-storage": "+ => --with-storage",
            "--aws-region": "+ => --aws-region eu-west-3",
            "--json": "+ => --json",
            "--var": "variable.nomad.hcl => --var role=system",
            "--var-file": "variable.nomad.hcl => --var-file role.hcl",
            "--cluster": "web.volume.hcl => --cluster",
            "--plugin": "--cluster => --plugin efs",
            "--for-pulumi": "+ => = --for-pulumi imports.json",
            "--stack": "--for-pulumi imports.json => --stack live",
            "--project": "--for-pulumi imports.json => --project other",
        },
        before=_world,
        around=_pulumi,
    ),
    "render": Command(
        "storage.yaml --out out --stack-output outputs.json",
        {
            "--stack-output": "storage.yaml --out out => --stack-output outputs.json",
            "--out": "+ => = storage.yaml --out elsewhere --stack-output outputs.json",
            "--templates": "+ => --templates own",
            "--check": "+ => --check",
            "--overwrite": "storage.yaml --out edited --stack-output outputs.json => --overwrite",
            "--json": "+ => --json",
        },
    ),
    "snippet": Command(
        "storage.yaml prod/web", {"--read-only": "+ => --read-only", "--destination": "+ => --destination /x"}
    ),
    "plan": Command(
        "storage.yaml --owner shop/prod --stack-output outputs.json",
        {
            "--stack-output": "storage.yaml --owner shop/prod => --stack-output outputs.json",
            "--out": "+ => --out out",
            "--templates": "+ => --templates own",
            "--owner": "+ => = storage.yaml --owner web/prod --stack-output outputs.json",
            "--json": "+ => --json",
        },
        before=_world,
    ),
    "apply": Command(
        "web.volume.hcl new.volume.hcl --owner shop/prod --yes",
        {
            "--stack-output": "storage.yaml --owner shop/prod --yes => --stack-output outputs.json",
            "--secrets": "+ => --secrets of-web.yaml",
            "--templates": f"{APPLIED} => --templates own",
            "--owner": "+ => = web.volume.hcl new.volume.hcl --owner web/prod --yes",
            "--adopt": "web.volume.hcl new.volume.hcl --owner web/prod --yes => --adopt",
            "--timeout": "grown.yaml prod/scratch --owner shop/prod --yes => --timeout 7m",
            "--dry-run": "+ => --dry-run",
            "--yes": "web.volume.hcl new.volume.hcl --owner shop/prod => --yes",
            "--json": "+ => --json",
            "--verbose": "+ --secrets of-web.yaml => --verbose",
            "-C": "+ => -C other",
        },
        before=_world,
        around=_healthy,
    ),
    "remove": Command(
        "prod/web --owner shop/prod",
        {
            "--job": "+ => --job plugin-efs-nodes --yes",
            "--aws-region": "prod/scratch --owner shop/prod => --aws-region eu-west-1",
            "--no-aws": "prod/scratch --owner shop/prod => --no-aws",
            "--timeout": "logs --owner shop/prod => --timeout 20s",
            "--owner": "+ => = prod/web --owner web/prod",
            "--adopt": "prod/web --owner web/prod => --adopt",
            "--force": "logs --owner shop/prod => --force --yes",
            "--dry-run": "+ => --dry-run",
            "--yes": "logs --owner shop/prod --force => --yes",
            "--forget": "prod/scratch --owner shop/prod => --forget vol-9",
            "--delete-data": "prod/scratch --owner shop/prod => --delete-data",
            "--confirm": "prod/scratch --owner shop/prod --delete-data => --confirm prod/scratch",
            "--endpoint": f"{DELETION} => --endpoint {SOCKET}",
            "--secrets": f"{BY_PLUGIN} => --secrets secrets.yaml",
            "--external-id": f"{UNKNOWN} => --external-id vol-1",
            "--made-by": f"{UNKNOWN} --external-id vol-1 --endpoint {SOCKET} => --made-by ebs",
            "--state": f"{UNKNOWN} --external-id vol-9 --endpoint {SOCKET} --made-by ebs => --state state.json",
            "--accept": f"{UNKNOWN} --external-id vol-9 --endpoint {SOCKET} --made-by ebs --state state.json => --accept unregistered",
            "--skip-final-snapshot": f"{BY_PLUGIN} --accept unguarded => --skip-final-snapshot",
            "--snapshot-timeout": f"{BY_PLUGIN} --accept unguarded => --snapshot-timeout 20s",
            "--json": "+ => --json",
        },
        before=_world,
        calls=DELETES,
    ),
    "snapshot create": Command(
        "prod/scratch --name one",
        {
            "--dry-run": "+ => --dry-run",
            "--name": "+ => = prod/scratch --name two",
            "--parameter": "+ => --parameter kind=fast",
            "--secrets": "+ => --secrets secrets.yaml",
            "--timeout": "+ => --timeout 2s",
            "--json": "+ => --json",
        },
        before=command_deeds._after(command_deeds.CREATE, command_deeds._not_ready),
    ),
    "snapshot list": Command(
        "prod/scratch",
        {"--plugin": "+ => = --plugin ebs", "--json": "+ => --json"},
        before=command_deeds._after(command_deeds.SNAPPED, _other_snapshot),
    ),
    "snapshot delete": Command(
        "snap-1 --made-by ebs --confirm snap-1",
        {
            "--dry-run": "+ => --dry-run",
            "--made-by": "+ => = snap-1 --made-by efs --confirm snap-1",
            "--confirm": "+ => = snap-1 --made-by ebs --confirm snap-2",
            "--external-id": "+ => --external-id vol-1",
            "--json": "+ => --json",
        },
        before=command_deeds.SNAPPED,
    ),
    "verify": Command(
        SMALL,
        {
            "--stack-output": "storage.yaml => --stack-output outputs.json",
            "--strict": "+ => --strict",
            "--stable": "+ => --stable 3s",
            "--color": "+ => --color always",
            "--probe-timeout": "+ --on-nodes => --probe-timeout 7s",
            "--json": "+ => --json",
            "--prometheus": "+ => --prometheus out.prom",
            "--on-nodes": "+ => --on-nodes",
            "--command": "+ --on-nodes => --command /opt/nomad-csi",
            "--image": "+ --on-nodes --state-dir /state => --image example/csi:1",
            "--state-dir": "+ --on-nodes => --state-dir /state",
            "--timeout": "+ --on-nodes => --timeout 20s",
            "--watch": "+ => --watch",
            "--every": "+ --watch => --every 25s",
            "--html": "+ => --html page.html --no-aws",
            "--title": "+ --html page.html --no-aws => --title Storage-of-prod",
            "--smoke": "+ --html page.html --no-aws => --smoke smoke.json",
            "--no-aws": "+ --html page.html => --no-aws",
            "--aws-region": "+ --html page.html => --aws-region eu-west-1",
        },
        before=_world,
        around=_two_rounds,
    ),
    "verify job": Command(
        "storage.yaml",
        {
            "--stack-output": "+ => --stack-output outputs.json",
            "--strict": "+ => --strict",
            "--stable": "+ => --stable 3s",
            "--probe-timeout": "+ => --probe-timeout 7s",
            "--json": "+ => --json",
            "--prometheus": "+ --on-client client-1 => --prometheus /var/lib/out.prom",
            "--command": "+ => --command /opt/nomad-csi",
            "--image": "+ => --image example/csi:1",
            "--cron": "+ => --cron 7,*,*,*,*",
            "--job-id": "+ => --job-id storage-verify",
            "--on-client": "+ => --on-client client-2",
            "--token-variable": "+ => --token-variable nomad/jobs/verify",
        },
    ),
    "doctor": Command(
        "storage.yaml --no-aws",
        {
            "--dry-run": "storage.yaml --aws-region eu-west-1 --fix --yes => --dry-run",
            "--stack-output": "storage.yaml => --stack-output outputs.json",
            "--aws-region": "storage.yaml => --aws-region eu-west-1",
            "--no-aws": "storage.yaml => --no-aws",
            "--json": "+ => --json",
            "--strict": "small.yaml --no-aws => --strict",
            "--fix": "storage.yaml --aws-region eu-west-1 => --fix",
            "--yes": "storage.yaml --aws-region eu-west-1 --fix => --yes",
        },
        before=_world,
        around=_untagged,
    ),
    "claims": Command(
        "",
        {
            "--aws-region": "+ => --aws-region eu-west-1",
            "--no-aws": "+ => --no-aws",
            "--plugin": "+ => --plugin ebs",
            "--json": "+ => --json",
        },
        before=_world,
    ),
    "claims repair": Command(
        "logs --yes --step-timeout 1s",
        {
            "--dry-run": "+ => --dry-run",
            "--from": "+ => --from logs.volume.hcl",
            "--secrets": "+ --from secret.volume.hcl => --secrets secrets.yaml",
            "--stack-output": "prod/disk --yes --step-timeout 1s --from storage.yaml => --stack-output outputs.json",
            "--aws-region": "prod/scratch --yes => --aws-region eu-west-1",
            "--no-aws": "prod/scratch --yes => --no-aws",
            "--step-timeout": "logs --yes => --step-timeout 9s",
            "--yes": "logs --step-timeout 1s => --yes",
            "--quiet": "+ => --quiet",
            "--json": "+ => --json",
        },
        before=_world,
    ),
    "smoke": Command(
        "prod/web",
        {
            "--aws-region": "prod/scratch => --aws-region eu-west-1",
            "--no-aws": "prod/scratch => --no-aws",
            "--task-driver": "+ => --task-driver exec",
            "--image": "+ => --image example/shell:1",
            "--step-timeout": "+ => --step-timeout 9s",
            "--json": "+ => --json",
        },
        before=_world,
    ),
    "drivers": Command("aws-efs", {"--json": "+ => --json"}),
    "csi probe": Command(
        SOCKET,
        {
            "--folder": "+ => = --folder client",
            "--on-nodes": "+ => = --on-nodes efs",
            "--probe-timeout": "+ => --probe-timeout 7s",
            "--expect-name": "+ => --expect-name efs.csi.aws.com",
            "--role": "+ => --role node",
            "--json": "+ => --json",
            "--strict": "+ --volumes-of ebs => --strict",
            "--volumes-of": "+ --probe-timeout 7s => --volumes-of ebs",
            "--secrets": "+ --volumes-of ebs => --secrets secrets.yaml",
            "--command": "--on-nodes efs --print-job => --command /opt/nomad-csi",
            "--image": "--on-nodes efs --state-dir /state --print-job => --image example/csi:1",
            "--state-dir": "--on-nodes efs --print-job => --state-dir /state",
            "--timeout": "--on-nodes efs => --timeout 20s",
            "--print-job": "--on-nodes efs => --print-job",
        },
        before=_world,
        calls={"ValidateVolumeCapabilities": csi_answers.CONFIRMED},
    ),
    "csi call": Command(
        CALL,
        {
            "--request": f"{SOCKET} ValidateVolumeCapabilities => --request request.json",
            "--secrets": "+ => --secrets of-request.yaml",
            "--timeout": "+ => --timeout 7s",
            "--wait-ready": "+ => --wait-ready",
            "--one-page": f"{SOCKET} ListVolumes => --one-page",
            "--show-request": "+ => --show-request",
            "--yes": f"{SOCKET} NodeUnpublishVolume volume_id=v target_path=/x => --yes",
            "--json": "+ => --json",
            "--insecure-http": "10.0.0.9:9000 ValidateVolumeCapabilities --secrets of-request.yaml => --insecure-http",
        },
        calls={
            "ValidateVolumeCapabilities": csi_answers.CONFIRMED,
            "ListVolumes": lambda request: csi_pb2.ListVolumesResponse(
                next_token="" if request.starting_token else "2"
            ),
            "NodeUnpublishVolume": csi_pb2.NodeUnpublishVolumeResponse(),
        },
    ),
    "explain": Command("claim-vanished", {"--json": "+ => --json"}),
    "eject": Command(
        "--out nomad --yes",
        {
            "--out": "+ => = --out elsewhere --yes",
            "--stack": "+ => --stack live",
            "--project": "+ => --project other",
            "--backup": "+ => --backup kept.json",
            "--dry-run": "+ => --dry-run",
            "--yes": "--out nomad => --yes",
            "--json": "+ => --json",
        },
        around=_pulumi,
    ),
    "sandbox up": Command(
        "",
        {
            "--engine": "+ => --engine emulator",
            "--nomad": "+ => --nomad real",
            "--skip-preview": "+ => --skip-preview",
            "--refresh": "+ => --refresh",
        },
        around=_session,
    ),
    "sandbox preview": Command("", {}, around=_session),
    "sandbox down": Command("", {}, around=_session),
    "sandbox status": Command("", {"--env": "+ => --env"}, around=_session),
    "sandbox exec": Command("-- true", {}, around=_session),
    "schema": Command("", {"--stack-config": "+ => --stack-config"}),
    "acl-policy": Command("apply", {"--spec": "+ => --spec storage.yaml", "--namespace": "+ => --namespace storage"}),
    "plugin install": Command(
        "--project other", {"--dry-run": "+ => --dry-run", "--project": "+ => = --project own"}, around=_unstarted
    ),
    "completion": Command("bash", {}),
    "version": Command("", {"--json": "+ => --json"}),
}
"""Where ``=>`` stands, the run before it is what the row is compared with; ``=`` behind it: the other run is whole."""

CONNECTED = {
    **dict.fromkeys(("plan", "apply", "claims", "claims repair", "doctor", "smoke", "verify", "verify job"), "+"),
    **dict.fromkeys(("remove", "snapshot create", "snapshot list", "snapshot delete"), "+"),
    "import": "--cluster",
    "csi probe": "--on-nodes efs --print-job",
}
"""Commands with the options of a connection, and the words that they are tried with."""

ELSEWHERE = {
    "check": {"--strict": "tests/cli/test_check_files.py::test_warnings_alone_are_no_reason_to_fail"},
    "doctor": {"--strict": "tests/cli/test_options.py::test_warnings_count_where_that_is_asked_for"},
    "snapshot delete": {"--external-id": "tests/cli/test_snapshot.py::test_storage_of_a_snapshot_is_named"},
    "claims repair": {
        "--secrets": "tests/cli/test_claims.py::test_last_step_takes_registration_and_secrets_from_files"
    },
}
"""Options that show nothing here, with the test of each."""


def _ran(agent, kept, command, words, *, is_whole=False):
    """Return the lines of what a run of *words* did; long ones are cut, unless *is_whole*."""
    agent.go_back(kept)
    shutil.rmtree(agent.folder)
    for name, text in GIVEN.items():
        path = agent.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (agent.folder / "other/Pulumi.yaml").write_text("name: other\nruntime: python\n")
    (agent.folder / "own/Pulumi.yaml").write_text("name: own\nruntime: yaml\n")
    (agent.folder / "client/csi/plugins/a1").mkdir(parents=True)
    made, said = [], []
    environment_ = {name: value for name, value in os.environ.items() if not name.startswith(("NOMAD_", "AWS_"))}
    environment_ |= {"NOMAD_ADDR": agents.ADDRESS, "NOMAD_TOKEN": "canary-94"}
    out, err = io.StringIO(), io.StringIO()
    before = _files(agent.folder)

    def connect(settings):
        made.append(str(settings))
        return agent.transport

    with (
        mock.patch.dict(os.environ, environment_, clear=True),
        mock.patch.object(transport, "Transport", connect),
        mock.patch.object(threading.Event, "wait", _passes),
        plugins.running(agent, plugins.all_answers(**command.calls)) as found,
        mock.patch("time.sleep", _slept(found.clock)),
        command.around(agent),
        agents.counted(),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        typed = ["-C", str(agent.folder), *(word.replace(",*", " *") for word in words.split())]
        code = aws_deeds.asked(agent, lambda _agent: cli.main(typed), "")
    shown = "".join(
        [
            out.getvalue(),
            err.getvalue(),
            *(text for name, text in _files(agent.folder).items() if before.get(name) != text),
        ]
    )
    assert "canary" not in shown, f"a secret is shown: {words}"
    said += [f"exit {code}", *dict.fromkeys(f"connects: {each}" for each in made), *sorted(agent.messages)]
    sent = dict.fromkeys(_request(each) for each, _ in agent.transport.requests)
    said += [line for line in sent if agents.WAITS not in line]  # how often it queries again is a matter of time
    said += [f"plugin {each}" for each in agent.disks.calls]
    said += [f"out: {line}" for line in out.getvalue().splitlines()]
    said += [f"err: {line}" for line in err.getvalue().splitlines()]
    said += [f"file {name}: {text}" for name, text in _files(agent.folder).items() if before.get(name) != text]
    return [masked(line, agent.folder) if is_whole else _cut(line, agent.folder) for line in said]


def _slept(clock):
    """Return a sleep that takes no time; that of another thread, which only shows progress, is real."""
    real = time.sleep

    def sleep(seconds):
        (clock.sleep if threading.current_thread() is threading.main_thread() else real)(seconds)

    return sleep


_VERSION = metadata.version("nomad-csi")
_WAIT = threading.Event.wait
_TIMES = re.compile(rf"{command_deeds.TIME.pattern}|\d\d:\d\d:\d\d\.\d+|(?<=status \d\d\d, )\d+ ms|\d{{8}}T\d{{6}}Z")


def _passes(event, timeout=None):
    """Let the time of a wait with a limit pass; other threads wait really."""
    if timeout is None or threading.current_thread() is not threading.main_thread():
        return _WAIT(event, timeout)
    if not event.is_set():
        time.sleep(timeout)
    return event.is_set()


def _request(sent):
    method, target, body, limit_s = sent
    return f"{method} {target} {json.dumps(body, sort_keys=True) if body is not None else ''} ({limit_s} s)"


def _files(folder):
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


def masked(text, folder):
    """Return *text* without what differs from run to run, from release to release, or from machine to machine."""
    text = text.replace(sys.executable, "PYTHON").replace(str(folder), "DIR")
    text = text.replace(f'"{platform.python_version()}"', '"PYTHON VERSION"')
    return _TIMES.sub("TIME", text.replace(_VERSION, "VERSION"))


@contextlib.contextmanager
def keeping(agent, found):
    """Add the name and the text of each page and of all metrics that a command writes to *found*."""
    yield
    for name in ("page.html", "out.prom"):
        if (agent.folder / name).is_file():
            found.append((name, (agent.folder / name).read_text()))


def _cut(line, folder):
    line = masked(line, folder).replace("\n", "\\n")
    if len(line) <= LONG:
        return line
    return f"{line[: LONG - 20]} ... {_digest([line])}"


def _digest(lines):
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]


def differences(agent, name):
    """Yield each row of the command *name*, and the lines that the run with the option has more (``+``) and less (``-``)."""
    command, kept = COMMANDS[name], agent.keep()
    ran = functools.cache(lambda words: tuple(_ran(agent, kept, command, f"{name} {words}")))
    yield "", ran(command.usual)
    for row in command.rows.values():
        usual, _, more = row.partition(" => ")
        usual = usual.replace("+", command.usual, 1)
        diff = list(difflib.unified_diff(ran(usual), ran(_whole(usual, more)), n=0, lineterm=""))[2:]
        yield row, diff
    if name in CONNECTED:
        with_all = (
            f"{CONNECTED[name].replace('+', command.usual)} {' '.join(' '.join(pair) for pair in CONNECTION.items())}"
        )
        yield "connection", [line for line in ran(with_all) if line.startswith(("connects", "out", "err"))]


def _whole(usual, more):
    return more.removeprefix("= ") if more.startswith("= ") else f"{usual} {more}"


def first(lines):
    """Return the first of the *lines* of a difference, and a digest of the others."""
    found = [line for line in lines if not line.startswith("@@")]
    rest = found[SHOWN:]
    return [*found[:SHOWN], *([f"... {len(rest)} more lines {_digest(rest)}"] if rest else [])]


def _command(name):
    def run(agent, _context, _before=None):
        said = []
        for row, lines in differences(agent, name):
            assert lines or row.rpartition(" => ")[2].split()[0] in ELSEWHERE.get(name, {}), f"{name}: {row}: no effect"
            said += [f"## {row}", *first(lines)]
        agent.transport.requests.clear()
        agent.disks.calls.clear()
        agent.messages[:] = said

    return run


CASES = tuple(
    Case(name, _command(name), before=command.before or (lambda *_: None)) for name, command in COMMANDS.items()
)
