"""What programs in other languages see of the package: names and types that a release has promised."""

import importlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import pulumi
import pytest
import yaml

import nomad_csi
from nomad_csi import components, testing
from nomad_csi.components import arguments, declared_resource, resources
from nomad_csi.frame.properties import python_name
from nomad_csi.provider import examples, hosting
from tests import argument_stub

GOLDEN = Path(__file__).with_name("schema.json")
FREE = ("description", "version", "homepage", "license", "publisher")
"""What may change in every release."""


@pytest.fixture(scope="module")
def package():
    """The schema, as the plugin answers it."""
    return json.loads(hosting.Hosted().schema)


def shape(value):
    """Return *value* without its texts; what is a name of a property stays, also where it is called as a text is."""
    if isinstance(value, list):
        return [shape(item) for item in value]
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items() if not (key in FREE and isinstance(item, str))}
    return value


def test_a_released_name_does_not_change_unseen(package):
    """Names, types, requirements and tokens are those of the golden file, which is changed by hand and on purpose."""
    found = shape(package)

    expected = json.loads(GOLDEN.read_text())
    assert found == expected, f"write it anew when the change is meant: {GOLDEN}\n{json.dumps(found, indent=2)}"


def test_required_inputs_are_those_without_a_default(package):
    """What must be given is what the spec demands."""
    components = {name: item for name, item in package["resources"].items() if item.get("isComponent")}

    assert {name: sorted(item["requiredInputs"]) for name, item in components.items()} == {
        "nomad-csi:index:CsiPlugin": ["driver"],
        "nomad-csi:index:CsiVolume": ["driver", "pluginId"],
        "nomad-csi:index:EbsSnapshots": [],
        "nomad-csi:index:EbsVolume": ["availabilityZone", "pluginId", "sizeGib"],
        "nomad-csi:index:EfsBackups": ["fileSystemArns", "keepDays"],
        "nomad-csi:index:EfsFileSystem": ["clients", "mountTargets"],
        "nomad-csi:index:EfsVolume": ["pluginId"],
        "nomad-csi:index:ExistingVolume": ["driver", "externalId", "pluginId"],
    }


def test_stub_has_the_classes_that_are_made():
    """Type checkers and editors know each argument: whoever changes a model writes the stub again."""
    assert argument_stub.COMPONENTS.read_text() == argument_stub.written_components()
    assert argument_stub.STUB.read_text() == argument_stub.written()
    assert argument_stub.RESOURCES.read_text() == argument_stub.written_resources()


def test_plain_arguments_are_named_with_the_reason(package):
    """In the description, and by a type without outputs in every language."""
    inputs = package["resources"]["nomad-csi:index:CsiPlugin"]["inputProperties"]

    assert {name for name, item in inputs.items() if item.get("plain")} == {"driver", "iam", "renderTo", "templates"}
    assert inputs["driver"]["description"].endswith(f" No output: {arguments.PLAIN['driver']}.")


def test_arguments_with_few_values_are_enumerations(package):
    """Each literal of a class of arguments, with its values, in every language."""
    types = {name.rpartition(":")[2]: item for name, item in package["types"].items()}
    access_mode = types["Capability"]["properties"]["accessMode"]

    assert access_mode["$ref"] == "#/types/nomad-csi:index:AccessMode"
    assert types["AccessMode"]["enum"][1] == {"name": "SingleNodeWriter", "value": "single-node-writer"}
    assert {name: len(item["enum"]) for name, item in types.items() if "enum" in item} == {
        "AccessMode": 5,
        "AttachmentMode": 2,
        "ConstraintOperator": 13,
        "Evidence": 2,
        "JobType": 2,
        "OnDestroy": 2,
        "PerformanceMode": 2,
        "TaskDriverName": 4,
        "ThroughputMode": 2,
    }


def test_everything_has_a_description(package):
    """A reader of the schema, or of an editor's help, finds what each name means."""
    resources, types = package["resources"], package["types"]

    named = {**resources, **types}
    bare = [token for token, item in named.items() if not item.get("description")]
    for token, item in named.items():
        for part in ("inputProperties", "properties"):
            bare += [f"{token} {name}" for name, one in item.get(part, {}).items() if not one.get("description")]
    assert bare == []


@pytest.mark.real_pulumi
@pytest.mark.skipif(shutil.which("pulumi") is None, reason="not on PATH: pulumi")
def test_pulumi_accepts_the_schema(package, tmp_path):
    """The check that Pulumi's own packages pass."""
    path = tmp_path / "schema.json"
    path.write_text(json.dumps(package))
    environment = {"HOME": str(tmp_path), "PULUMI_SKIP_UPDATE_CHECK": "true", "PULUMI_HOME": str(tmp_path)}

    done = subprocess.run(
        [shutil.which("pulumi"), "schema", "check", str(path)],
        env=environment | {"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


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


def test_properties_of_a_resource_are_attributes(cloud):
    """By the names that Python has for them."""
    made = []

    cloud.settle(lambda: made.append(resources.RenderedFile("a", path="a", content="b")))

    assert isinstance(made[0].sha256, pulumi.Output)
    assert isinstance(made[0].path, pulumi.Output)


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


def test_ignored_argument_is_declared_with_the_others(cloud):
    """All of them, as `ignore_changes` takes paths."""
    made = []
    opts = pulumi.ResourceOptions(ignore_changes=["name"])

    cloud.settle(lambda: made.append(resources.VolumeRegistration("a", **REGISTRATION, opts=opts)))

    assert {"name", "parameters", "external_id"} <= vars(made[0]).keys()


def test_generated_python_package_has_a_name_of_its_own(package):
    """It is neither the module nor the distribution of this package, and a module here stands in for it."""
    name = package["language"]["python"]["packageName"]

    assert name.replace("_", "-") != package["name"]
    assert importlib.import_module(name).EbsVolume is nomad_csi.EbsVolume


def test_every_component_has_an_example_in_each_language(package):
    """In its description, as Pulumi's documentation reads them."""
    for kind in components.COMPONENTS:
        text = package["resources"][f"nomad-csi:index:{kind.__name__}"]["description"]

        assert re.findall(r"^```(\w+)$", text, re.MULTILINE) == ["python", "typescript", "yaml", "go"]
        assert text.count("{{% example %}}") == text.count("{{% /example %}}") == 1


def test_the_examples_for_python_and_yaml_declare_every_component(package):
    """The program in Python runs, and the one in YAML has the same names and types."""
    script, document = (examples.program(one, package) for one in examples.LANGUAGES if one.name in ("python", "yaml"))
    mocks = testing.Mocks()
    pulumi.runtime.set_mocks(mocks, project="examples", stack="prod", preview=True)

    pulumi.runtime.test(lambda: exec(script, {}) and None)()  # noqa: S102  # the program is ours

    kinds = {f"nomad-csi:index:{kind.__name__}" for kind in components.COMPONENTS}
    declared = {item.name: item.typ for item in mocks.resources if item.typ in kinds}
    assert set(declared.values()) == kinds
    assert {name: item["type"] for name, item in yaml.safe_load(document)["resources"].items()} == declared
