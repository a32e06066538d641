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
EFS = catalogue.DRIVERS["aws-efs"]


@pytest.mark.parametrize("driver", DRIVERS, ids=lambda driver: driver.name)
def test_page_has_a_whole_spec_of_each_driver(driver):
    """It is planned as it stands there: a plugin with its configuration, and a volume."""
    [text] = re.findall(r"^```yaml\n(.*?)^```$", pages.pages()[driver.name], re.MULTILINE | re.DOTALL)

    plan = storage.plan_document(yaml.safe_load(text))

    assert [plugin.driver for plugin in plan.plugins] == [driver.name]
    assert len(plan.volumes) == 1


def test_list_has_a_row_for_each_driver():
    """Name, title, version, roles, tier of evidence and its day."""
    head, *rows = facts.rows(DRIVERS, UNUSABLE)

    assert head == ("driver", "title", "version", "roles", "evidence", "as of")
    assert [row[0] for row in rows] == [driver.name for driver in (*DRIVERS, *UNUSABLE)]
    assert rows[-1] == ("aws-s3", "Mountpoint for Amazon S3", "-", "-", "cannot run on Nomad", "2026-08-23")
    assert ("aws-ebs", "AWS EBS", "v1.64.0", "controller, node", "run", "2026-11-21") in rows
    assert ("aws-efs", "AWS EFS", "v3.4.1", "node", "run", "2026-11-25") in rows


def test_roles_that_are_verified_differently_are_told_apart():
    """The better half does not speak for the other."""
    unverified = catalogue.RoleEvidence(tier="none", not_verified=("all of it",))
    node = EBS.roles["node"].model_copy(update={"evidence": unverified})
    driver = EBS.model_copy(update={"roles": {"controller": EBS.roles["controller"], "node": node}})

    assert facts.tier(driver) == "controller run, node none"
    assert facts.evidence_as_of(driver) == "2026-11-21"
    assert facts.evidence_as_of(EBS.model_copy(update={"roles": {"node": node}})) == "-"


@pytest.mark.parametrize("driver", DRIVERS, ids=lambda driver: driver.name)
def test_nothing_of_a_row_is_left_out(driver):
    """Every fact, issue, source and open question is told."""
    told = " ".join(facts.as_text(driver).replace("\n  - ", " ").split())

    wanted = [driver.image, driver.minimum_nomad, driver.external_id.allowed, driver.topology_key or ""]
    wanted += [driver.modes_advice, *driver.sources]
    wanted += [" ".join(mode) for mode in driver.modes]
    wanted += [text for issue in driver.known_issues for text in (issue.text, issue.source)]
    for role in driver.roles.values():
        wanted += [" ".join(role.arguments), role.probe_verifies, *role.needs, *role.unfit_flags.values()]
        wanted += [*role.evidence.versions, *role.evidence.verified, *role.evidence.not_verified, role.evidence.as_of]
        wanted += [*role.binds, *(role.flags or ()), *role.unfit_flags]
    assert [text for text in wanted if text not in told] == []


@pytest.mark.parametrize("driver", DRIVERS, ids=lambda driver: driver.name)
def test_text_fits_a_terminal(driver):
    """No line is longer than it may be, unless a single word is; none ends in spaces."""
    lines = facts.as_text(driver).splitlines()

    assert [line for line in lines if len(line) > facts.WIDTH and " " in line[24:].strip()] == []
    assert [line for line in lines if line != line.rstrip()] == []


@pytest.mark.parametrize("row", UNUSABLE, ids=lambda row: row.name)
def test_driver_that_cannot_run_is_explained(row):
    """The reason and what to use, in words."""
    told = " ".join(facts.as_text(row).split())

    assert [text for text in (row.name, row.title, row.reason, row.instead, row.source) if text not in told] == []


@pytest.mark.parametrize("driver", DRIVERS, ids=lambda driver: driver.name)
def test_json_has_every_field_of_the_row(driver):
    """Programs get all of it, in plain values."""
    values = json.loads(json.dumps(facts.as_json(driver)))

    assert set(values) == set(catalogue.Driver.model_fields)
    assert values["external_id"]["pattern"] == driver.external_id.pattern
    assert {tuple(item.values()) for item in values["capabilities"]} == driver.modes
    tiers = {name: role["evidence"]["tier"] for name, role in values["roles"].items()}
    assert tiers == {name: role.evidence.tier for name, role in driver.roles.items()}
    assert values["known_issues"][0]["source"] == driver.known_issues[0].source


def test_keys_that_look_right_come_with_the_fix():
    """What EFS refuses since v3 is explained where its context keys stand."""
    told = " ".join(facts.as_text(EFS).split())

    assert "allowed: crossaccount, encryptInTransit, mounttargetip, mounttargetipmap" in told
    assert "refused: path: put the path into the external id" in told
