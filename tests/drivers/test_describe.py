"""The catalogue as people and programs read it."""

import json
import re

import pytest
import yaml

from nomad_csi.drivers import catalogue, facts
from nomad_csi.plan import storage
from tests.pages import drivers as pages

DRIVERS = tuple(catalogue.DRIVERS.values())
UNUSABLE = tuple(catalogue.UNUSABLE.values())
EBS = catalogue.DRIVERS["aws-ebs"]


@pytest.mark.parametrize("driver", DRIVERS, ids=lambda driver: driver.name)
def test_page_has_a_whole_spec_of_each_driver(driver):
    """It is planned as it stands there: a plugin with its configuration, and a volume."""
    text, _ = re.findall(r"^```yaml\n(.*?)^```$", pages.pages()[driver.name], re.MULTILINE | re.DOTALL)

    plan = storage.plan_document(yaml.safe_load(text))

    assert [(plugin.driver, plugin.plugin_id) for plugin in plan.plugins] == [(driver.name, f"{driver.name}0")]
    assert [volume.registration.plugin_id for volume in plan.volumes] == [f"{driver.name}0"]


def test_list_has_a_row_for_each_driver():
    """Name, title, version, roles, tier of evidence and its day."""
    head, *rows = facts.rows(DRIVERS, UNUSABLE)

    assert head == ("driver", "title", "version", "roles", "evidence", "as of")
    assert [row[0] for row in rows] == [driver.name for driver in (*DRIVERS, *UNUSABLE)]
    assert rows[-1] == ("aws-s3", "Mountpoint for Amazon S3", "-", "-", "cannot run on Nomad", "2026-08-23")
    assert ("aws-ebs", "AWS EBS", "v1.64.0", "controller, node", "run", "2026-08-23") in rows
    assert ("aws-efs", "AWS EFS", "v3.4.1", "node", "run", "2026-08-23") in rows


def test_roles_that_are_verified_differently_are_told_apart():
    """The better half does not speak for the other."""
    unverified = catalogue.RoleEvidence(tier="none", not_verified=("all of it",))
    node = EBS.roles["node"].model_copy(update={"evidence": unverified})
    driver = EBS.model_copy(update={"roles": {"controller": EBS.roles["controller"], "node": node}})

    assert facts.tier(driver) == "controller run, node none"


@pytest.mark.parametrize("driver", [*DRIVERS, *UNUSABLE], ids=lambda driver: driver.name)
def test_text_is_the_row_as_yaml(driver):
    """Nothing of it is left out; no line ends in spaces."""
    text = facts.as_text(driver)

    assert type(driver).model_validate_json(json.dumps(yaml.safe_load(text))) == driver
    assert [line for line in text.splitlines() if line != line.rstrip()] == []


@pytest.mark.parametrize("driver", DRIVERS, ids=lambda driver: driver.name)
def test_json_has_every_field_of_the_row(driver):
    """Programs get all of it, in plain values."""
    values = json.loads(json.dumps(facts.as_json(driver)))

    assert set(values) == set(catalogue.Driver.model_fields)
    assert values["external_id"]["pattern"] == driver.external_id.pattern
    assert values["fs_types"] == (driver.fs_types and sorted(driver.fs_types))
    assert {tuple(item.values()) for item in values["capabilities"]} == driver.modes
    tiers = {name: role["evidence"]["tier"] for name, role in values["roles"].items()}
    assert tiers == {name: role.evidence.tier for name, role in driver.roles.items()}
    assert values["known_issues"][0]["source"] == driver.known_issues[0].source
