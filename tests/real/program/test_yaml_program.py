"""The components from a Pulumi YAML program, through the same plugin."""

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml

EXAMPLES = Path(__file__).parents[3] / "examples"
UNTOLD = re.compile(r"warning|error|Traceback", re.IGNORECASE)
HOST = "pulumi-language-yaml"

pytestmark = pytest.mark.skipif(shutil.which(HOST) is None, reason=f"not on PATH: {HOST}")


def camel(values):
    """Return *values* with the names that the schema has."""
    return {re.sub("_(.)", lambda found: found[1].upper(), name): value for name, value in values.items()}


@pytest.fixture
def project(stack, world, tmp_path):
    """Make a stack of the YAML example in this world, after *change* of the document, with the plugin installed."""

    def make(change=lambda _: None, name="ebs-volume"):
        folder = tmp_path / name
        folder.mkdir()
        document = yaml.safe_load((EXAMPLES / "yaml" / "Pulumi.yaml").read_text())
        document["name"] = name
        document["resources"]["aws-ebs0"]["properties"]["taskDriver"] = camel(world.task_driver)
        change(document["resources"])
        (folder / "Pulumi.yaml").write_text(yaml.safe_dump(document))
        made = stack(folder)
        made.command("plugin", "install")
        return made

    return make


def test_life_of_a_program(project):
    """Preview, up, no-op and destroy, without a warning."""
    written = project()

    printed = [
        written.run("preview"),
        written.run("up", "--yes", "--skip-preview"),
        written.run("up", "--yes", "--skip-preview", "--expect-no-changes"),
    ]
    printed.append(written.run("destroy", "--yes", "--skip-preview"))

    assert not [line for text in printed for line in text.splitlines() if UNTOLD.search(line)]
    assert "9 deleted" in printed[3], printed[3]
    order = [
        printed[3].index(f" -  nomad-csi:index:{line}") for line in ("VolumeRegistration mysql deleted", "PluginHealth")
    ]
    assert order == sorted(order), printed[3]


def test_claim_is_data_and_children_wait_for_what_depends_on_names(project):
    """The blocks of a job by the names of the schema; ``dependsOn`` holds back the disk and the registration."""

    def change(resources):
        resources["nightly"] = {"type": "nomad-csi:index:EbsSnapshots", "properties": {"keep": 7}}
        resources["mysql"]["options"] = {"dependsOn": ["${nightly}"]}

    written = project(change, "claim")
    document = yaml.safe_load((written.folder / "Pulumi.yaml").read_text())
    document["outputs"] |= {"claim": "${mysql.claim}", "mode": "${mysql.claim.volume.accessMode}"}
    document["outputs"] |= {"version": "${aws-ebs0.version}", "controllers": "${aws-ebs0.expectedControllers}"}
    (written.folder / "Pulumi.yaml").write_text(yaml.safe_dump(document))

    written.run("up", "--yes", "--skip-preview")
    outputs = json.loads(written.run("stack", "output", "--json"))
    found = written.resources()
    waited = {item["type"]: "".join(item.get("dependencies") or ()) for item in found.values()}
    reported = next(item for item in found.values() if item["type"] == "nomad-csi:index:PluginHealth")["outputs"]
    written.run("destroy", "--yes", "--skip-preview")

    assert outputs["claim"] == {
        "namespace": "default",
        "name": "mysql",
        "volume": {
            "type": "csi",
            "source": "mysql",
            "accessMode": "single-node-writer",
            "attachmentMode": "file-system",
            "readOnly": False,
        },
        "volumeMount": {"volume": "mysql", "destination": "/mysql", "readOnly": False},
    }
    assert outputs["mode"] == "single-node-writer"
    assert (outputs["version"], outputs["controllers"]) == (reported["reportedVersion"], 2)
    assert outputs["version"]
    for kind in ("aws:ebs/volume:Volume", "nomad-csi:index:VolumeRegistration"):
        assert "EbsSnapshots::nightly" in waited[kind]


def test_what_the_rules_refuse_is_one_clean_line(project):
    """All problems of a component, with the names of the program, without a traceback; on one line."""
    written = project(
        lambda resources: resources["mysql"]["properties"].update(sizeGib=0.5, availabilityZone="us-east-1"), "bad"
    )

    text = written.run("preview", code=1)

    line = "error: nomad-csi:index:EbsVolume resource 'mysql' has a problem: EbsVolume mysql: "
    assert line in text
    assert "sizeGib: expected a valid integer, got 0.5" in text
    assert "availabilityZone: expected an Availability Zone such as us-east-1a" in text
    assert "Traceback" not in text
    assert "File " not in text
