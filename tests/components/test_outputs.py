"""What a program can do with a component: its outputs, with their values."""

import json
import re

import pulumi
import pytest

from nomad_csi import components, errors
from nomad_csi.components import arguments
from nomad_csi.hcl import environment
from nomad_csi.provider import hosting
from tests.components import test_order, test_user_mocks
from tests.components import test_outputs_everywhere as everywhere
from tests.schema import descriptions

ALL = dict(test_user_mocks.DECLARED)
EFS_ARN = "arn:aws:elasticfilesystem:us-east-1:123456789012"


@pytest.fixture(params=[False, True], ids=["known", "outputs"])
def outputs(cloud, request):
    """Return a function that declares a component, and gives the values of its outputs by their names."""

    def run(component, args, **options):
        found = {}

        def program():
            given = late(component, args) if request.param else args
            made = component("data", given, pulumi.ResourceOptions(**options))
            names = list(descriptions.output_types(component))
            return pulumi.Output.all(*(getattr(made, name) for name in names)).apply(
                lambda values: found.update(zip(names, values, strict=True))
            )

        cloud.settle(program)
        return found

    return run


def test_ebs_volume(outputs, cloud):
    """Its ids, its disk, its file, and the blocks of a job."""
    device = {"capabilities": [{"access_mode": "single-node-writer", "attachment_mode": "block-device"}]}
    found = outputs(components.EbsVolume, test_user_mocks.EBS | device | {"namespace": "shop", "volume_id": "mysql"})

    disk = cloud.id("aws:ebs/volume:Volume", "data")
    hcl = found.pop("volume_hcl")
    assert 'id          = "mysql"' in hcl
    assert f'external_id = "{disk}"' in hcl
    assert found == {
        "external_id": disk,
        "registration_id": "data-id",
        "volume_id": "mysql",
        "namespace": "shop",
        "arn": f"arn:aws:ec2:us-east-1:123456789012:volume/{disk}",
        "availability_zone": "us-east-1a",
        "size_gib": 40,
        "kms_key_arn": "",
        "claim": {
            "namespace": "shop",
            "name": "mysql",
            "volume": {
                "type": "csi",
                "source": "mysql",
                "access_mode": "single-node-writer",
                "attachment_mode": "block-device",
                "read_only": False,
            },
            "volume_mount": {"volume": "mysql", "destination": "/dev/mysql", "read_only": False},
        },
    }


VOLUMES = [components.EbsVolume, components.EfsVolume, components.ExistingVolume, components.CsiVolume]


@pytest.mark.parametrize("component", VOLUMES)
def test_volume_file_has_the_plugin_and_the_storage(outputs, component):
    """Also where these are known later; what a plugin creates has no id yet."""
    found = outputs(component, ALL[component])

    written = dict(re.findall(r'(plugin_id|external_id) *= "(.*)"', found["volume_hcl"]))
    storage = {} if component is components.CsiVolume else {"external_id": found["external_id"]}
    assert written == {"plugin_id": ALL[component]["plugin_id"]} | storage


def test_efs_volume_of_its_own_file_system(outputs, cloud):
    """What mounts it elsewhere needs: the file system, the access point, the mount targets, the group."""
    cloud.recorder.answered["aws:efs/mountTarget:MountTarget"] = {"availabilityZoneName": "us-east-1a"}

    found = outputs(components.EfsVolume, ALL[components.EfsVolume])

    system = cloud.id("aws:efs/fileSystem:FileSystem", "data")
    point = cloud.id("aws:efs/accessPoint:AccessPoint", "data")
    [target] = [item.name for item in cloud.recorder.made if item.token == "aws:efs/mountTarget:MountTarget"]
    assert {name: found[name] for name in found if name not in {"volume_hcl", "claim", "dns_name"}} == {
        "external_id": f"{system}::{point}",
        "registration_id": "data-id",
        "volume_id": "data",
        "namespace": "default",
        "file_system_id": system,
        "file_system_arn": f"{EFS_ARN}:file-system/{system}",
        "access_point_id": point,
        "access_point_arn": f"{EFS_ARN}:access-point/{point}",
        "mount_target_ids": {"us-east-1a": cloud.id("aws:efs/mountTarget:MountTarget", target)},
        "security_group_id": cloud.id("aws:ec2/securityGroup:SecurityGroup", "data"),
    }
    assert found["claim"]["volume"]["access_mode"] == "multi-node-multi-writer"


def test_efs_volume_has_nothing_of_what_it_does_not_make(outputs):
    """Neither of an access point, nor of a file system that was made elsewhere."""
    point = {"access_point": {"path": "/a", "uid": 1, "gid": 1}, "file_system_id": "fs-0123456789abcdef0"}

    whole = outputs(components.EfsVolume, test_user_mocks.TARGETS | test_user_mocks.MOUNTED)
    part = outputs(components.EfsVolume, {"plugin_id": "efs0"} | point)

    assert (whole["access_point_id"], whole["access_point_arn"]) == ("", "")
    assert whole["external_id"] == whole["file_system_id"]
    assert (part["dns_name"], part["mount_target_ids"], part["security_group_id"]) == ("", {}, "")


def test_plugin(outputs, cloud):
    """Its jobs by role, and its policy."""
    found = outputs(components.CsiPlugin, ALL[components.CsiPlugin])

    assert found["job_ids"] == ["plugin-data-controller", "plugin-data-nodes"]
    assert {role: text.splitlines()[-1] for role, text in found["job_hcl"].items()} == {"controller": "}", "node": "}"}
    assert 'job "plugin-data-nodes"' in found["job_hcl"]["node"]
    assert found["iam_policy_arn"] == cloud.id("aws:iam/policy:Policy", "data")
    assert json.loads(found["iam_policy"])["Version"] == "2012-10-17"


def test_plugin_says_what_its_verification_found(outputs, cloud):
    """The version that it reported, its instances, and how many there must be."""
    cloud.recorder.answered["nomad-csi:index:PluginHealth"] = {
        "reportedVersion": "v1.51.0",
        "healthyControllers": 1.0,
        "expectedControllers": 2.0,
        "healthyNodes": 3.0,
        "expectedNodes": 4.0,
    }

    found = outputs(components.CsiPlugin, {"driver": "csi-hostpath"})

    assert {name: value for name, value in found.items() if name != "job_hcl"} == {
        "plugin_id": "data",
        "job_ids": ["plugin-data-monolith"],
        "iam_policy_arn": "",
        "iam_policy": "",
        "version": "v1.51.0",
        "healthy_controllers": 1,
        "expected_controllers": 2,
        "healthy_nodes": 3,
        "expected_nodes": 4,
    }


def test_created_volume_says_what_the_plugin_answered(outputs, cloud):
    """Its size, its context, and where it can be attached."""
    answered = {"context": {"subvolume": "made"}, "topologies": [{"segments": {"zone": "a"}}]}
    cloud.recorder.answered["nomad-csi:index:CreatedVolume"] = {"capacityBytes": 10737418240.0, **answered}

    found = outputs(components.CsiVolume, ALL[components.CsiVolume])

    assert found["capacity_bytes"] == 10737418240
    assert {name: found[name] for name in answered} == answered


def test_secret_tag_makes_no_other_output_secret(cloud):
    """Neither the ids nor the blocks of a job."""

    def program():
        made = components.EbsVolume("data", test_user_mocks.EBS | {"tags": {"cost": pulumi.Output.secret("7")}})
        names = ("volume_id", "namespace", "claim", "external_id", "size_gib")

        async def secret(_):
            return [name for name in names if await getattr(made, name).is_secret()]

        return made.registration_id.apply(secret).apply(found.extend)

    found = []
    cloud.settle(program)

    assert found == []


def test_program_in_another_language_has_the_names_of_the_schema(cloud):
    """In a claim, too."""
    found = []

    def program():
        inputs = {"pluginId": "ebs0", "availabilityZone": "us-east-1a", "sizeGib": 40.0}
        made = hosting.Hosted().construct("data", "nomad-csi:index:EbsVolume", inputs)
        return made.state["claim"].apply(found.append)

    cloud.settle(program)

    [claim] = found
    assert claim["volumeMount"] == {"volume": "data", "destination": "/data", "readOnly": False}
    assert claim["volume"]["accessMode"] == "single-node-writer"


def test_ready_stack_returns_its_components(cloud, ready_stack):
    """By the names that the spec has; its provider is that of the config."""
    config = {"address": "http://n:4646", "token": "secret", "namespace": "own", "region": "eu"}
    made = ready_stack(cloud, test_order.SPEC, **config)

    given = cloud.sent("pulumi:providers:nomad-csi", "nomad")
    assert {name: given.get(name) for name in config} == config

    assert sorted(made.plugins) == ["aws-ebs0", "aws-efs0"]
    assert sorted(made.volumes) == ["default/disk", "default/made", "default/shared", "default/there"]
    assert isinstance(made.volumes["default/disk"], components.EbsVolume)


known, run = everywhere.known, everywhere.run
"""Fixtures."""


def late(component, value, where=()):
    """Return *value* of the argument at *where* with an output for each of its parts that may be one."""
    if isinstance(value, dict) and where != ("driver",):
        return {key: late(component, item, (*where, key)) for key, item in value.items()}
    if isinstance(value, list):
        return [late(component, item, (*where, index)) for index, item in enumerate(value)]
    return value if everywhere.pattern(where, component) in arguments.PLAIN else pulumi.Output.from_input(value)


WHOLE = {id(args): (component, args) for (component, _), (args, _) in everywhere.CASES.items()}


@pytest.mark.parametrize(("component", "args"), WHOLE.values(), ids=lambda value: getattr(value, "__name__", ""))
def test_outputs_in_every_argument_make_the_same(run, component, args):
    """Each part of a resource is made of all that it depends on."""
    is_hidden = any(everywhere.HIDDEN.match(everywhere.pattern(where, component)) for where in everywhere.places(args))

    found = run(component, lambda: late(component, args))

    assert everywhere.told(found, is_hidden) == everywhere.told(run(component, args), is_hidden)


def test_ready_stack_renders_with_templates_of_its_own(cloud, ready_stack, monkeypatch, tmp_path):
    """Those in a folder of the project; what they cannot render is refused before anything is made."""
    monkeypatch.setattr(pulumi, "get_root_directory", lambda: str(tmp_path))
    template = tmp_path / "own" / "job.nomad.hcl.j2"
    template.parent.mkdir()
    template.write_text("{{ no such")

    with pytest.raises(errors.NomadCsiError, match=f"^template {template}, line 1: expected token"):
        ready_stack(cloud, test_order.SPEC, templates="own")

    assert [made.token for made in cloud.recorder.made if made.token != "pulumi:pulumi:Stack"] == []
    template.write_text(environment.templates_folder().joinpath(template.name).read_text() + "# own\n")
    ready_stack(cloud, test_order.SPEC, templates="own")
    jobs = [made.inputs["hcl"] for made in cloud.recorder.made if made.token == "nomad-csi:index:PluginJob"]
    assert [hcl.endswith("# own\n") for hcl in jobs] == [True, True, True]
