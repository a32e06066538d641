"""Two runs want one volume or one storage: whatever the order of their requests, one has it, and the other is told why."""

import contextlib
import os
import random
from dataclasses import dataclass, field

import pytest

from nomad_csi import errors, nomad
from nomad_csi.frame import resource
from nomad_csi.nomad import volumes
from nomad_csi.plan import registration
from nomad_csi.volumes import apply_volumes as applied
from nomad_csi.volumes import deregistration, desired, ownership, volume_resource
from nomad_csi_sandbox.nomad import cluster, server, state
from nomad_csi_sandbox.nomad.clients import nodes
from tests import volume_files
from tests.volumes import interleaving

INTERLEAVINGS = int(os.environ.get("SOAK_INTERLEAVINGS", "40"))
"""Orders of requests that are tried; ``make soak`` tries more."""

KEY = ("default", "mysql")
TOKEN = "0c9d2c53-7f11-4d8d-9b5a-2f4c9a4be0a1"

OWNERS = {"shop/one": "shop/two", "shop/two": "shop/one"}
RUNS = ("shop/one", "shop/one again")
"""Two runs of one stack."""

RESOURCE = volume_resource.VolumeRegistrationResource()
SYSTEMS = ("fs-0123456789abcdef0", "fs-1123456789abcdef0")
WAYS = ("resource", "command")


def inputs(owner, *, by="", storage=SYSTEMS[0], volume_id="mysql", mode="multi-node-multi-writer"):
    """Return the volume that both want, as *owner* would have it, told apart by its context."""
    return {
        "volumeId": volume_id,
        "namespace": "default",
        "name": volume_id,
        "externalId": storage,
        "pluginId": "efs",
        "capabilities": [{"accessMode": mode, "attachmentMode": "file-system"}],
        "context": {"by": by or owner},
        "owner": owner,
    }


def create(client, way, new_inputs):
    """Register *new_inputs*, by the resource or by the command; return the outputs of the resource."""
    if way == "resource":
        return RESOURCE.create(resource.Context(connect=lambda: client), new_inputs)[1]
    requester = ownership.Requester(owner=new_inputs["owner"])
    [outcome] = applied.apply(client, volume_files.wanted([desired.parse_inputs(new_inputs)], requester))
    if not outcome.is_done:
        raise errors.RefusedError(outcome.reason)
    return {}


def delete(client, way, recorded):
    """Deregister what is *recorded*."""
    if way == "resource":
        RESOURCE.delete(resource.Context(connect=lambda: client), "/".join(KEY), recorded)
        return
    requester = ownership.Requester(owner=recorded["owner"])
    options = deregistration.DeregistrationOptions(requester=requester)
    [outcome] = deregistration.deregister(client, [KEY], options)
    if not outcome.is_done:
        raise errors.RefusedError(outcome.reason)


@dataclass
class Run:
    """One run of a stack: what it does, and how that ended."""

    name: str
    owner: str
    client: nomad.Nomad
    ways: list
    """How it creates and deletes the volume, in turns."""

    storage: str
    holds: bool = False
    """Whether it was told that the volume is its own."""

    told: list = field(default_factory=list)
    """What it was refused with."""

    def play(self):
        """Take all steps; one that was refused ends it."""
        new_inputs = inputs(self.owner, by=self.name, storage=self.storage)
        outputs = {}
        try:
            with self.client:
                for number, way in enumerate(self.ways):
                    if number % 2:
                        delete(self.client, way, outputs or new_inputs)
                    else:
                        outputs = create(self.client, way, new_inputs)
                    self.holds = not number % 2
        except errors.NomadCsiError as error:
            self.told.append(str(error))


@dataclass
class Table:
    """An emulator of Nomad on which runs meet."""

    cluster: cluster.Cluster
    url: str
    stolen: list = field(default_factory=list)
    """What must not be, in words."""

    def play(self, seed, *, names=tuple(OWNERS)):
        """Let two runs meet on an empty cluster, in the order of *seed*; return them."""
        with self.cluster.state.lock:
            self.cluster.state.volumes.clear()
            self.cluster.state.variables.clear()
        self.stolen = []
        chance, schedule = random.Random(seed), interleaving.Schedule(seed)  # noqa: S311  # orders, not secrets
        runs = [self._run(name, schedule, chance, is_alone=names == RUNS) for name in names]
        for run in runs:
            schedule.add(run.name, run.play)
        schedule.run()
        self._judge_end(runs, is_alone=names == RUNS)
        return runs

    def _run(self, name, schedule, chance, *, is_alone):
        """Return one of the two; two runs of one stack may want different storage under the one id."""
        owner = RUNS[0] if is_alone else name

        def observe(method, path):
            schedule.named(name).wait(f"{method} {path}")  # also from a thread of the client's own
            # A stack may take its own volume from itself; what counts is the end.
            is_change = method in {"PUT", "DELETE"} and path.startswith("/v1/volume")
            if is_change and not is_alone and self.owner != owner:
                self.stolen.append(f"{name} sends {method} {path} while the owner is {self.owner!r}")

        client = nomad.Nomad(nomad.Connection(address=self.url, token=TOKEN), observe=observe)
        ways = [chance.choice(WAYS) for _ in range(chance.choice((1, 1, 2, 3)))]
        storage = chance.choice(SYSTEMS) if is_alone else SYSTEMS[0]
        return Run(name=name, owner=owner, client=client, ways=ways, storage=storage)

    def _judge_end(self, runs, *, is_alone):
        """Note who was told that the volume is his own, and has not got it."""
        found = (self.owner, self.content)
        if is_alone:
            # The record of a run whose registration the other one took away stays, for its next run to register again:
            # it was told that it has the volume, or was refused on the way.
            is_left = self.owner and not self.content and not any(run.holds or run.told for run in runs)
            if is_left or (self.content and not self.owner):
                self.stolen.append(f"half of it is left: {found}")
            return
        self.stolen += [f"{run.owner} was told that it has it: {found}" for run in runs if self._has_not(run)]
        if not any(run.holds for run in runs) and any(found):
            self.stolen.append(f"nobody has it: {found}")

    def _has_not(self, run):
        return run.holds and (self.owner, self.content) != (run.owner, run.owner)

    @property
    def owner(self):
        """The owner in the cluster; empty where there is none."""
        with self.cluster.state.lock:
            record = self.cluster.state.variables.get((KEY[0], ownership.path_of(KEY[1])))
            return record["Items"]["owner"] if record else ""

    @property
    def content(self):
        """Whose registration the cluster holds; empty where it holds none."""
        with self.cluster.state.lock:
            found = self.cluster.state.volumes.get(KEY)
            return found.spec["Context"]["by"] if found else ""


@pytest.fixture
def table(tmp_path):
    """Return an emulator with a plugin."""
    node = nodes.NodeSpec(name="one", zone="us-east-1a", instance_id="")
    settings = cluster.Settings(data_dir=tmp_path, nodes=[node], environment={}, token=TOKEN)
    with server.Server(cluster.Cluster(settings)) as serving:
        serving.cluster.state.plugins["efs"] = state.PluginRecord(plugin_id="efs", create_index=1, modify_index=1)
        yield Table(cluster=serving.cluster, url=serving.url)


def is_reason(told, owner):
    """Return whether *owner* was told whose the volume is; or what it is, where the other gave it up that moment."""
    return (OWNERS[owner] in told and "belongs to " in told) or "is registered already, and not by this stack" in told


@pytest.mark.timeout(300 + INTERLEAVINGS)
def test_no_order_of_requests_steals_a_volume(table):
    """Created and deleted, by the resource and by the command, from an empty cluster each time."""
    won = set()
    for seed in range(INTERLEAVINGS):
        runs = table.play(seed)

        assert table.stolen == [], f"seed {seed}"
        for run in runs:
            assert [line for line in run.told if not is_reason(line, run.owner)] == [], f"seed {seed}"
        won |= {run.owner for run in runs if run.holds}
    assert won == set(OWNERS)


@pytest.mark.timeout(300 + INTERLEAVINGS)
def test_no_order_of_requests_of_one_stack_loses_its_record(table):
    """Two runs of it: a volume that is registered at the end has its record, and one that no run has got has none."""
    held = 0
    for seed in range(INTERLEAVINGS):
        table.play(seed, names=RUNS)

        assert table.stolen == [], f"seed {seed}"
        held += bool(table.content)
    assert held


@pytest.mark.parametrize("first", WAYS)
@pytest.mark.parametrize("second", WAYS)
@pytest.mark.parametrize("is_after", [False, True], ids=["before it is sent", "before it is answered"])
def test_one_of_two_has_the_storage(table, monkeypatch, first, second, is_after):
    """Both compared before either registered; the one that Nomad stored later is taken back, with its owner record."""
    register, sharing_refusal, told, compared = volumes.register, registration.sharing_refusal, {}, []

    def bring(client, way, volume_id, owner):
        try:
            create(client, way, inputs(owner, volume_id=volume_id, mode="single-node-writer"))
        except errors.RefusedError as error:
            told[volume_id] = str(error)

    def sees_none(*users):
        """Compare as before the first one was registered, once."""
        compared.append(users)
        return "" if len(compared) == 1 else sharing_refusal(*users)

    def register_both(client, documents, **given):
        monkeypatch.setattr(volumes, "register", register)
        if is_after:
            answer = register(client, documents, **given)
        with monkeypatch.context() as patched:
            patched.setattr(registration, "sharing_refusal", sees_none)
            bring(other, second, "second", "shop/two")
        return answer if is_after else register(client, documents, **given)

    monkeypatch.setattr(volumes, "register", register_both)
    connection = nomad.Connection(address=table.url, token=TOKEN)
    with contextlib.ExitStack() as stack:
        one, other = (stack.enter_context(nomad.Nomad(connection)) for _ in range(2))
        bring(one, first, "first", "shop/one")
        left = [item.volume_id for item in volumes.list_volumes(one, "*")]
        owners = ownership.OwnerRecords(one).read([("default", "first"), ("default", "second")]).owners

    [(loser, refusal)] = told.items()
    assert (left, loser) == ((["first"], "second") if is_after else (["second"], "first"))
    assert "registered at the same moment as another one, and deregistered again" in refusal
    assert f"is registered as default/{left[0]} already" in refusal
    assert [key[1] for key in owners] == left
