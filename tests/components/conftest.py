"""Pulumi mocks that record every resource. They show neither `protect` nor parents, and ask no provider."""

import json
from dataclasses import dataclass, field

import pulumi
import pytest
import yaml
from pulumi.runtime import mocks

from nomad_csi import testing
from nomad_csi.components import stack
from nomad_csi.provider import wire
from tests.event_loop import _event_loop  # noqa: F401  # a fixture

SECRET_MARKER = "4dabf18193072939515e22adb298388d"
CLUSTER_ID = testing.REPLIES["nomad-csi:index:clusterId"]["id"]
STACK_ID = testing.OUTPUTS["nomad-csi:index:StackIdentity"]["stackId"]
STATE = "pulumi:pulumi:readStackResourceOutputs"


@dataclass
class Made:
    """One registered resource."""

    token: str
    name: str
    inputs: dict = field(repr=False)


class Recorder(testing.Mocks):
    """Remembers what a program declares."""

    def __init__(self):
        super().__init__()
        self.made = []
        self.asked = []
        """What the provider was told when it was asked which cluster it is."""
        self.cluster_id = CLUSTER_ID
        self.left = []
        """EBS volumes with the stack's id that EC2 has."""
        self.recorded = {}
        """The outputs of each resource in the state, by URN."""
        self.answered = {}
        """Further outputs of resources, by type."""

    def new_resource(self, args):
        self.made.append(Made(token=args.typ, name=args.name, inputs=args.inputs))
        identity, outputs = super().new_resource(args)
        return identity, outputs | self.answered.get(args.typ, {})

    def call(self, args):
        if args.token not in {*testing.REPLIES, STATE}:
            raise AssertionError(f"unexpected call of {args.token}")
        if args.token == "nomad-csi:index:clusterId":
            self.asked.append(args.args)
        self.replies = {
            "nomad-csi:index:clusterId": {"id": self.cluster_id},
            "aws:ebs/getEbsVolumes:getEbsVolumes": {"ids": self.left},
            STATE: {"outputs": {urn: {"outputs": outputs} for urn, outputs in self.recorded.items()}},
        }
        return super().call(args)


class Cloud:
    """Runs programs against the recorder."""

    def __init__(self):
        self.recorder = Recorder()
        pulumi.runtime.set_mocks(self.recorder, project="storage", stack="prod", preview=False)

    def settle(self, program):
        """Run *program* until every registration is in."""
        pulumi.runtime.test(program)()

    def listing(self):
        """Return ``type name`` of all custom resources, sorted."""
        return sorted(
            f"{made.token} {made.name}"
            for made in self.recorder.made
            if not made.token.startswith(("pulumi:", "nomad-csi:index:Csi", "nomad-csi:index:StackIdentity"))
            and "Volume" not in made.token.split(":")[2]
        )

    def inputs(self, token, name):
        """Return the inputs of the one resource of that type and name."""
        [made] = [made for made in self.recorder.made if (made.token, made.name) == (token, name)]
        return made.inputs

    def sent(self, token, name):
        """Return them as the provider reads them: whole numbers are no floats."""
        return wire.load(wire.dump(self.inputs(token, name)))[0]

    def id(self, token, name):
        """Return the id of the one resource of that type and name."""
        return self.recorder.outputs(token, name)["id"]


@pytest.fixture
def new_cloud():
    """A function that makes a recorder of which no program knows anything yet."""
    return Cloud


@pytest.fixture
def cloud():
    return Cloud()


@pytest.fixture
def registered(monkeypatch):
    """The requests by which programs register resources, with what the mocks do not show: protection, dependencies."""
    requests = []
    register = mocks.MockMonitor.RegisterResource

    def record(self, request):
        requests.append(request)
        return register(self, request)

    monkeypatch.setattr(mocks.MockMonitor, "RegisterResource", record)
    return requests


@pytest.fixture
def ready_stack():
    """Declare the ready stack of a spec, and return its components: ``ready_stack(cloud, SPEC, renderTo="out")``."""

    def declare(cloud, spec, **config):
        document = yaml.safe_load(spec) if isinstance(spec, str) else spec
        given = {"storage": json.dumps(document), **config}
        pulumi.runtime.set_all_config({f"storage:{name}": value for name, value in given.items()}, [])
        made = []
        cloud.settle(lambda: made.append(stack.declare(pulumi.Config())))
        return made[0]

    yield declare
    pulumi.runtime.set_all_config({}, [])
