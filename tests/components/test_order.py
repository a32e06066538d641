"""What a volume's registration waits for: the proof that its plugin is healthy, and its storage with all that mounts it."""

import pulumi
import pytest

from nomad_csi import CsiPlugin, EbsVolume
from nomad_csi.components import resources
from tests.components import test_user_mocks

SPEC = """
plugins:
  - {id: aws-ebs0, driver: aws-ebs, aws_region: us-east-1, iam: {role_name: nomad-client, create_volumes: true}}
  - {id: aws-efs0, driver: aws-efs, aws_region: us-east-1}
volumes:
  - {id: disk, plugin_id: aws-ebs0, ebs: {availability_zone: us-east-1a, size_gib: 40}}
  - {id: made, plugin_id: aws-ebs0, create: {capacity_min_gib: 10, availability_zone: us-east-1a}}
  - id: there
    plugin_id: aws-ebs0
    existing: {external_id: vol-0123456789abcdef0, availability_zone: us-east-1a}
  - id: shared
    plugin_id: aws-efs0
    efs:
      mount_targets: [{availability_zone: us-east-1a}]
      clients: {cidr_blocks: [10.0.0.0/8]}
      access_point: {path: /shared, uid: 1000, gid: 1000}
"""
IN_NO_COMPONENT = {"nomad-csi:index:StackIdentity", "nomad-csi:index:PluginHealth"}
"""One for all components, and the one behind jobs that wait."""

EBS = {"availability_zone": "us-east-1a", "size_gib": 40}


@pytest.fixture
def of_stack(new_cloud, registered, ready_stack):
    """Return the requests by which the ready stack registers `SPEC`, by type and name."""
    ready_stack(new_cloud(), SPEC)
    return {f"{each.type.rpartition(':')[2]} {each.name}": each for each in registered}


def waits_for(request):
    """Return type and name of what *request* directly waits for."""
    names = ("::".join(urn.split("::")[2:]).rpartition("$")[2] for urn in request.dependencies)
    return {f"{kind.rpartition(':')[2]} {name}" for kind, _, name in (each.partition("::") for each in names)}


def test_volume_of_the_ready_stack_waits_for_its_plugin_and_its_storage(of_stack):
    """Whatever kind it is of; a plugin without the proof that it is healthy gets no volume."""
    of_ebs = {"PluginHealth aws-ebs0"}
    of_shared = {"FileSystem shared", "AccessPoint shared", "MountTarget shared-us-east-1a", "PluginHealth aws-efs0"}

    assert waits_for(of_stack["VolumeRegistration disk"]) >= of_ebs | {"Volume disk"}
    assert waits_for(of_stack["CreatedVolume made"]) >= of_ebs
    assert waits_for(of_stack["VolumeRegistration there"]) >= of_ebs
    assert waits_for(of_stack["VolumeRegistration shared"]) >= of_shared
    assert not of_ebs & waits_for(of_stack["VolumeRegistration shared"])


JOBS = ["PluginJob aws-ebs0-controller", "PluginJob aws-ebs0-node", "PluginJob aws-efs0-node"]


@pytest.mark.parametrize("job", JOBS)
def test_plugins_of_the_ready_stack_are_declared_after_the_storage(of_stack, job):
    """So a tear-down takes them down before: storage goes when nothing can mount it any more."""
    assert {each for each in of_stack if each.startswith("PluginJob ")} == set(JOBS)
    assert waits_for(of_stack[job]) >= {"Volume disk", "FileSystem shared"}


def test_node_plugins_wait_for_their_controllers_and_the_proof_for_all(of_stack):
    """So a tear-down stops the node plugins first: a controller detaches what they have let go."""
    controller, node, _ = JOBS

    assert controller in waits_for(of_stack[node])
    assert node not in waits_for(of_stack[controller])
    assert waits_for(of_stack["PluginHealth aws-ebs0"]) >= {controller, node}


def test_what_is_fixed_once_storage_is_made_is_not_compared(of_stack):
    """A file system with another creation token would be another one, without the data."""
    assert list(of_stack["FileSystem shared"].ignoreChanges) == ["creationToken"]


def test_volume_with_the_output_of_a_plugin_waits_for_the_proof(new_cloud, registered):
    """In a program of one's own; the id alone, as text, makes no order."""

    def program():
        plugin = CsiPlugin("aws-ebs0", {"driver": "aws-ebs", "aws_region": "us-east-1"})
        EbsVolume("after", {"plugin_id": plugin.plugin_id} | EBS)
        EbsVolume("beside", {"plugin_id": "aws-ebs0"} | EBS)

    new_cloud().settle(program)

    volumes = [each for each in registered if each.type == "nomad-csi:index:VolumeRegistration"]
    assert {each.name: "PluginHealth aws-ebs0" in waits_for(each) for each in volumes} == {
        "after": True,
        "beside": False,
    }


@pytest.mark.parametrize(
    ("component", "args"), test_user_mocks.DECLARED, ids=lambda value: getattr(value, "__name__", "")
)
def test_children_wait_for_what_the_caller_names(new_cloud, registered, component, args):
    """The engine lets a component alone wait; files, and the proof behind the jobs, are there early at no cost."""

    def program():
        first = resources.RenderedFile("first", path="first", content="")
        component("data", args, pulumi.ResourceOptions(depends_on=[first]))

    new_cloud().settle(program)

    [first] = [each for each in registered if each.name == "first"]
    waiting = {
        each.type: any(urn.endswith("RenderedFile::first") for urn in each.dependencies)
        for each in registered
        if each.custom and each is not first and each.type not in IN_NO_COMPONENT
    }
    assert waiting
    assert [kind for kind, waits in waiting.items() if not waits] == []
