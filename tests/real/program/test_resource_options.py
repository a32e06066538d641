"""Resource options of components on the real engine: providers, order, parents, names, protection, transforms, stacks."""

import json

import boto3
import pytest

from nomad_csi import nomad

CREDENTIALS = {"region_name": "us-east-1", "aws_access_key_id": "sandbox", "aws_secret_access_key": "sandbox"}
PROJECT = "name: {name}\nruntime: python\n"
NETWORK = """
import os
import pulumi

pulumi.export("address", os.environ["NOMAD_ADDR"])
pulumi.export("zone", "us-east-1a")
"""
PROGRAM = """
import pulumi
import pulumi_aws as aws

import nomad_csi

config = pulumi.Config()
network = pulumi.StackReference("organization/network/dev")
cluster = nomad_csi.Provider("cluster", address=network.require_output("address"))
region = aws.Provider("east", region="us-east-1")
group = pulumi.ComponentResource("example:index:Group", "team")
first = aws.ec2.SecurityGroup("first", description="what the volume waits for")


def settle(args):
    if args.type_ != "aws:ebs/volume:Volume":
        return None
    ignored = pulumi.ResourceOptions(ignore_changes=["size"]) if config.get_bool("ignore") else None
    tagged = {**args.props, "tags": pulumi.Output.from_input(args.props["tags"]).apply(lambda tags: tags | {"cost": "7"})}
    return pulumi.ResourceTransformResult(tagged, pulumi.ResourceOptions.merge(args.opts, ignored))


plugin = nomad_csi.CsiPlugin(
    "ebs0",
    driver="aws-ebs",
    aws_region="us-east-1",
    task_driver=config.require_object("taskDriver"),
    opts=pulumi.ResourceOptions(providers=[cluster, region]),
)
if config.get_bool("present") is not False:
    nomad_csi.EbsVolume(
        config.require("name"),
        plugin_id=plugin.plugin_id,
        volume_id="disk",
        availability_zone=network.require_output("zone"),
        size_gib=config.require_int("size"),
        protect=config.get_bool("protect") or False,
        opts=pulumi.ResourceOptions(
            parent=group,
            providers=[cluster, region],
            depends_on=[first],
            aliases=[pulumi.Alias(name="disk", parent=pulumi.ROOT_STACK_RESOURCE), pulumi.Alias(name="disk")],
            transforms=[settle],
            retain_on_delete=config.get_bool("retain") or False,
        ),
    )
"""


@pytest.fixture
def program(stack, world, tmp_path):
    """The program, with a stack of another project that it refers to, in one backend."""
    folders = {}
    for name, text in (("network", NETWORK), ("consumer", PROGRAM)):
        folders[name] = tmp_path / name
        folders[name].mkdir()
        (folders[name] / "Pulumi.yaml").write_text(PROJECT.format(name=name))
        (folders[name] / "__main__.py").write_text(text)
    network = stack(folders["network"], PATH=world.environment["PATH"])
    network.run("up", "--yes", "--skip-preview")
    backend = network.environment["PULUMI_BACKEND_URL"]
    made = stack(folders["consumer"], PATH=world.environment["PATH"], PULUMI_BACKEND_URL=backend)
    made.command("plugin", "install")
    made.run("config", "set", "taskDriver", json.dumps(world.task_driver))
    configure(made, name="disk", size="4")
    yield made
    network.run("destroy", "--yes", "--skip-preview")


def configure(stack, **values):
    """Set *values* of the stack's configuration."""
    for name, value in values.items():
        stack.run("config", "set", name, value)


def by_type(stack):
    """Return the resources by the last part of their type and their name."""
    return {
        (item["type"].rpartition(":")[2], item["urn"].rpartition("::")[2]): item for item in stack.resources().values()
    }


def test_options_of_a_component_reach_its_children(program):
    """Up; a new name; a child whose changes are ignored; protection."""
    program.run("up", "--yes", "--skip-preview")
    found = by_type(program)
    disk, registration = found["Volume", "disk"], found["VolumeRegistration", "disk"]

    assert "aws::east::" in disk["provider"]
    assert "nomad-csi::cluster::" in registration["provider"]
    assert "nomad-csi::cluster::" in found["PluginJob", "ebs0-node"]["provider"]
    assert disk["parent"] == registration["parent"] == found["EbsVolume", "disk"]["urn"]
    assert found["EbsVolume", "disk"]["parent"] == found["Group", "team"]["urn"]
    first = found["SecurityGroup", "first"]["urn"]
    assert first in disk["dependencies"]
    assert first in registration["dependencies"]
    assert disk["inputs"]["tags"]["cost"] == "7"
    assert (disk["inputs"]["availabilityZone"], disk["inputs"]["size"]) == ("us-east-1a", 4)

    configure(program, name="renamed")
    program.run("up", "--yes", "--skip-preview")
    renamed = by_type(program)
    assert renamed["Volume", "renamed"]["id"] == disk["id"]
    assert ("Volume", "disk") not in renamed

    configure(program, size="8")
    assert "[diff: ~size]" in program.run("preview")
    configure(program, ignore="true", protect="true")
    program.run("up", "--yes", "--skip-preview")
    kept = by_type(program)["Volume", "renamed"]
    assert (kept["inputs"]["size"], kept["protect"]) == (4, True)
    configure(program, present="false")
    assert "cannot be deleted\nbecause it is protected" in program.run("preview", code=1).replace(" " * 4, "")

    configure(program, present="true", protect="false")
    program.run("up", "--yes", "--skip-preview")
    program.run("destroy", "--yes", "--skip-preview")


def registered(address, token):
    """Return the volumes of the cluster at *address*, with their external ids."""
    with nomad.Nomad(nomad.Connection(address=address, token=token)) as client:
        listed = client.request("GET", "/v1/volumes", query={"type": "csi"}).data
    return {item["ID"]: item["ExternalID"] for item in listed}


def test_retained_component_leaves_disk_and_registration(program, world):
    """``retain_on_delete`` reaches the children: a destroy of the program leaves both, and removes the plugin's jobs."""
    configure(program, retain="true")
    program.run("up", "--yes", "--skip-preview")
    disk = by_type(program)["Volume", "disk"]["id"]

    program.run("destroy", "--yes", "--skip-preview")

    found = registered(world.environment["NOMAD_ADDR"], world.environment["NOMAD_TOKEN"])
    ec2 = boto3.client("ec2", endpoint_url=world.environment["AWS_ENDPOINT_URL"], **CREDENTIALS)
    kept = ec2.describe_volumes(VolumeIds=[disk])["Volumes"]
    with world.nomad() as client:
        client.request("DELETE", "/v1/volume/csi/disk")
    ec2.delete_volume(VolumeId=disk)
    assert found == {"disk": disk}
    assert [item["State"] for item in kept] == ["available"]
