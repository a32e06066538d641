"""The package schema has the custom resources as they are declared, beside the components."""

import json
from importlib import metadata

import pytest

import nomad_csi
from nomad_csi.frame import properties, registry
from nomad_csi.provider import about, configuration, hosting, schema, settings
from nomad_csi.spec import base
from tests import shipped


def test_every_custom_resource_is_in_the_schema():
    """A resource of the registry is usable from every language."""
    merged = schema.merged({"name": "nomad-csi", "resources": {"nomad-csi:index:EbsVolume": {"isComponent": True}}})

    assert set(merged["resources"]) == {*registry.RESOURCES, "nomad-csi:index:EbsVolume"}
    assert set(merged["provider"]["inputProperties"]) == set(base.fields_of(settings.ProviderSettings))


def test_internal_resources_are_said_to_be_and_come_last():
    """Of the custom resources, those that `nomad_csi` does not offer to a program; whatever it has stands before."""
    resources = schema.merged({"resources": {"nomad-csi:index:EbsVolume": {}}})["resources"]
    internal = [token for token, item in resources.items() if item.get("description", "").startswith("Internal: ")]

    kinds = ("StackIdentity", "PluginHealth", "StorageHold", "RenderedFile")
    assert internal == [f"nomad-csi:index:{kind}" for kind in kinds]
    assert list(resources)[-4:] == internal
    assert next(iter(resources)) == "nomad-csi:index:EbsVolume"
    assert {token.rpartition(":")[2] for token in resources}.intersection(nomad_csi.__all__) == {
        token.rpartition(":")[2] for token in resources if token not in internal
    }


def test_the_package_says_what_the_project_does():
    """What a registry, an editor or a package file of an SDK shows."""
    found = schema.merged({})

    assert found["description"].startswith("CSI storage for HashiCorp Nomad on AWS")
    assert found["keywords"] == [
        "aws",
        "csi",
        "ebs",
        "efs",
        "nomad",
        "pulumi",
        "kind/component",
        "category/infrastructure",
    ]
    assert found["homepage"].startswith("https://")
    assert (found["license"], found["publisher"]) == ("Apache-2.0", "nomad-csi contributors")
    assert "repository" not in found
    assert found["logoUrl"] == f"{about.about().addresses['Source']}/raw/main/{schema.LOGO}"
    assert (shipped.ROOT / schema.LOGO).read_text().startswith("<svg ")


def test_a_copy_that_is_not_installed_says_the_same(monkeypatch):
    """Its pyproject.toml is read, where `pulumi package add` has made a copy of the repository."""
    installed = about.about()

    def absent(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "metadata", absent)

    assert about.about() == installed


def test_a_registration_reads_as_declared():
    """Types, requirements, secrets and replacements follow from the declaration."""
    merged = schema.merged({})
    volume = merged["resources"]["nomad-csi:index:VolumeRegistration"]

    assert volume["requiredInputs"] == ["capabilities", "externalId", "pluginId", "volumeId"]
    assert volume["inputProperties"]["secrets"] == {
        "type": "object",
        "additionalProperties": {"type": "string"},
        "description": "CSI secrets. Sent with every registration, and never shown.",
        "secret": True,
    }
    assert volume["inputProperties"]["namespace"]["default"] == "default"
    replacing = {name for name, item in volume["inputProperties"].items() if item.get("replaceOnChanges")}
    assert replacing == {"namespace", "volumeId"}
    assert volume["inputProperties"]["capabilities"]["items"] == {"$ref": "#/types/nomad-csi:index:VolumeCapability"}
    assert merged["types"]["nomad-csi:index:VolumeCapability"]["required"] == ["accessMode", "attachmentMode"]
    assert "adopt" not in volume["properties"]
    assert {"controllerRequired", "sandbox"} <= set(volume["properties"])


def test_defaults_are_scalars():
    """Pulumi refuses a schema in which a list has a default, although the check fills it in."""
    inputs = schema.merged({})["resources"]["nomad-csi:index:PluginHealth"]["inputProperties"]

    assert inputs["datacenters"].keys() == {"type", "items", "description"}
    assert (inputs["stableS"]["default"], inputs["nodePool"]["default"]) == (3, "default")


def test_every_reference_leads_to_a_type():
    """No type is named that the schema does not have."""
    merged = json.loads(hosting.Hosted().schema)

    references = {item["$ref"] for item in _maps(merged) if "$ref" in item}
    assert {reference.removeprefix("#/types/") for reference in references - {"pulumi.json#/Any"}} == set(
        merged["types"]
    )


def test_two_types_of_one_name_are_a_mistake():
    """A component's type cannot silently take the place of a resource's."""
    with pytest.raises(ValueError, match="two types of the package are called nomad-csi:index:VolumeCapability"):
        schema.merged({"types": {"nomad-csi:index:VolumeCapability": {"type": "object"}}})


def test_what_is_secret_is_known_without_the_models():
    """To mask it in what a step says, and at the start of a provider, which does not wait for pydantic."""
    assert settings.ProviderSettings.names_marked(properties.Mark.SECRET) == configuration.SECRET
    assert {name for kind in registry.RESOURCES.values() for name in kind.declared.secret} == {"secrets"}


def _maps(value):
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from _maps(item)
    elif isinstance(value, list):
        for item in value:
            yield from _maps(item)
