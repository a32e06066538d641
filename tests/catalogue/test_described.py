"""The catalogue has no private knowledge: a row, written out under ``driver``, gives the same plan as its name."""

import dataclasses
import json

import pytest
import yaml

from nomad_csi.drivers import catalogue
from nomad_csi.plan import storage
from nomad_csi.spec import driver as drivers

OF_THE_CATALOGUE = set(catalogue.Driver.model_fields) - set(drivers.DriverSpec.model_fields)
OF_ITS_ROLES = set(catalogue.DriverRole.model_fields) - set(drivers.RoleSpec.model_fields)


def described(name):
    """Return the row *name* as it would be written into a spec in YAML."""
    row = catalogue.DRIVERS[name].model_dump(mode="json", exclude=OF_THE_CATALOGUE)
    row["roles"] = {
        role: {key: value for key, value in fields.items() if key not in OF_ITS_ROLES}
        for role, fields in row["roles"].items()
    }
    return yaml.safe_load(yaml.safe_dump(row))


def sorted_lists(value):
    """Return *value* with each list of texts sorted: sets have no order."""
    if isinstance(value, dict):
        return {key: sorted_lists(item) for key, item in value.items()}
    if isinstance(value, list):
        items = [sorted_lists(item) for item in value]
        return sorted(items) if all(isinstance(item, str) for item in items) else sorted(items, key=json.dumps)
    return value


def test_catalogue_adds_nothing_that_a_plan_could_need():
    """Dates, sources, words, evidence, versions, deletions, an example: a described driver is asked instead."""
    assert {
        "as_of",
        "both_in_one_process",
        "sources",
        "arguments_since",
        "arguments_source",
        "credentials",
        "known_issues",
        "deletion",
        "example",
    } == OF_THE_CATALOGUE
    assert {"flag_versions", "evidence"} == OF_ITS_ROLES


def test_described_driver_gives_the_same_plan_as_its_name(folder):
    """The same jobs, expectations, policies, registrations and sources, to the last field."""
    document = yaml.safe_load((folder / "storage.yaml").read_text(encoding="utf-8"))
    by_name = storage.plan_document(document)
    for plugin in document["plugins"]:
        if isinstance(plugin["driver"], str):
            plugin["driver"] = described(plugin["driver"])

    by_description = storage.plan_document(document)

    assert dataclasses.asdict(by_description) == dataclasses.asdict(by_name)


@pytest.mark.parametrize("name", catalogue.DRIVERS)
def test_description_survives_json(name):
    """What a program reads from `drivers --json` is what it may write into a spec."""
    row = json.loads(json.dumps(described(name)))

    again = drivers.DriverSpec.model_validate_json(json.dumps(row))

    assert sorted_lists(json.loads(again.model_dump_json())) == sorted_lists(row)
