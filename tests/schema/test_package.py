"""What programs in other languages see of the package, and what type checkers and editors know of the components."""

import importlib
import json
import re
import shutil
import subprocess

import pulumi
import pytest
import yaml

import nomad_csi
from nomad_csi import components, testing
from nomad_csi.components import arguments, documentation
from nomad_csi.frame import properties, registry
from nomad_csi.provider import configuration, hosting, settings
from nomad_csi.spec import names
from tests import shipped
from tests.schema import examples, package, stubs


@pytest.fixture(scope="module")
def served():
    """The schema, as the provider returns it."""
    return json.loads(hosting.Hosted().schema)


def test_shipped_files_are_those_that_are_written():
    """
    Schema and stubs: whoever changes a component or a model runs `python -m tests.schema`, and reads the difference.

    A released name, type or requirement does not change.
    """
    assert documentation.SCHEMA.read_text() == package.text(package.package())
    assert {path: path.read_text() for path in stubs.written()} == stubs.written()


def test_what_is_secret_is_known_without_the_models():
    """To mask it in what a step logs, and at the start of a provider, which does not wait for pydantic."""
    assert settings.ProviderSettings.names_marked(properties.Mark.SECRET) == configuration.SECRET
    assert {name for kind in map(registry.find, registry.TOKENS) for name in kind.declared.secret} == {"secrets"}


def test_names_are_python_names_in_the_other_direction(served):
    """The provider translates the inputs of a component by a rule, not by a table."""
    for made in components.COMPONENTS:
        inputs = served["resources"][f"nomad-csi:index:{made.__name__}"]["inputProperties"]
        assert set(map(names.python_name, inputs)) == set(made.__init__.__annotations__["args"].__annotations__)


def test_every_reference_leads_to_a_type(served):
    """No type is named that the schema does not have."""
    references = {item["$ref"] for item in _maps(served) if "$ref" in item}

    assert {reference.removeprefix("#/types/") for reference in references - {hosting.ANY}} == set(served["types"])


def test_two_types_of_one_name_are_a_mistake():
    """A component's type cannot silently take the name of a resource's."""
    with pytest.raises(ValueError, match="two types of the package are called nomad-csi:index:VolumeCapability"):
        package.merged({"types": {"nomad-csi:index:VolumeCapability": {"type": "object"}}})


def test_logo_is_a_file_of_the_repository(served):
    """Its address has the branch, as the schema of a release is read later."""
    assert served["logoUrl"].endswith(f"/raw/main/{package.LOGO}")
    assert (shipped.ROOT / package.LOGO).read_text().startswith("<svg ")


def test_plain_arguments_are_named_with_the_reason(served):
    """In the description, and by a type without outputs in every language."""
    inputs = served["resources"]["nomad-csi:index:CsiPlugin"]["inputProperties"]

    assert {name for name, item in inputs.items() if item.get("plain")} == {"driver", "iam", "renderTo", "templates"}
    assert inputs["driver"]["description"].endswith(f" No output: {arguments.PLAIN['driver']}.")


def test_everything_has_a_description(served):
    """A reader of the schema, or of an editor's help, finds what each name means."""
    resources, types = served["resources"], served["types"]

    named = {**resources, **types}
    bare = [token for token, item in named.items() if not item.get("description")]
    for token, item in named.items():
        for part in ("inputProperties", "properties"):
            bare += [f"{token} {name}" for name, one in item.get(part, {}).items() if not one.get("description")]
    assert bare == []


@pytest.mark.real_pulumi
@pytest.mark.skipif(shutil.which("pulumi") is None, reason="not on PATH: pulumi")
def test_pulumi_accepts_the_schema(served, tmp_path):
    """The check that Pulumi's own packages pass."""
    path = tmp_path / "schema.json"
    path.write_text(json.dumps(served))
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


def test_generated_python_package_has_a_name_of_its_own(served):
    """It is neither the module nor the distribution of this package, and a module here stands in for it."""
    name = served["language"]["python"]["packageName"]

    assert name.replace("_", "-") != served["name"]
    assert importlib.import_module(name).EbsVolume is nomad_csi.EbsVolume


def test_every_component_has_an_example_in_each_language(served):
    """In its description, as Pulumi's documentation reads them."""
    for kind in components.COMPONENTS:
        text = served["resources"][f"nomad-csi:index:{kind.__name__}"]["description"]

        assert re.findall(r"^```(\w+)$", text, re.MULTILINE) == ["python", "typescript", "yaml", "go"]
        assert text.count("{{% example %}}") == text.count("{{% /example %}}") == 1


def test_the_examples_for_python_and_yaml_declare_every_component(served):
    """The program in Python runs, and the one in YAML has the same names and types."""
    script, document = (examples.program(one, served) for one in examples.LANGUAGES if one.name in ("python", "yaml"))
    mocks = testing.Mocks()
    pulumi.runtime.set_mocks(mocks, project="examples", stack="prod", preview=True)

    pulumi.runtime.test(lambda: exec(script, {}) and None)()  # noqa: S102  # the program is ours

    kinds = {f"nomad-csi:index:{kind.__name__}" for kind in components.COMPONENTS}
    declared = {item.name: item.typ for item in mocks.resources if item.typ in kinds}
    assert set(declared.values()) == kinds
    assert {name: item["type"] for name, item in yaml.safe_load(document)["resources"].items()} == declared


def _maps(value):
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from _maps(item)
    elif isinstance(value, list):
        for item in value:
            yield from _maps(item)
