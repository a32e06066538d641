"""A program with `storage_stack` and components of its own is checked as one: the same rules as among components."""

import json

import pulumi
import pytest

from nomad_csi import CsiPlugin, EbsVolume, errors
from nomad_csi.components import program, resources, stack

SPEC = {
    "plugins": [
        {"id": "ebs0", "driver": "aws-ebs", "aws_region": "us-east-1"},
        {"id": "nfs0", "driver": "csi-driver-nfs"},
    ],
    "volumes": [{"id": "data", "plugin_id": "ebs0", "ebs": {"availability_zone": "us-east-1a", "size_gib": 8}}],
}


@pytest.fixture
def told(cloud):
    """Return a function that runs a program with the stack's config, and returns the problems."""

    def run(program, **config):
        found = {"storage:storage": json.dumps(SPEC), **{f"storage:{name}": value for name, value in config.items()}}
        pulumi.runtime.set_all_config(found, [])
        try:
            cloud.settle(lambda: program() and None)
        except errors.SpecError as error:
            return list(error.lines)
        return []

    yield run
    pulumi.runtime.set_all_config({}, [])


def declare():
    """Declare the stack of the config."""
    return stack.declare(pulumi.Config())


def own(name="own", plugin_id="ebs0", zone="us-east-1a", **arguments):
    """Declare a volume beside those of the stack."""
    return EbsVolume(name, plugin_id=plugin_id, availability_zone=zone, size_gib=8, **arguments)


TAKEN = ["volume_id: expected an id of its own in namespace default: volumes[0] has it already, got 'data'"]
ELSEWHERE = ["availability_zone: expected a zone of us-east-1, the plugin's region, got 'eu-west-1a'"]


@pytest.mark.parametrize("config", [{}, {"region": "global"}])
def test_plugin_of_the_stack_serves_only_its_region(told, config):
    """Also where its id is an output, and the stack names its cluster."""
    opts = pulumi.ResourceOptions(provider=resources.Provider("here", **config)) if config else None

    def program():
        return own(zone="eu-west-1a", plugin_id=declare().plugins["ebs0"].plugin_id, opts=opts)

    assert told(program, **config) == ELSEWHERE


def test_id_in_the_stack_is_taken(told):
    """Whichever of the two is declared first."""
    assert told(lambda: declare() and own(volume_id="data")) == TAKEN
    assert told(lambda: own("data") and declare()) == [
        "volumes[0] (data).id: expected an id of its own in namespace default: EbsVolume data has it already, got 'data'"
    ]


def test_another_cluster_has_ids_of_its_own(told):
    """Its provider has another address."""

    def program():
        declare()
        own(volume_id="data", opts=pulumi.ResourceOptions(provider=resources.Provider("b", address="http://b:4646")))

    assert told(program) == []


def test_providers_whose_cluster_is_not_known_are_not_taken_for_one(told):
    """Their addresses are outputs."""

    def program():
        for name in ("b", "c"):
            address = pulumi.Output.from_input(f"http://{name}:4646")
            own(name, volume_id="data", opts=pulumi.ResourceOptions(provider=resources.Provider(name, address=address)))

    assert told(program) == []


def test_sound_components_beside_the_stack_are_declared(told):
    """A plugin and a volume of it."""

    def program():
        declare()
        CsiPlugin("ebs1", driver="aws-ebs", aws_region="eu-west-1")
        return own(plugin_id="ebs1", zone="eu-west-1a")

    assert told(program) == []


@pytest.mark.parametrize(
    ("written", "region", "line"),
    [
        (
            "null",
            "",
            "expected the spec under storage:storage in the stack's config, got nothing; `nomad-csi init --pulumi "
            "python` writes an example; check the spelling of the key",
        ),
        (
            json.dumps(SPEC | {"owner": "shop/hcl"}),
            "",
            "owner: expected storage/prod, this stack, got shop/hcl; remove it",
        ),
        (json.dumps(SPEC), "us-east-1", ""),
        (
            json.dumps(SPEC),
            "eu-west-1",
            "plugins[0] (ebs0).aws_region: expected eu-west-1, the aws:region of this stack, got 'us-east-1'; one stack "
            "works in one region: use another stack for the other",
        ),
    ],
)
def test_spec_of_another_stack_is_refused(told, cloud, written, region, line):
    """Before anything is declared. A plugin of no region works in each."""

    def program():
        if region:
            pulumi.runtime.set_config("aws:region", region)
        return declare()

    assert told(program, storage=written) == [line] * bool(line)
    assert [made.name for made in cloud.recorder.made if "CsiPlugin" in made.token] == ["ebs0", "nfs0"] * (not line)


def test_protected_storage_of_the_spec_is_named_by_its_key(told, cloud):
    """Where the state has it in another zone: a component's argument would be no key of the spec."""
    disk = {"arn": "arn:aws:ec2:us-east-1:1:volume/vol-1", "availabilityZone": "us-east-1b"}
    cloud.recorder.recorded = {
        "urn:pulumi:prod::storage::nomad-csi:index:EbsVolume$aws:ebs/volume:Volume::former": disk
        | {"tags": {"nomad-csi:volume": "default/data"}}
    }

    with pytest.raises(program.ProgramError) as refused:
        told(declare)

    head, line = str(refused.value).splitlines()
    assert head == "nomad-csi:storage: 1 problem"
    assert line.startswith(
        "  volumes[0] (data).ebs.availability_zone: expected 'us-east-1b': vol-1 is protected, and would"
    )
