"""What a program in another language gives a component arrives whole, in the names and types of Python."""

import asyncio
import contextlib

import pulumi
import pytest
from pulumi import resource
from pulumi.output import UNKNOWN
from pulumi.runtime.proto import provider_pb2

from nomad_csi.components import scope
from nomad_csi.provider import hosting


def arguments(kind, given):
    """Return *given*, the inputs of the component *kind*, as its class takes them."""
    return hosting.component_arguments(given, f"nomad-csi:index:{kind}")


@pytest.mark.parametrize(
    ("kind", "given", "found"),
    [
        (
            "CsiPlugin",
            {"awsRegion": "us-east-1", "taskDriver": {"name": "raw_exec", "clientDataDir": "/d"}},
            {"aws_region": "us-east-1", "task_driver": {"name": "raw_exec", "client_data_dir": "/d"}},
        ),
        ("CsiPlugin", {"environment": {"someName": "x"}}, {"environment": {"someName": "x"}}),
        (
            "EbsVolume",
            {"capabilities": [{"accessMode": "a"}, {"attachmentMode": "c"}]},
            {"capabilities": [{"access_mode": "a"}, {"attachment_mode": "c"}]},
        ),
        ("EbsVolume", {"sizeGib": 40.0, "sise": 3.0, "iops": None}, {"size_gib": 40, "sise": 3}),
        ("EfsVolume", {"accessPoint": {"uid": 1000.0, "gid": 0.5}}, {"access_point": {"uid": 1000, "gid": 0.5}}),
        ("CsiPlugin", {"verify": {"stableS": 3.0}}, {"verify": {"stable_s": 3.0}}),
        (
            "CsiPlugin",
            {"driver": {"health_timeout_s": 60.0}, "config": {"sshConnection": {"port": 22.0, "hosts": [1.0]}}},
            {"driver": {"health_timeout_s": 60}, "config": {"sshConnection": {"port": 22, "hosts": [1]}}},
        ),
    ],
    ids=["record", "map", "list", "number", "numbers in a record", "a float", "what may be anything"],
)
def test_inputs_get_the_names_and_numbers_of_python(kind, given, found):
    """Keys of maps are the operator's; the wire has floats only; an unknown name is left to the rules."""
    assert repr(arguments(kind, given)) == repr(found)


def test_outputs_stay_outputs_wherever_they_are():
    """Nothing is taken out of one, and none becomes an empty object."""
    late = looped(lambda: pulumi.Output.from_input("role"))

    assert arguments("CsiPlugin", {"taskDriver": late}) == {"task_driver": late}
    assert arguments("CsiPlugin", {"iam": {"roleName": late}}) == {"iam": {"role_name": late}}
    assert arguments("EfsVolume", {"clients": {"cidrBlocks": [late]}}) == {"clients": {"cidr_blocks": [late]}}


def test_an_unknown_value_is_an_output():
    """The engine sends a marker for what a preview does not know."""
    given = looped(lambda: arguments("EbsVolume", {"kmsKeyArn": UNKNOWN}))

    assert isinstance(given["kms_key_arn"], pulumi.Output)


def looped(make):
    """Return what *make* returns in a running event loop: an output needs one, and Python 3.12 makes none for it."""

    async def run():
        return make()

    with contextlib.closing(asyncio.new_event_loop()) as loop:
        return loop.run_until_complete(run())


def opened(make):
    """Return the parts of an input after `hosting.opened`: plain values, or (value, is secret, dependencies)."""

    async def parts(value):
        if isinstance(value, pulumi.Output):
            known = await value.future() if await value.is_known() else "unknown"
            return known, await value.is_secret(), {await item.urn.future() for item in await value.resources()}
        if isinstance(value, dict):
            return {name: await parts(item) for name, item in value.items()}
        return [await parts(item) for item in value] if isinstance(value, list) else value

    async def run():
        name, value = make()
        return await parts(await hosting.opened(value, name))

    with contextlib.closing(asyncio.new_event_loop()) as loop:
        return loop.run_until_complete(run())


def wrapped(value, *urns, is_secret=False):
    """Return what the SDK makes of a whole input with dependencies."""
    made = pulumi.Output.secret(value) if is_secret else pulumi.Output.from_input(value)
    depends_on = {resource.DependencyResource(urn) for urn in urns}
    return pulumi.Output(depends_on, made.future(with_unknowns=True), made.is_known(), made.is_secret())


def test_parts_of_a_whole_output_are_outputs_of_their_own():
    """Known ones with their value, unknown ones unknown, each with the dependencies of the whole."""
    value = {"roleName": "clients", "kmsKeyArns": ["a", UNKNOWN]}

    found = opened(lambda: ("iam", wrapped(value, "urn:a")))

    assert found == {
        "roleName": ("clients", False, {"urn:a"}),
        "kmsKeyArns": [("a", False, {"urn:a"}), ("unknown", False, {"urn:a"})],
    }


@pytest.mark.parametrize(("outer", "inner"), [(True, False), (False, True)])
def test_output_inside_of_an_output_is_as_secret_and_dependent_as_both(outer, inner):
    """Wherever the secret is, it stays one; a resource waits for what both depend on."""

    def nested():
        whole = wrapped({}, "urn:a", is_secret=outer)
        inside = hosting._done({"roleName": wrapped("clients", "urn:b", is_secret=inner)})
        return "iam", pulumi.Output(whole._resources, inside, whole.is_known(), whole.is_secret())

    assert opened(nested) == {"roleName": ("clients", True, {"urn:a", "urn:b"})}


def test_parts_of_a_secret_are_secret():
    """All of them: which one it was cannot be seen."""
    assert opened(lambda: ("mountOptions", wrapped({"fsType": "xfs"}, is_secret=True))) == {
        "fsType": ("xfs", True, set())
    }


def test_what_decides_which_resources_there_are_is_taken_out():
    """Where it is known and no secret."""
    value = {"roleName": "clients", "required": True}

    assert opened(lambda: ("iam", wrapped(value, "urn:a"))) == {
        "roleName": ("clients", False, {"urn:a"}),
        "required": True,
    }
    assert opened(lambda: ("driver", wrapped("aws-ebs", "urn:a"))) == "aws-ebs"
    assert opened(lambda: ("driver", wrapped("aws-ebs", is_secret=True))) == ("aws-ebs", True, set())


def test_plain_inputs_stay_plain():
    """And outputs inside of them are what they were."""
    assert opened(lambda: ("tags", {"a": "b", "c": wrapped("d", "urn:a")})) == {
        "a": "b",
        "c": ("d", False, {"urn:a"}),
    }


def test_dependencies_of_inputs_are_not_those_of_all_children():
    """A component waits for what the caller names; each child also for the inputs that it uses."""
    of_input = provider_pb2.ConstructRequest.PropertyDependencies(urns=["urn:plugin"])
    request = provider_pb2.ConstructRequest(
        dependencies=["urn:plugin", "urn:first"], inputDependencies={"pluginId": of_input}
    )

    hosting.keep_named_dependencies(request)

    assert list(request.dependencies) == ["urn:first"]
    assert list(request.inputDependencies["pluginId"].urns) == ["urn:plugin"]


@pytest.mark.parametrize(
    ("path", "kinds", "name"),
    [
        ("pluginId", ["nomad-csi:index:CsiPlugin"], "it"),
        ("pluginId", ["nomad-csi:index:CsiPlugin", "nomad-csi:index:PluginHealth"], "it"),
        ("fileSystemId", ["aws:efs/fileSystem:FileSystem", "nomad-csi:index:StorageHold"], "it"),
        ("fileSystemId", ["aws:efs/fileSystem:FileSystem"], None),
        ("kmsKeyArn", ["nomad-csi:index:CsiPlugin"], None),
        ("pluginId", ["nomad-csi:index:CsiPlugin", "nomad-csi:index:CsiPlugin::other"], None),
    ],
)
@pytest.mark.parametrize("value", ["known", UNKNOWN])
def test_output_of_another_component_is_known_by_what_it_depends_on(path, kinds, name, value):
    """Also in a preview, which does not know its value: the rules between the two need none."""

    async def run():
        named = (kind if "::" in kind else f"{kind}::it" for kind in kinds)
        needed = {resource.DependencyResource(f"urn:pulumi:dev::shop::{each}") for each in named}
        origin = hosting._Origin(frozenset(needed), is_secret=False)
        with scope.shared_scope(scope.Scope(is_hosted=True)):
            return scope.scope().component_of(await hosting.opened(value, path, origin))

    with contextlib.closing(asyncio.new_event_loop()) as loop:
        assert loop.run_until_complete(run()) == name
