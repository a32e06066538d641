"""Pulumi mocks that record every resource. They show neither `protect` nor parents, and ask no provider."""

import asyncio
import warnings
from dataclasses import dataclass, field

import pulumi
import pytest
from pulumi.runtime import mocks

SECRET_MARKER = "4dabf18193072939515e22adb298388d"
CLUSTER_ID = "0f8fad5b-d9cb-469f-a165-70867728950e"
STACK_ID = "9f86d081884c7d65"
SUBNET = {"id": "subnet-0default", "vpcId": "vpc-1", "availabilityZone": "us-east-1a"}

ARNS = {
    "aws:efs/accessPoint:AccessPoint": "arn:aws:elasticfilesystem:us-east-1:123456789012:access-point",
    "aws:efs/fileSystem:FileSystem": "arn:aws:elasticfilesystem:us-east-1:123456789012:file-system",
    "aws:iam/policy:Policy": "arn:aws:iam::123456789012:policy",
}


@dataclass
class Made:
    """One registered resource."""

    token: str
    name: str
    inputs: dict = field(repr=False)


class Recorder(pulumi.runtime.Mocks):
    """Remembers what a program declares."""

    def __init__(self):
        self.made = []
        self.asked = []
        """What the provider was told when it was asked which cluster it is."""
        self.cluster_id = CLUSTER_ID
        self.left = []
        """EBS volumes with the stack's id that EC2 has."""
        self.file_systems = {}
        """What EFS calls file systems, by name, where it is not a name that is seen to be one of a test."""
        self.recorded = {}
        """The outputs of each resource in the state, by URN."""

    def new_resource(self, args):
        self.made.append(Made(token=args.typ, name=args.name, inputs=args.inputs))
        outputs = dict(args.inputs)
        if args.typ == "nomad-csi:index:PluginJob":
            outputs["jobModifyIndex"] = 7
        if args.typ == "nomad-csi:index:StackIdentity":
            outputs["stackId"] = STACK_ID
        identity = f"{args.name}-id"
        if args.typ == "aws:efs/fileSystem:FileSystem":
            identity = self.file_systems.get(args.name, identity)
        if args.typ in ARNS:
            outputs["arn"] = f"{ARNS[args.typ]}/{identity}"
        return identity, outputs

    def call(self, args):
        if args.token == "aws:ec2/getSubnet:getSubnet":
            return SUBNET | ({"id": args.args["id"]} if "id" in args.args else {})
        if args.token == "nomad-csi:index:clusterId":
            self.asked.append(args.args)
            return {"id": self.cluster_id}
        if args.token == "aws:index/getPartition:getPartition":
            return {"partition": "aws", "id": "aws"}
        if args.token == "aws:ebs/getEbsVolumes:getEbsVolumes":
            return {"ids": self.left, "id": "us-east-1"}
        if args.token == "pulumi:pulumi:readStackResourceOutputs":
            return {"outputs": {urn: {"outputs": outputs} for urn, outputs in self.recorded.items()}}
        raise AssertionError(f"unexpected call of {args.token}")


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


@pytest.fixture(autouse=True)
def _event_loop():
    """An event loop, in which a test makes outputs: asyncio.run() takes it away, and Python 3.14 makes none."""
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        try:
            asyncio.get_event_loop()
        except RuntimeError:
            asyncio.set_event_loop(asyncio.new_event_loop())


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
