"""Two stacks, or two runs of one, whose requests to an emulator of Nomad are let through one at a time, in an order that a seed decides."""

import random
import threading
from dataclasses import dataclass, field

import pytest

from nomad_csi import errors, nomad
from nomad_csi.frame import resource
from nomad_csi.volumes import apply_volumes as applied
from nomad_csi.volumes import deregistration, desired, owner_records, registration_ownership, volume_registration
from nomad_csi_sandbox.nomad import cluster, server, state
from nomad_csi_sandbox.nomad.clients import nodes
from tests import acl, deadlines

KEY = ("default", "wanted")
OWNERS = ("shop/one", "shop/two")
RUNS = ("shop/one", "shop/one again")
"""Two runs of the first stack."""
TOKEN = "right"
BLIND = "blind"
"""The token that may not touch variables."""

WAYS = ("resource", "command")


@dataclass
class Turns:
    """Lets one of several threads go on until it is about to send its next request."""

    about_to: dict = field(default_factory=dict)
    """What each one that waits is about to send: method and path. ``None``: it has ended."""

    granted: str = ""
    changed: threading.Condition = field(default_factory=threading.Condition)

    def observer(self, name):
        """Return what the client of *name* is to call before each request."""

        def observe(method, path):
            with self.changed:
                self.about_to[name] = (method, path)
                self.changed.notify_all()
                assert self.changed.wait_for(lambda: self.granted == name, deadlines.PATIENT_S)
                self.granted = ""
                del self.about_to[name]

        return observe

    def end(self, name):
        """Say that *name* sends nothing more."""
        with self.changed:
            self.about_to[name] = None
            self.changed.notify_all()

    def all_wait(self, names):
        """Wait until each of *names* is about to send something or has ended; return those that go on."""
        with self.changed:
            ready = lambda: not self.granted and set(self.about_to) == set(names)  # noqa: E731  # a wait's condition
            assert self.changed.wait_for(ready, deadlines.PATIENT_S)
            return [name for name in names if self.about_to[name]]

    def grant(self, name):
        """Let *name* send one request."""
        with self.changed:
            self.granted = name
            self.changed.notify_all()


def inputs(owner, *, by="", storage="fs-0123456789abcdef0"):
    """Return the volume that both want, as *owner* would have it, told apart by its context."""
    return {
        "volumeId": KEY[1],
        "namespace": KEY[0],
        "name": KEY[1],
        "externalId": storage,
        "pluginId": "efs",
        "capabilities": [{"accessMode": "multi-node-multi-writer", "attachmentMode": "file-system"}],
        "context": {"by": by or owner},
        "owner": owner,
    }


@dataclass
class Stack:
    """One run of a stack: what it does, and how that ended."""

    name: str
    owner: str
    client: nomad.Nomad
    steps: tuple
    """Pairs of ``create`` or ``delete`` and how: by the resource, or as the command does it."""

    storage: str
    """What it registers."""

    outputs: dict = field(default_factory=dict)
    holds: bool = False
    """Whether it was told that the volume is its own."""

    told: list = field(default_factory=list)
    """What it was refused with."""

    def play(self):
        """Take all steps; one that was refused ends it."""
        for step, way in self.steps:
            try:
                getattr(self, f"_{step}_{way}")()
            except errors.NomadCsiError as error:
                self.told.append(str(error))
                return
            self.holds = step == "create"

    @property
    def _context(self):
        return resource.Context(connect=lambda: self.client)

    @property
    def _inputs(self):
        return inputs(self.owner, by=self.name, storage=self.storage)

    def _create_resource(self):
        _, self.outputs = volume_registration.VolumeRegistrationResource().create(self._context, self._inputs)

    def _delete_resource(self):
        recorded = self.outputs or self._inputs
        volume_registration.VolumeRegistrationResource().delete(self._context, "/".join(KEY), recorded)

    def _create_command(self):
        document = desired.parse_inputs(self._inputs)
        requester = registration_ownership.Requester(owner=self.owner)
        [outcome] = applied.apply(self.client, applied.of_files([document]), requester=requester)
        if not outcome.is_done:
            raise errors.RefusedError(outcome.reason)

    def _delete_command(self):
        options = deregistration.DeregistrationOptions(requester=registration_ownership.Requester(owner=self.owner))
        [outcome] = deregistration.deregister(self.client, [KEY], options)
        if not outcome.is_done:
            raise errors.RefusedError(outcome.reason)


@dataclass
class Game:
    """Two stacks against each other, once."""

    stacks: list
    requests: list = field(default_factory=list)
    """Who sent what, in order."""

    stolen: list = field(default_factory=list)
    """What must not be, in words."""


@dataclass
class Table:
    """An emulator of Nomad on which games are played."""

    cluster: cluster.Cluster
    url: str

    def play(self, seed, *, token=TOKEN, names=OWNERS):
        """Play the game of *seed* from an empty cluster between *names*, and return it."""
        with self.cluster.state.lock:
            self.cluster.state.volumes.clear()
            self.cluster.state.variables.clear()
        chance, turns = random.Random(seed), Turns()  # noqa: S311  # orders, not secrets
        stacks = [self._stack(name, turns, chance, token, is_alone=names == RUNS) for name in names]
        game = Game(stacks=stacks)
        threads = [threading.Thread(target=self._play, args=(stack, turns)) for stack in stacks]
        for thread in threads:
            thread.start()
        while able := turns.all_wait(names):
            name = chance.choice(able)
            self._judge_step(game, name, *turns.about_to[name])
            turns.grant(name)
        for thread in threads:
            thread.join()
        self._judge_end(game)
        return game

    def _stack(self, name, turns, chance, token, *, is_alone):
        """Return one of the two; two runs of one stack may want different storage under the one id."""
        connection = nomad.Connection(address=self.url, token=token)
        client = nomad.Nomad(connection, observe=turns.observer(name))
        count = chance.choice((1, 1, 2, 3))
        steps = tuple((("create", "delete")[number % 2], chance.choice(WAYS)) for number in range(count))
        owner = RUNS[0] if is_alone else name
        storage = (
            chance.choice(("fs-0123456789abcdef0", "fs-1123456789abcdef0")) if is_alone else "fs-0123456789abcdef0"
        )
        return Stack(name=name, owner=owner, client=client, steps=steps, storage=storage)

    @staticmethod
    def _play(stack, turns):
        try:
            with stack.client:
                stack.play()
        finally:
            turns.end(stack.name)

    def _judge_step(self, game, name, method, path):
        """Note what is sent, and whether it changes a volume that does not have the mark of who sends it."""
        game.requests.append((name, method, path))
        [owner] = [stack.owner for stack in game.stacks if stack.name == name]
        if len({stack.owner for stack in game.stacks}) == 1:
            return  # a stack may take its own volume from itself; what counts is the end
        if method in {"PUT", "DELETE"} and path.startswith("/v1/volume") and self.mark != owner:
            game.stolen.append(f"{name} sends {method} {path} while the mark is {self.mark!r}")

    def _judge_end(self, game):
        """Note who was told that the volume is his own, and has not got it."""
        if len({stack.owner for stack in game.stacks}) == 1:
            if bool(self.mark) != bool(self.content):
                game.stolen.append(f"the mark is {self.mark!r}, and it is registered by {self.content!r}")
            return
        for stack in game.stacks:
            if stack.holds and (self.mark, self.content) != (stack.owner, stack.owner):
                game.stolen.append(f"{stack.owner} was told that it has it; mark {self.mark!r}, by {self.content!r}")
        if not any(stack.holds for stack in game.stacks) and (self.mark or self.content):
            game.stolen.append(f"nobody has it, and there is mark {self.mark!r}, by {self.content!r}")

    @property
    def mark(self):
        """The owner in the cluster; empty where there is none."""
        with self.cluster.state.lock:
            record = self.cluster.state.variables.get((KEY[0], owner_records.path_of(KEY[1])))
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
    settings = cluster.Settings(
        data_dir=tmp_path,
        nodes=[nodes.NodeSpec(name="one", zone="us-east-1a", instance_id="")],
        environment={},
        token=TOKEN,
        tokens={BLIND: acl.writer()},
    )
    with server.Server(cluster.Cluster(settings)) as serving:
        serving.cluster.state.plugins["efs"] = state.PluginRecord(plugin_id="efs", create_index=1, modify_index=1)
        yield Table(cluster=serving.cluster, url=serving.url)
