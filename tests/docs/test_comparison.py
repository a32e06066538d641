"""The page on changes of registrations says what the code does."""

import re
from pathlib import Path

from nomad_csi.aws import file_systems
from nomad_csi.volumes import desired, steps, volume_properties

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "reference/comparison.md").read_text(encoding="utf-8")


OLD = {
    "volumeId": "v",
    "namespace": "default",
    "name": "v",
    "externalId": "vol-1",
    "pluginId": "ebs",
    "capabilities": [{"accessMode": "single-node-writer", "attachmentMode": "file-system"}],
    "context": {"a": "1"},
}
OTHERS = {
    "name": "w",
    "externalId": "vol-2",
    "pluginId": "efs",
    "capabilities": [{"accessMode": "single-node-reader-only", "attachmentMode": "file-system"}],
    "mountOptions": {"fsType": "ext4"},
    "requiredTopologies": [{"segments": {"zone": "a"}}],
    "parameters": {"a": "1"},
    "context": {},
    "secrets": {"a": "1"},
    "owner": "shop/prod",
}
"""Each property but those of the id, changed."""


def row(start):
    """Return the names in the first cell of the row that begins with a name."""
    [line] = [line for line in PAGE.splitlines() if line.startswith(f"| `{start}`")]
    return set(re.findall(r"`(\w+)`", line.split("|")[1]))


def classify(news):
    """Return the change to *news*."""
    before, after = (desired.of_properties(volume_properties.REGISTRATION, item) for item in (OLD, news))
    return desired.classify(before, after)


def test_the_table_has_every_property_in_its_row():
    """By what becomes of a change; how a step is made changes nothing."""
    in_place, anew, replaced = row("capabilities"), row("externalId"), row("namespace")

    changes = {name: classify(OLD | {name: other}).kind for name, other in OTHERS.items()}
    assert {name for name, kind in changes.items() if kind == "re-register"} == anew
    assert {name for name, kind in changes.items() if kind == "in-place"} == in_place - {
        "context"
    }  # there, a changed one
    assert replaced == set(desired.IDENTITY)
    named = in_place | anew | replaced | volume_properties.REGISTRATION.not_compared | {"ownerId"}
    assert named == set(volume_properties.REGISTRATION.inputs)


def test_limits_and_rights_are_those_of_the_code():
    """How long Nomad is asked again, and what AWS must allow."""
    assert f"for {steps.OUTAGE_S:g} seconds" in PAGE
    for right in ("DescribeFileSystems", "DescribeAccessPoints"):
        assert right in file_systems.__doc__
        assert f"elasticfilesystem:{right}" in PAGE
