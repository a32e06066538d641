"""The cases of the commands that write, and of those that show what is there."""

import contextlib
import io
import json
import os
import re
from unittest import mock

from nomad_csi import cli
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
SECRETS = '{"prod/web": {"key": "canary-90"}, "prod/scratch": {"key": "canary-91"}}'
OWNER = ("--owner", "shop/prod")
OTHER = ("--owner", "web/prod")
TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?|(?<=_seconds )[\d.]+")


def command(*words, folder="web", size=5, secrets=SECRETS):
    """Return the function that runs the command; ``SPEC`` in *words* is a spec with that folder and that size."""

    def run(agent, _context, _before=None):
        path = agent.folder / "storage.yaml"
        path.write_text(SPEC.format(folder=folder, size=size))
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("NOMAD_", "AWS_"))}
        environment |= {"NOMAD_ADDR": agents.ADDRESS} | ({"NOMAD_CSI_SECRETS": secrets} if secrets else {})
        out, err = io.StringIO(), io.StringIO()
        with (
            mock.patch.dict(os.environ, environment, clear=True),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = cli.main([str(path) if word == "SPEC" else word for word in words])
        agent.messages += [f"err: {line}" for line in _lines(err, path)]
        if "--json" in words and out.getvalue():
            return {"exit": code, "out": json.loads("\n".join(_lines(out, path)))}
        agent.messages += [f"out: {line}" for line in _lines(out, path)]
        return code

    return run


def _lines(stream, path):
    return TIME.sub("TIME", stream.getvalue()).replace(str(path), "SPEC").splitlines()


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


REGISTER = command("register", "SPEC", *OWNER, "--json")
CREATE = command("create", "SPEC", *OWNER, "--json")
SNAPSHOT = command("snapshot", "create", "prod/scratch", "--name", "one", "--parameter", "kind=fast", "--json")
SECOND = command("snapshot", "create", "prod/scratch", "--name", "two")
WAITING = command("snapshot", "create", "prod/scratch", "--name", "one", "--timeout-s", "2")

CASES = (
    Case("register", REGISTER, fails=True),
    Case("register, as text", command("register", "SPEC", *OWNER)),
    Case("register without owner", command("register", "SPEC")),
    Case("register --dry-run", command("register", "SPEC", *OWNER, "--dry-run")),
    Case("register: registered already", REGISTER, before=REGISTER),
    Case("register: without the secrets", command("register", "SPEC", *OWNER, secrets=""), before=REGISTER),
    Case("register: other storage", command("register", "SPEC", *OWNER, folder="new"), before=REGISTER),
    Case(
        "register: context differs",
        REGISTER,
        before=_after(REGISTER, _change("default", "logs", Context={})),
        fails=True,
    ),
    Case("register: of another owner", command("register", "SPEC", *OTHER), before=REGISTER),
    Case(
        "register --adopt: of another owner", command("register", "SPEC", *OTHER, "--adopt", "--json"), before=REGISTER
    ),
    Case("create", CREATE, fails=True),
    Case("create, as text", command("create", "SPEC", *OWNER)),
    Case("create --dry-run", command("create", "SPEC", *OWNER, "--dry-run", "--json")),
    Case("create: there already", CREATE, before=CREATE),
    Case("create: larger", command("create", "SPEC", *OWNER, size=7), before=CREATE),
    Case(
        "create --grow: larger",
        command("create", "SPEC", *OWNER, "--grow", "--json", size=7),
        before=CREATE,
        fails=True,
    ),
    Case("create: of another owner", command("create", "SPEC", *OTHER), before=CREATE),
    Case("create --adopt: of another owner", command("create", "SPEC", *OTHER, "--adopt"), before=CREATE),
    Case("plan", command("plan", "SPEC", *OWNER)),
    Case("plan --json", command("plan", "SPEC", *OWNER, "--json"), before=_after(REGISTER, CREATE)),
    Case("apply --dry-run", command("apply", "SPEC", *OWNER, "--dry-run"), before=_after(REGISTER, CREATE)),
    Case("remove", command("remove", "prod/web", "logs", *OWNER, "--yes", "--json"), before=REGISTER, fails=True),
    Case("remove, as text", command("remove", "prod/web", "none", *OWNER, "--yes"), before=REGISTER),
    Case("remove: of another owner", command("remove", "logs", *OTHER, "--yes"), before=REGISTER),
    Case("remove --adopt: of another owner", command("remove", "logs", *OTHER, "--adopt", "--yes"), before=REGISTER),
    Case(
        "remove: claimed",
        command("remove", "logs", *OWNER, "--yes"),
        before=_after(REGISTER, _claim("default", "logs")),
    ),
    Case(
        "remove --force: claimed",
        command("remove", "logs", *OWNER, "--force", "--yes", "--json"),
        before=_after(REGISTER, _claim("default", "logs")),
        fails=True,
    ),
    Case("claims", command("claims"), before=_after(REGISTER, _claim("default", "logs"))),
    Case(
        "claims --json",
        command("claims", "--json", "--plugin", "efs"),
        before=_after(REGISTER, _claim("default", "logs")),
    ),
    Case(
        "claims repair",
        command("claims", "repair", "logs", "--yes", "--json", "--step-timeout-s", "1"),
        before=_after(REGISTER, _claim("default", "logs")),
        fails=True,
    ),
    Case("snapshot create", SNAPSHOT, before=CREATE, fails=True),
    Case("snapshot create, not ready in time", WAITING, before=_after(CREATE, _not_ready)),
    Case("snapshot list", command("snapshot", "list", "prod/scratch"), before=_after(CREATE, SNAPSHOT, SECOND)),
    Case(
        "snapshot list --json",
        command("snapshot", "list", "--plugin", "ebs", "--json"),
        before=_after(CREATE, SNAPSHOT),
    ),
    Case(
        "snapshot delete",
        command("snapshot", "delete", "--plugin", "ebs", "snap-1", "--confirm", "snap-1", "--json"),
        before=_after(CREATE, SNAPSHOT),
        fails=True,
    ),
)
