"""The files of a new project: specs and programs that hold no default."""

import json
import re
from pathlib import Path

import pydantic
import pytest
import yaml

from nomad_csi import errors
from nomad_csi.drivers import catalogue
from nomad_csi.hcl import project
from nomad_csi.plan import storage
from nomad_csi.spec import model, names, schema
from tests import tables

RECORDED = tables.load(Path(__file__).parent / "projects.yaml")


def wanted(form, *storages, **settings):
    """Return what is wanted with every answer given."""
    answers = {
        "region": "us-gov-west-1",
        "zones": ("us-gov-west-1a", "us-gov-west-1b"),
        "role_name": "nomad-client",
        "client_cidr": "10.0.0.0/16",
        "file_system_id": "fs-0123456789abcdef0",
        "project": "shop",
        "stack": "prod",
        "version": "1.2.3",
    }
    return project.Wanted(form=form, storages=storages or project.STORAGES, **(answers | settings))


def texts(made):
    return {file.path: file.text for file in project.files(made)}


def spec_of(form):
    document = yaml.safe_load(texts(wanted(form))[wanted(form).spec])
    return document["config"][names.STACK_CONFIG_KEY] if form == "python" else document


@pytest.mark.parametrize("form", ["python", "hcl"])
def test_a_spec_of_every_storage_has_no_problem(form):
    """All kinds beside each other: no two have an id in common."""
    plan = storage.plan_document(spec_of(form))

    drivers = {plugin["driver"] for plugin in spec_of(form)["plugins"]}
    assert (len(plan.plugins), len(plan.volumes)) == (len(project.STORAGES), len(project.STORAGES))
    assert drivers == set(catalogue.DRIVERS), "a driver of the catalogue needs an example"


@pytest.mark.parametrize("form", ["python", "hcl"])
def test_no_default_is_written(form):
    """A value that the model has by itself would hide which ones were chosen."""
    document = spec_of(form)

    found = [
        *(key for item in document["plugins"] for key in defaults(model.PluginSpec, item)),
        *(key for item in document["volumes"] for key in defaults(model.VolumeSpec, item)),
    ]

    assert found == []


def defaults(kind, written):
    """Yield the keys of *written*, a *kind* as JSON has it, whose value is the default."""
    held = kind.model_validate_json(json.dumps(written))
    for key, value in written.items():
        inner, default = getattr(held, key), kind.model_fields[key].default
        if inner == default:
            yield key
        elif isinstance(inner, pydantic.BaseModel):
            yield from defaults(type(inner), value)


def test_a_program_in_yaml_holds_what_the_spec_holds():
    """Names in camelCase, but for those of the driver; what Nomad replaces is left to it by Pulumi."""
    text = texts(wanted("yaml"))["Pulumi.yaml"]
    resources = yaml.safe_load(text)["resources"]

    assert ("`subnetId`" in text, "subnet_id" in text, "\nruntime: yaml\n" in text) == (True, False, True)
    assert set(resources) == {item["id"] for items in spec_of("python").values() for item in items}
    assert resources["data"]["properties"] == {
        "pluginId": "${aws-ebs0.pluginId}",
        "availabilityZone": "us-gov-west-1a",
        "sizeGib": 20,
    }
    assert resources["portworx0"]["properties"]["config"] == {"cluster_id": "px-cluster-1"}
    [constraint] = resources["csi-hostpath0"]["properties"]["constraints"]
    assert constraint["attribute"] == "$${node.unique.name}"
    volumes = {name: item for name, item in resources.items() if item["type"] == "nomad-csi:index:CsiVolume"}
    assert {item["properties"].get("driver") for item in volumes.values()} == set(project.EXAMPLES)


def test_a_program_in_typescript_holds_what_the_program_in_yaml_holds():
    """Each component and argument of every storage: text that Nomad replaces, keys of a driver, and outputs, too."""
    text, head = (texts(wanted("typescript"))[name] for name in ("index.ts", "Pulumi.yaml"))
    assert "\nruntime: nodejs\n" in head
    document = yaml.safe_load(texts(wanted("yaml"))["Pulumi.yaml"])
    names = dict(re.findall(r'^const (\w+) = new \w+\("([\w-]+)"', text, re.MULTILINE))
    reference = re.compile(r"(?<=: )(\w+)\.(pluginId|externalId)(?=,\n)")

    def read(block):
        quoted = reference.sub(lambda found: f'"${{{names[found[1]]}.{found[2]}}}"', block)
        return yaml.safe_load(quoted.replace("\n", " "))

    made = {
        name: {"type": f"nomad-csi:index:{kind}", "properties": read(block)}
        for kind, name, block in re.findall(
            r'^const \w+ = new (\w+)\("([\w-]+)", (.*?^\})\);$', text, re.MULTILINE | re.DOTALL
        )
    }
    [outputs] = re.findall(r"^export const externalIds = (.*?^\});$", text, re.MULTILINE | re.DOTALL)

    assert made == json.loads(json.dumps(document["resources"]).replace("$${", "${"))
    assert read(outputs) == document["outputs"]["externalIds"]


@pytest.mark.parametrize("form", RECORDED)
def test_files_of_a_project_are_as_reviewed(form):
    """All of them but the schemas, and what to type next."""
    recorded = RECORDED[form]
    made = wanted(form, *recorded["storages"])

    found = {path: text for path, text in texts(made).items() if not path.endswith("schema.json")}

    assert found == recorded["files"]
    assert {text[-2:] for path, text in texts(made).items() if path not in found} <= {"}\n"}
    assert [file.path for file in project.files(made) if file.is_shared] == [".gitignore", project.HOOKS]
    assert [list(step) for step in project.steps(made)] == recorded["steps"]


def test_storage_that_is_not_on_aws_needs_nothing_of_aws():
    """No region, no role, no credentials in the pipeline."""
    made = wanted("python", "gce-pd", region="", zones=(), role_name="", client_cidr="")

    found = texts(made)

    assert project.needs("python", made.storages) == ()
    assert "aws" not in found[project.PIPELINE] + found["Pulumi.prod.yaml"]


def test_the_policy_of_the_clients_is_one_of_their_partition():
    """AWS has other ARNs in GovCloud; who only mounts EFS needs none."""
    typed = ["\n".join(step for step, _ in project.steps(wanted("hcl", name))) for name in ("ebs", "efs")]

    assert "arn:aws-us-gov:iam::aws:policy/service-role/AmazonEBSCSIDriverPolicy" in typed[0]
    assert "aws iam" not in typed[1]


def test_files_need_the_id_of_a_file_system():
    """They create none; a field of two storages is needed once."""
    assert project.needs("hcl", ("efs",)) == ("region", "file_system_id")
    assert project.needs("hcl", ("efs", "ebs")) == ("region", "file_system_id", "zones", "role_name")
    assert project.needs("yaml", ("efs", "ebs")) == ("region", "zones", "client_cidr", "role_name")


def test_what_means_something_to_a_shell_gets_into_no_file():
    """Whatever the caller let through."""
    for stack in ("dev; rm -rf x", "a:b"):
        with pytest.raises(errors.NomadCsiError, match=f"^'Pulumi.{stack}.yaml' cannot stand in a file of a project$"):
            project.files(wanted("python", "ebs", stack=stack))


def test_the_schema_of_a_stack_config_is_that_of_the_spec_under_its_key():
    """With the definitions where references look for them."""
    of_stack, of_spec = schema.stack_config_schema(), schema.document()

    assert names.STACK_CONFIG_KEY == "nomad-csi:storage"
    assert of_stack["$defs"] == of_spec["$defs"]
    held = of_stack["properties"]["config"]["properties"][names.STACK_CONFIG_KEY]
    assert held["properties"] == of_spec["properties"]


def test_the_schema_has_classes_and_sets_as_they_are_written():
    """A preset and a part of a set have the keys of a volume but its id, and need none."""
    found = schema.document()
    parts = found["$defs"]

    volume = parts["VolumeSpec"]
    added = {name: volume["properties"].pop(name) for name in ("class", "count", "each")}
    properties = {name: value for name, value in volume["properties"].items() if name != "id"}
    common = {"additionalProperties": False, "properties": properties, "type": "object"}
    assert parts["VolumePreset"] == common | {"description": "Parts of a volume."}
    assert parts["VolumePart"] == common | {"description": "What one volume of a set has of its own."}
    assert (volume["required"], found["title"]) == (["id"], "A storage spec of nomad-csi")
    assert found["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert found["properties"]["classes"]["additionalProperties"] == {"$ref": "#/$defs/VolumePreset"}
    assert added["each"]["items"] == {"$ref": "#/$defs/VolumePart"}
    assert [added["count"][name] for name in ("minimum", "maximum")] == [1, 1000]


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("protect", ("boolean", "", "true")),
        ("plugins.aws_region", ("string", "an AWS region such as us-east-1", "")),
        ("plugins.datacenters", ("array", "", "['*']")),
        ("plugins.job_ids", ("object", "", "")),
        ("plugins.metrics_port", ("integer", "at least 1, at most 65534", "")),
        ("plugins.restart.attempts", ("integer", "at least 1", "3")),
        ("volumes.ebs.throughput_mib_per_s", ("integer", "", "")),
        ("snapshots.NAME.every_hours", ("integer", "1, 2, 3, 4, 6, 8, 12, 24", "24")),
    ],
)
def test_key_of_a_spec_has_its_values(path, shown):
    """An empty list is no default, and an object has those of its keys; the end of a name is no name."""
    key = schema.by_path()[path]

    assert (key.type, key.allowed, key.default) == shown
    assert schema.matching(path[1:]) == ()
