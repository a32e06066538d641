"""A cluster with access control, commands and stacks to run in it, and policies with a right less."""

import contextlib
import dataclasses
import functools
import io
import json
import re
import sys
import time
import uuid
from pathlib import Path

import pytest
import yaml

from nomad_csi import cli, errors, nomad
from nomad_csi.frame import registry, resource
from nomad_csi.nomad import cluster_identity
from nomad_csi.volumes import ownership
from tests.contract import agents

NONE = "none"
MARK = "aws:moto,engine:emulator,nomad:emulator,plugins:emulator"
REFUSED = re.compile(r"Permission denied|token (needs|lacks)|lacks (rights|read-job)|were not read|was not checked")
PROGRAM = str(Path(sys.executable).with_name("nomad-csi"))
BROKEN = """\
  - id: broken
    driver: csi-hostpath
    config: {{state_dir: {folder}/broken}}
    task_driver: {{name: raw_exec, command: /bin/ls, arguments: [/no-such-file], client_data_dir: {folder}}}
    verify: {{stable_s: 0.1, timeout_s: 2}}
"""
"""A plugin whose task fails, so that its log is read."""

SPEC = """\
plugins:
{more}\
  - id: hp
    driver: csi-hostpath
    config: {{state_dir: {folder}/hp}}
    task_driver: {{name: raw_exec, command: {program}-sandbox-csi-plugin, arguments: [--driver, csi-hostpath], client_data_dir: {folder}}}
    verify: {{stable_s: 0.1, timeout_s: 30}}
volumes:
  - id: {volume_id}
    plugin_id: hp
    existing: {{external_id: {external_id}}}
    topologies: [{{topology.hostpath.csi/node: one}}]
"""
HELD = """\
job "holder" {
  group "g" {
    volume "v" {
      type            = "csi"
      source          = "held"
      access_mode     = "single-node-writer"
      attachment_mode = "file-system"
    }
    task "t" {
      driver = "exec"
      config {
        command = "/bin/sleep"
        args    = ["3600"]
      }
      kill_timeout = "200ms"
    }
  }
}
"""


ALONE, BESIDE = "alone", "beside"
"""Volumes of a stack."""


class World:
    """An agent with access control that runs a plugin; ``free``: a volume of it, ``held``: one that a job holds."""

    def __init__(self, agent, root, folder):
        self.agent, self.root, self.folder = agent, root, folder
        self.headers = {"X-Nomad-Token": root}
        self.made = 0
        self.external_ids = {}
        self.state = {}

    def call(self, method, path, body=None):
        """Call as one who may do everything."""
        return self.agent.call(method, path, body, self.headers)[1]

    def start(self, hcl):
        """Run a job; return its id."""
        parsed = self.call("POST", "/v1/jobs/parse", {"JobHCL": hcl, "Canonicalize": True})
        body = {"Job": parsed, "Submission": {"Source": hcl, "Format": "hcl2"}}
        assert "EvalID" in self.call("PUT", "/v1/jobs", body)
        return parsed["ID"]

    def end(self, *job_ids):
        """Stop jobs, wait until nothing of them runs, and purge them."""
        for job_id in job_ids:
            path = f"/v1/job/{job_id}"
            self.call("DELETE", path)
            self.agent.until(
                functools.partial(self.call, "GET", f"{path}/allocations"),
                lambda found: (
                    not isinstance(found, list)
                    or all(item["ClientStatus"] in {"complete", "failed", "lost"} for item in found)
                ),
            )
            self.call("DELETE", f"{path}?purge=true")

    @property
    def socket(self):
        """The socket of the plugin, which `apply` may start again."""
        found = self.call("GET", "/v1/job/plugin-hp-monolith/allocations")
        allocation_id = next(item["ID"] for item in found if item["ClientStatus"] == "running")
        return f"{self.agent.data_dir}/client/csi/plugins/{allocation_id}/csi.sock"

    def storage(self, name):
        """Return the external id of storage that the plugin makes under *name*, once."""
        if name not in self.external_ids:
            use = 'volume_capabilities={"access_mode":{"mode":"SINGLE_NODE_WRITER"},"mount":{"fs_type":"ext4"}}'
            words = f"name={name} {use} capacity_range.required_bytes=1048576 --json --yes"
            code, out, err = self.run(f"csi call {self.socket} CreateVolume {words}")
            assert code == 0, err
            self.external_ids[name] = json.loads(out)["volume"]["volume_id"]
        return self.external_ids[name]

    def spec(self, volume_id, *, more=""):
        """Write a spec with one volume, and the plugins *more*; return its path."""
        path = self.folder / f"{volume_id}{'-more' if more else ''}.yaml"
        values = {"folder": self.agent.data_dir, "program": PROGRAM, "volume_id": volume_id}
        external_id = str(uuid.uuid4()) if volume_id == NONE else self.storage(volume_id)
        path.write_text(SPEC.format(external_id=external_id, more=more.format(**values), **values))
        return path

    def file(self, volume_id):
        """Write the volume file of a spec with one volume; return its path."""
        out = self.folder / f"{volume_id}-file"
        code, _, err = self.run(f"render {self.spec(volume_id)} --out {out}")
        assert code == 0, err
        return out / f"volumes/default/{volume_id}.volume.hcl"

    def register(self, volume_id):
        """Have a volume registered, by a stack."""
        code, out, err = self.run(f"apply {self.file(volume_id)} --owner a/b --adopt --yes")
        assert code == 0, out + err

    def register_new(self, volume_id):
        """Have a volume with storage of its own registered, by a stack."""
        self.forget(volume_id)
        self.external_ids.pop(volume_id, "")
        self.register(volume_id)

    def forget(self, volume_id):
        """Have a volume not registered, and no record of it."""
        self.run(f"remove default/{volume_id} --owner a/b --adopt --timeout 10s")
        self.call("DELETE", f"/v1/volume/csi/{volume_id}?force=true")
        self.call("DELETE", f"/v1/var/{ownership.path_of(volume_id)}")

    def record_creation(self, volume_id):
        """Have the owner record of a registered volume say that its plugin created the storage."""
        name = self.call("GET", f"/v1/volume/csi/{volume_id}")["Name"]
        items = {"id": volume_id, "owner": "a/b", "created_name": name}
        self.call("PUT", f"/v1/var/{ownership.path_of(volume_id)}", {"Items": items})

    def token(self, policy):
        """Return a token with *policy*."""
        self.made += 1
        return self.agent.make_token(self.root, f"acl-policy-{self.made}", policy.as_hcl())

    def run(self, words, token=""):
        """Run a command; return exit code, output and error output."""
        out, err = io.StringIO(), io.StringIO()
        own = {"NOMAD_ADDR": self.agent.url, "NOMAD_TOKEN": token or self.root, "NOMAD_CSI_SANDBOX": MARK}
        with pytest.MonkeyPatch.context() as patch:
            for name, value in own.items():
                patch.setenv(name, value)
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            code = cli.main(words.split())
        return code, out.getvalue(), err.getvalue()


def _started(agent, root, folder):
    world = World(agent, root, folder)
    rendered = world.run(f"render {world.spec(NONE, more=BROKEN)} --out {folder / 'out'}")
    assert rendered[0] == 0, rendered
    world.jobs = [world.start(path.read_text()) for path in (folder / "out/jobs").iterdir()]
    agent.until(
        lambda: world.call("GET", "/v1/plugin/csi/hp"),
        lambda found: isinstance(found, dict) and found["NodesHealthy"] and found["ControllersHealthy"],
    )
    for volume_id in ("free", "held"):
        world.register(volume_id)
    world.start(HELD)
    agent.until(
        lambda: world.call("GET", "/v1/job/holder/allocations"),
        lambda found: "running" in [item["ClientStatus"] for item in found],
    )
    return world


@contextlib.contextmanager
def _world(agent, root, folder):
    found = _started(agent, root, folder)
    yield found
    found.end("holder")
    for volume_id in ("held", "free", "other", ALONE, BESIDE):
        found.forget(volume_id)
    found.end(*found.jobs)


@pytest.fixture(scope="package", params=["emulator", pytest.param("real", marks=pytest.mark.real_nomad)])
def acl_world(request, tmp_path_factory):
    """Both sides of the contract."""
    is_real = request.param == "real"
    agent = request.getfixturevalue("real_acl" if is_real else "emulator_acl")
    root = request.getfixturevalue("real_root") if is_real else agents.ROOT
    with _world(agent, root, tmp_path_factory.mktemp("acl")) as made:
        yield made


# --- what is run: how the cluster is before, and the command
def _register(world):
    world.forget("other")
    return f"apply {world.file('other')} --owner a/b --yes"


def _apply(world):
    """A plugin whose job changes, and two volumes: one that is made, and one that the plugin refuses."""
    for volume_id in (ALONE, BESIDE):
        world.forget(volume_id)
    path = world.spec(ALONE)
    spec = yaml.safe_load(path.read_text())
    base = {name: value for name, value in spec["volumes"][0].items() if name != "existing"}
    spec["volumes"] = [
        base | {"id": BESIDE, "create": {"capacity_min_bytes": 2**20}},
        base | {"id": ALONE, "create": {"capacity_min_bytes": 2**20, "snapshot_id": "none"}},
    ]
    world.made += 1
    spec["plugins"][0]["priority"] = 60 + world.made % 30
    made = world.folder / "made.yaml"
    made.write_text(yaml.safe_dump(spec))
    return f"apply {made} --owner a/b --adopt --yes"


def _plan(world):
    """Plan a job that runs, and one whose id is another than that of the job that runs its plugin: an other job then."""
    _register(world)
    changed = world.folder / "other-id.yaml"
    text = world.spec("other", more=BROKEN).read_text()
    changed.write_text(text.replace("  - id: hp\n", "  - id: hp\n    job_ids: {monolith: hp2}\n"))
    return f"plan {changed} --owner a/b"


def _with_other(words):
    def prepare(world):
        world.register("other")
        return words.format(
            spec=world.spec("other"),
            broken=world.spec("other", more=BROKEN),
            program=PROGRAM,
            page=world.folder / "page.html",
        )

    return prepare


def _deregister(world):
    world.register_new(ALONE)
    world.register_new(BESIDE)
    world.record_creation(BESIDE)
    return f"remove default/{ALONE} default/{BESIDE} --owner a/b"


def _delete(world):
    resources = []
    for volume_id in (ALONE, BESIDE):
        world.register_new(volume_id)
        made = {"namespace": "default", "volumeId": volume_id, "madeStorage": world.external_ids[volume_id]}
        resources.append({"type": "nomad-csi:index:CreatedVolume", "outputs": made})
    world.record_creation(BESIDE)
    (world.folder / "state.json").write_text(json.dumps({"deployment": {"resources": resources}}))
    confirmed = " ".join(f"--confirm default/{volume_id}" for volume_id in (ALONE, BESIDE))
    return (
        f"remove default/{ALONE} default/{BESIDE} --delete-data --endpoint {world.socket} --state {world.folder / 'state.json'} "
        f"--owner a/b {confirmed} --accept unguarded --skip-final-snapshot"
    )


def _delete_snapshot(world):
    name = f"s{time.time_ns()}"
    code, out, err = world.run(f"snapshot create default/free --name {name} --json")
    assert code == 0, err
    snapshot_id = json.loads(out)["snapshots"][0]["snapshot_id"]
    return f"snapshot delete {snapshot_id} --made-by hp --confirm {snapshot_id}"


def _smoke(world):
    """Try a volume that nothing of an earlier run uses: one that may not read its job leaves it behind."""
    world.register("other")
    world.end(*(job["ID"] for job in world.call("GET", "/v1/jobs?prefix=nomad-csi-smoke")))
    world.agent.until(lambda: world.call("GET", "/v1/volume/csi/other"), lambda found: not found["Allocations"])
    return "smoke default/other --task-driver exec --step-timeout 30s"


RUNS = {
    "plan": _plan,
    "apply": _apply,
    "apply FILE": _register,
    "remove": _deregister,
    "remove --delete-data": _delete,
    "snapshot create": lambda _: f"snapshot create default/free --name s{time.time_ns()}",
    "snapshot list": lambda _: "snapshot list default/free",
    "snapshot delete": _delete_snapshot,
    "claims": lambda _: "claims",
    "smoke": _smoke,
    "verify": _with_other("verify {broken}"),
    "verify --on-nodes": _with_other("verify {spec} --on-nodes --command {program}"),
    "doctor": _with_other("doctor --no-aws --json {spec}"),
    "verify --html": _with_other("verify {broken} --html {page} --json"),
    "csi probe --volumes-of": lambda world: f"csi probe {world.socket} --volumes-of hp",
    "csi probe --on-nodes": lambda _: f"csi probe --on-nodes hp --command {PROGRAM}",
    "import --cluster": lambda _: "import --cluster",
}


# --- what Pulumi has the provider do: jobs, health, registrations, volumes that the plugin makes
OWN = {"owner": "a/b", "ownerId": "0123456789abcdef"}
MODES = {"capabilities": [{"accessMode": "single-node-writer", "attachmentMode": "file-system"}]}
JOB = """\
job "idle" {
  meta = {
    "nomad-csi.owner" = "a/b"
  }
  group "g" {
    count = 0
    task "t" {
      driver = "raw_exec"
      csi_plugin {
        id   = "idle"
        type = "controller"
      }
      config {
        command = "sleep"
      }
    }
  }
}
"""


def kind(name):
    """Return one of the provider's resources."""
    return registry.find(f"nomad-csi:index:{name}")


class Stack:
    """A stack of a job, the health of two plugins, and two volumes; all that the provider says is in `lines`."""

    def __init__(self, world):
        self.world = world
        self.lines = []
        self.state = []

    def steps(self):
        """Return what a program declares, without what its checks add."""
        health = {"controllers": 1, "monolith": True, "taskDriver": "raw_exec", "clientDataDir": "", "stableS": 0.1}
        health |= {"provider": "hostpath.csi.k8s.io", "namespace": "default"}
        volume = {"pluginId": "hp"} | MODES | OWN
        yield "PluginJob", {"jobId": "idle", "hcl": JOB} | OWN
        yield "PluginHealth", health | {"pluginId": "hp", "timeoutS": 20, "jobs": {"plugin-hp-monolith": "1"}}
        names = {"volumeId": ALONE, "name": ALONE}
        yield "VolumeRegistration", names | {"externalId": self.world.storage(ALONE)} | volume
        yield "CreatedVolume", {"volumeId": BESIDE, "name": BESIDE, "capacityMinBytes": 2**20} | volume
        broken = {"pluginId": "broken", "timeoutS": 1, "jobs": {"plugin-broken-monolith": "1"}}
        yield "PluginHealth", health | broken

    def context(self, client):
        """Return what the provider gives a step."""
        return resource.Context(connect=lambda: client, stack="a/b", warn=self.lines.append, sandbox=MARK)

    def run(self, work, token=""):
        """Have *work* done with a context; what it raises is said."""
        connection = nomad.Connection(address=self.world.agent.url, token=token or self.world.root)
        with nomad.Nomad(connection) as client:
            for step in work(self.context(client)):
                try:
                    step()
                except resource.InitFailedError as error:
                    self.lines.append(f"{error}: {'; '.join(error.reasons)}")
                except errors.NomadCsiError as error:
                    self.lines.append(str(error))
        return " ".join(self.lines)

    def up(self, context):
        """Yield the steps that make everything."""
        yield lambda: cluster_identity.cluster_id(context.connect(), make=True)
        for name, given in self.steps():
            news, failures = kind(name).check(given)
            assert not failures, failures
            yield functools.partial(self._make, context, name, news)

    def up_with_less(self, context):
        """Yield the steps of `up`, and those of one that finds a volume taken out of the program."""
        yield from self.up(context)
        yield lambda: self._remove(context, "VolumeRegistration")

    def _remove(self, context, name):
        """Remove what the program does not declare any more."""
        for found in [item for item in self.state if item[0] == name]:
            kind(name).delete(context, found[1], found[3])

    def _make(self, context, name, news):
        identity, outputs = kind(name).create(context, news)
        self.state.append((name, identity, news, outputs))

    def preview(self, context):
        """Yield the steps of a preview: of what is there, and of a volume that is new."""
        yield lambda: cluster_identity.cluster_id(context.connect())
        yield from self.refresh(context)
        for name, _, news, outputs in self.state:
            yield functools.partial(kind(name).preflight, context, outputs, news)
        for name, given in self.steps():
            if name == "VolumeRegistration":
                new = {"volumeId": "other", "externalId": self.world.storage("other")}
                yield functools.partial(kind(name).preflight, context, {}, kind(name).check(given | new)[0])

    def refresh(self, context):
        """Yield the steps that read what is there."""
        for name, identity, news, outputs in self.state:
            yield functools.partial(kind(name).read, context, identity, news, outputs)

    def destroy(self, context):
        """Yield the steps that remove everything."""
        for name, identity, _, outputs in reversed(self.state):
            yield functools.partial(kind(name).delete, context, identity, outputs)


def stack_run(world, operation, policy):
    """Return what the provider says where *policy* is all that it has; nothing is left."""
    for volume_id in (ALONE, BESIDE):
        world.register_new(volume_id)
        world.forget(volume_id)
    world.forget("other")  # a command may have registered it
    stack = Stack(world)
    steps = {"up": stack.up_with_less}.get(operation) or getattr(stack, operation)
    if operation != "up":
        stack.run(stack.up)
    stack.lines.clear()
    try:
        return stack.run(steps, world.token(policy))
    finally:
        stack.run(stack.destroy)
        world.end("idle")
        for volume_id in (ALONE, BESIDE):
            world.forget(volume_id)


def without_token_findings(text):
    """Return the report of a command without what it says of other commands, for which the token is not meant."""
    if not text.startswith("{"):
        return text
    found = json.loads(text)
    found["findings"] = [item for item in found.get("findings", ()) if item["code"] != "token-cannot"]
    return json.dumps(found, ensure_ascii=False).replace('\\"', '"')


def said(done):
    """Return all that a command printed, in one line."""
    return " ".join((without_token_findings(done[1]) + done[2]).split())


def lesser(policy):
    """Yield each right of *policy*, how a message names it, and the policy without it."""
    for namespace, granted in policy.capabilities.items():
        for name in granted:
            left = {namespace: [item for item in granted if item != name]}
            yield name, name, dataclasses.replace(policy, capabilities={**policy.capabilities, **left})
    for namespace, granted in policy.variables.items():
        for name in granted:
            left = {namespace: sorted(granted - {name})}
            yield f"variables: {name}", f'"{name}"', dataclasses.replace(policy, variables={**policy.variables, **left})
    for level in policy.levels:
        others = [item for item in policy.levels if item != level]
        yield level, f'{level} {{ policy = "read" }}', dataclasses.replace(policy, levels=others)
