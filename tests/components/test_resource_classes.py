"""The classes of custom resources: arguments and properties are those that the resource declares."""

import pulumi
import pytest

from nomad_csi.components import declared_resource, resources
from nomad_csi.spec.names import python_name


def test_resource_class_refuses_what_is_not_declared(cloud):
    """It would be dropped."""
    with pytest.raises(TypeError, match=r"RenderedFile\(\) got an unexpected argument 'mode'"):
        cloud.settle(lambda: resources.RenderedFile("a", path="a", content="", mode="0600"))


REQUIRED = [
    (kind, name)
    for kind in declared_resource.DeclaredResource.__subclasses__()
    for name in sorted(kind.declared().required)
]


@pytest.mark.parametrize(("kind", "left_out"), REQUIRED, ids=lambda one: getattr(one, "__name__", one))
def test_a_missing_argument_is_named(kind, left_out):
    """Before the resource reaches the engine; every required argument of every class."""
    given = dict.fromkeys(kind.declared().required - {left_out}, "x")

    with pytest.raises(TypeError, match=rf"{kind.__name__}\(\) missing argument '{python_name(left_out)}'"):
        kind("one", **given)


REGISTRATION = {
    "volume_id": "a",
    "external_id": "fs-0123456789abcdef0:/a",
    "plugin_id": "aws-efs0",
    "capabilities": [{"access_mode": "single-node-writer", "attachment_mode": "file-system"}],
}


def test_argument_that_is_not_given_is_an_output_without_a_value(cloud):
    """The SDK waits for none of them until a program reads one."""
    read, there = [], []

    def program():
        made = resources.VolumeRegistration("a", **REGISTRATION)
        there.append("name" in vars(made))
        made.name.apply(read.append)
        made.external_id.apply(read.append)

    cloud.settle(program)

    assert there == [False]
    assert sorted(map(str, read)) == ["None", "fs-0123456789abcdef0:/a"]


def test_argument_with_a_default_is_an_output_with_what_the_provider_filled_in(cloud):
    """Though it was not given."""
    cloud.recorder.answered["nomad-csi:index:VolumeRegistration"] = {"namespace": "default"}
    read = []

    cloud.settle(lambda: resources.VolumeRegistration("a", **REGISTRATION).namespace.apply(read.append) and None)

    assert read == ["default"]


def test_attribute_that_is_no_property_is_missing(cloud):
    """As with any other object, and so is what only the provider reads from the state."""
    made = []

    cloud.settle(lambda: made.append(resources.VolumeRegistration("a", **REGISTRATION)))

    for name in ("nam", "nonce", "foreign_mount_flags"):
        with pytest.raises(AttributeError, match=f"'VolumeRegistration' object has no attribute '{name}'"):
            getattr(made[0], name)


@pytest.mark.parametrize(
    "options",
    [
        {"ignore_changes": ["name"]},
        {"transforms": [print]},
        {"transformations": [print]},
        {"import_": "default/a"},
        {"urn": "urn:pulumi:prod::storage::nomad-csi:index:VolumeRegistration::a"},
    ],
    ids=lambda options: next(iter(options)),
)
def test_argument_whose_value_may_come_from_elsewhere_is_an_output_of_the_engine(options):
    """From the state, or from a transform: the program does not know it."""
    assert declared_resource.may_change_inputs(pulumi.ResourceOptions(**options))
    assert not declared_resource.may_change_inputs(pulumi.ResourceOptions(protect=True, parent=None))
    assert not declared_resource.may_change_inputs(None)
