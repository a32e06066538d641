"""The cases of the commands that write, and of those that show what is there."""

import contextlib
import dataclasses
import datetime as dt
import io
import json
import os
import re
from unittest import mock

import yaml

from nomad_csi import cli
from nomad_csi.diagnosis import claim_replacement
from nomad_csi.plan import storage, volumes
from nomad_csi.render import documents
from nomad_csi.volumes import apply_volumes as applied
from nomad_csi.volumes import desired, owner_records
from tests.deeds import agent as agents
from tests.deeds.deeds import Case

SPEC = """plugins:
- {{id: efs, driver: aws-efs, aws_region: us-east-1}}
- {{id: ebs, driver: aws-ebs, aws_region: us-east-1, controller: {{count: 1}}}}
volumes:
- id: web
  namespace: prod
  plugin_id: efs
  existing: {{external_id: "fs-0123456789abcdef0:/{folder}"}}
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
"""
SECRETS = '{"prod/web": {"key": "canary-90"}}'
MADE = '{"prod/scratch": {"key": "canary-91"}}'
OWNER = ("--owner", "shop/prod")
OTHER = ("--owner", "web/prod")
TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?|(?<=_seconds )[\d.]+")


def command(*words, folder="web", size=5, secrets=SECRETS):
    """
    Return the function that runs a command.

    In *words*, ``SPEC`` is a spec with that folder and that size, ``FILES`` the files of the volumes that exist.
    """

    def run(agent, _context, _before=None):
        text = SPEC.format(folder=folder, size=size)
        path, files = agent.folder / "storage.yaml", agent.folder / "volumes"
        path.write_text(text)
        files.mkdir(exist_ok=True)
        for item in storage.plan_document(yaml.safe_load(text)).volumes:
            if not item.made_by_plugin:
                (files / f"{item.registration.volume_id}.volume.hcl").write_text(
                    documents.volume_file(item.registration)
                )
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("NOMAD_", "AWS_"))}
        environment |= {"NOMAD_ADDR": agents.ADDRESS} | ({"NOMAD_CSI_SECRETS": secrets} if secrets else {})
        out, err = io.StringIO(), io.StringIO()
        with (
            mock.patch.dict(os.environ, environment, clear=True),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            places = {"SPEC": str(path), "FILES": str(files)}
            code = cli.main([places.get(word, word) for word in words])
        agent.messages += [f"err: {line}" for line in _lines(err, agent)]
        if "--json" in words and out.getvalue():
            return {"exit": code, "out": json.loads("\n".join(_lines(out, agent)))}
        agent.messages += [f"out: {line}" for line in _lines(out, agent)]
        return code

    return run


def _lines(stream, agent):
    return TIME.sub("TIME", stream.getvalue()).replace(str(agent.folder), "DIR").splitlines()


def create(*, owner="shop/prod", size=5, adopts=False):
    """Return the function that has the volume of the spec created that its plugin is to create."""

    def run(agent, _context, _before=None):
        [item] = [
            each
            for each in storage.plan_document(yaml.safe_load(SPEC.format(folder="web", size=size))).volumes
            if each.made_by_plugin
        ]
        document = dataclasses.replace(volumes.desired_document(item, {}), secrets={"key": "canary-91"})
        who = owner_records.Requester(owner=owner, adopts=adopts)
        tell = lambda text: agent.messages.append(f"err: {text}")  # noqa: E731
        done = applied.apply(agent.client(), [desired.of_plan(item, document, who)], report=tell)
        return [each.as_json() for each in done]

    return run


def _after(*runs):
    """Return what runs *runs*, one after the other."""

    def before(agent, context):
        for run in runs:
            run(agent, context)

    return before


def _change(namespace, volume_id, **changes):
    return lambda agent, _context: agent.cluster.state.volumes[namespace, volume_id].spec.update(changes)


def _claim(namespace, volume_id):
    claim = {"Mode": "write", "AccessMode": "single-node-writer", "AttachmentMode": "file-system", "NodeID": "n"}
    return lambda agent, _context: agent.cluster.state.volumes[namespace, volume_id].claims.update(gone=claim)


def _not_ready(agent, _context):
    agent.disks.is_ready = False


def _kept_claims(*words, **given):
    """Return what runs a command in a cluster whose garbage collection releases no claim."""
    run = command(*words, **given)

    def kept(agent, context, before=None):
        clock = mock.Mock(now=lambda zone: dt.datetime(2026, 11, 22, 8, 11, tzinfo=zone))
        with (
            mock.patch.object(agent.cluster, "collect_garbage"),
            mock.patch.object(claim_replacement, "datetime", clock),
        ):
            return run(agent, context, before)

    return kept


APPLY = ("apply", "FILES", "--yes", "--json")
REGISTER = command(*APPLY, *OWNER)
CREATE = create()
SNAPSHOT = command(
    "snapshot", "create", "prod/scratch", "--name", "one", "--parameter", "kind=fast", "--json", secrets=MADE
)
SECOND = command("snapshot", "create", "prod/scratch", "--name", "two", secrets=MADE)
WAITING = command("snapshot", "create", "prod/scratch", "--name", "one", "--timeout", "2s", secrets=MADE)
CLAIMED = _after(REGISTER, _claim("default", "logs"), _claim("prod", "web"))
OTHER_STORAGE = _after(CLAIMED, _change("default", "logs", ExternalID="fs-0123456789abcdef0:/other"))
REPAIR = ("claims", "repair", "--from", "FILES", "--yes", "--json", "--step-timeout", "1s")
SNAPPED = _after(CREATE, SNAPSHOT)

CASES = (
    Case("apply", REGISTER, fails=True),
    Case("apply, as text", command("apply", "FILES", "--yes", *OWNER)),
    Case("apply without owner", command(*APPLY)),
    Case("apply --dry-run", command("apply", "FILES", "--dry-run", "--json", *OWNER)),
    Case("apply: registered already", REGISTER, before=REGISTER),
    Case("apply: without the secrets", command(*APPLY, *OWNER, secrets=""), before=REGISTER),
    Case("apply: other storage", command(*APPLY, *OWNER, folder="new"), before=REGISTER),
    Case(
        "apply: context differs", REGISTER, before=_after(REGISTER, _change("default", "logs", Context={})), fails=True
    ),
    Case("apply: of another owner", command(*APPLY, *OTHER), before=REGISTER),
    Case("apply --adopt: of another owner", command(*APPLY, *OTHER, "--adopt"), before=REGISTER),
    Case("create", CREATE, fails=True),
    Case("create: there already", CREATE, before=CREATE),
    Case("create: larger", create(size=7), before=CREATE, fails=True),
    Case("create: smaller", create(size=3), before=CREATE),
    Case("create: of another owner", create(owner="web/prod"), before=CREATE),
    Case("create, adopting: of another owner", create(owner="web/prod", adopts=True), before=CREATE),
    Case("plan", command("plan", "SPEC", *OWNER)),
    Case("plan --json", command("plan", "SPEC", *OWNER, "--json"), before=_after(REGISTER, CREATE)),
    Case("apply --dry-run: a spec", command("apply", "SPEC", *OWNER, "--dry-run"), before=_after(REGISTER, CREATE)),
    Case("remove", command("remove", "prod/web", "logs", *OWNER, "--yes", "--json"), before=REGISTER, fails=True),
    Case("remove, as text", command("remove", "prod/web", "none", *OWNER, "--yes"), before=REGISTER),
    Case("remove: of another owner", command("remove", "logs", *OTHER, "--yes"), before=REGISTER),
    Case("remove --adopt: of another owner", command("remove", "logs", *OTHER, "--adopt", "--yes"), before=REGISTER),
    Case("remove: claimed", command("remove", "logs", *OWNER, "--yes"), before=CLAIMED),
    Case(
        "remove --force: claimed",
        command("remove", "logs", *OWNER, "--force", "--yes", "--json"),
        before=CLAIMED,
        fails=True,
    ),
    Case("claims", command("claims"), before=CLAIMED),
    Case("claims --json", command("claims", "--json", "--plugin", "efs"), before=CLAIMED),
    Case(
        "claims repair",
        command("claims", "repair", "logs", "--yes", "--json", "--step-timeout", "1s"),
        before=CLAIMED,
        fails=True,
    ),
    Case("claims repair: registers again", _kept_claims(*REPAIR, "logs"), before=CLAIMED, fails=True),
    Case("claims repair: registers again with secrets", _kept_claims(*REPAIR, "prod/web"), before=CLAIMED, fails=True),
    Case("claims repair: dry run", _kept_claims(*REPAIR, "logs", "--dry-run"), before=CLAIMED),
    Case("claims repair: other storage", _kept_claims(*REPAIR, "logs"), before=OTHER_STORAGE),
    Case("snapshot create", SNAPSHOT, before=CREATE, fails=True),
    Case("snapshot create, not ready in time", WAITING, before=_after(CREATE, _not_ready)),
    Case("snapshot list", command("snapshot", "list", "prod/scratch"), before=_after(CREATE, SNAPSHOT, SECOND)),
    Case("snapshot list --json", command("snapshot", "list", "--plugin", "ebs", "--json"), before=SNAPPED),
    Case(
        "snapshot delete",
        command("snapshot", "delete", "--plugin", "ebs", "snap-1", "--confirm", "snap-1", "--json"),
        before=SNAPPED,
        fails=True,
    ),
)
