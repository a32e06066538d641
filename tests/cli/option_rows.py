"""
Every option of every command, once, with a value that is not its default.

`tests.cli.test_option_effects` runs each row with and without the option, and `tests.cli.test_surface` compares the rows
with the options that commands have.
"""

import contextlib
from dataclasses import dataclass, field

from nomad_csi.csi.v1 import csi_pb2
from tests import scripted_plugins
from tests.cli import option_world as world

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
"""All at once: the settings that a client gets show each."""

SHARED = ("-C", "--quiet", "--verbose", "--color")
"""Of every command, and run with one, which is enough: one function adds them."""

SOCKET = world.SOCKET


@dataclass(frozen=True)
class Command:
    """A command with a row for each option."""

    usual: str
    """Arguments of the run without options."""

    rows: dict
    """By option, ``WORDS => MORE``: the run of both is compared with that of *WORDS*, in which ``+`` are the usual ones."""

    before: object = None
    """Called with the agent, to prepare its cluster."""

    around: object = contextlib.nullcontext
    """Called with the agent: replaces other programs while the command runs."""

    calls: dict = field(default_factory=dict)
    """Answers of CSI plugins that differ from those of a healthy one."""


CONFIRMED = csi_pb2.ValidateVolumeCapabilitiesResponse(confirmed={})
DELETES = {
    "ValidateVolumeCapabilities": CONFIRMED,
    "CreateSnapshot": csi_pb2.CreateSnapshotResponse(snapshot={"snapshot_id": "snap-1", "ready_to_use": True}),
    "ListSnapshots": csi_pb2.ListSnapshotsResponse(entries=[{"snapshot": {"snapshot_id": "snap-1"}}]),
    "DeleteVolume": csi_pb2.DeleteVolumeResponse(),
    "ControllerGetCapabilities": scripted_plugins.controller_can(1, 5, 6),
}
"""A controller that creates, deletes, and makes snapshots."""

CALL = f"{SOCKET} ValidateVolumeCapabilities volume_id=v"
DELETION = "prod/scratch --owner shop/prod --delete-data --confirm prod/scratch"
BY_PLUGIN = f"{DELETION} --no-aws --endpoint {SOCKET} --state state.json"
UNKNOWN = "prod/gone --no-aws --owner shop/prod --delete-data --confirm prod/gone"
HCL_EBS = "new --hcl --storage ebs --aws-region us-east-1"
APPLIED = "storage.yaml --owner shop/prod --yes --stack-output outputs.json"
SMALL = "small.yaml"


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
        before=world.running,
        around=world.pulumi,
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
        before=world.running,
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
        before=world.running,
        around=world.healthy,
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
        before=world.running,
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
        before=world.without_ready_snapshots,
    ),
    "snapshot list": Command(
        "prod/scratch", {"--plugin": "+ => = --plugin ebs", "--json": "+ => --json"}, before=world.with_snapshots
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
        before=world.with_snapshots,
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
        before=world.running,
        around=world.two_rounds,
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
        before=world.running,
        around=world.untagged,
    ),
    "claims": Command(
        "",
        {
            "--aws-region": "+ => --aws-region eu-west-1",
            "--no-aws": "+ => --no-aws",
            "--plugin": "+ => --plugin ebs",
            "--json": "+ => --json",
        },
        before=world.running,
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
        before=world.running,
    ),
    "smoke": Command(
        "prod/web --step-timeout 1s",
        {
            "--aws-region": "prod/scratch --step-timeout 1s => --aws-region eu-west-1",
            "--no-aws": "prod/scratch --step-timeout 1s => --no-aws",
            "--task-driver": "+ => --task-driver exec",
            "--image": "+ => --image example/shell:1",
            "--step-timeout": "+ => = prod/web --step-timeout 9s",
            "--json": "+ => --json",
        },
        before=world.running,
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
        before=world.running,
        calls={"ValidateVolumeCapabilities": CONFIRMED},
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
            "ValidateVolumeCapabilities": CONFIRMED,
            "ListVolumes": lambda request: csi_pb2.ListVolumesResponse(
                entries=[{"volume": {"volume_id": "token=1"}, "status": {"published_node_ids": ["token=2"]}}],
                next_token="" if request.starting_token else "token=3",
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
        around=world.pulumi,
    ),
    "sandbox up": Command(
        "",
        {
            "--engine": "+ => --engine emulator",
            "--nomad": "+ => --nomad real",
            "--skip-preview": "+ => --skip-preview",
            "--refresh": "+ => --refresh",
        },
        around=world.session,
    ),
    "sandbox preview": Command("", {}, around=world.session),
    "sandbox down": Command("", {}, around=world.session),
    "sandbox status": Command("", {"--env": "+ => --env"}, around=world.session),
    "sandbox exec": Command("-- true", {}, around=world.session),
    "schema": Command("", {"--stack-config": "+ => --stack-config"}),
    "acl-policy": Command("apply", {"--spec": "+ => --spec storage.yaml", "--namespace": "+ => --namespace storage"}),
    "plugin install": Command("--project other", {"--dry-run": "+ => --dry-run", "--project": "+ => = --project own"}),
    "completion": Command("bash", {}),
    "version": Command("", {"--json": "+ => --json"}),
}
"""Where ``=>`` stands, the run before it is what the row is compared with; ``=`` behind it: the other run is whole."""

CONNECTED = {
    **dict.fromkeys(("plan", "apply", "claims", "claims repair", "doctor", "smoke", "verify", "verify job"), "+"),
    **dict.fromkeys(("remove", "snapshot create", "snapshot list", "snapshot delete"), "+"),
    "import": "--cluster",
    "csi probe": "--on-nodes efs",
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
