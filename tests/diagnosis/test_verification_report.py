"""A report says the same as data and as a table."""

import dataclasses
import json
import re

import pytest

from nomad_csi import findings
from nomad_csi.diagnosis import verification_report
from nomad_csi.findings import causes
from nomad_csi.health import observed_plugin, plugins
from nomad_csi.volumes import compare
from tests.diagnosis import conftest

MISSING, ABSENT = conftest.MISSING, conftest.ABSENT


def test_json_has_the_documented_keys(mixed):
    """Scripts read these names; they survive a round trip through JSON."""
    data = mixed.as_json()

    assert json.loads(json.dumps(data)) == data
    assert data["ok"] is False
    assert data["plugins"][0] == {
        "plugin_id": "aws-ebs0",
        "status": "partial",
        "ok": False,
        "policy": "all",
        "evidence": "nomad",
        "provider": "ebs.csi.aws.com",
        "version": "v1.64.0",
        "controllers": {"healthy": 1, "expected": 1},
        "nodes": {"healthy": 1, "expected": 2},
        "causes": [],
        "instances": data["plugins"][0]["instances"],
    }
    assert data["plugins"][0]["instances"][2] == {
        "role": "node",
        "node_id": "id-b",
        "node_name": "b",
        "zone": "",
        "alloc_id": "node-b",
        "status": "unhealthy",
        "evidence": "-",
        "detail": "Driver Failure: no image",
        "extra": False,
        "nomad": "none",
        "socket": "-",
        "socket_detail": "",
    }
    assert data["volumes"] == [
        {
            "namespace": "default",
            "volume_id": "mysql",
            "plugin_id": "aws-ebs0",
            "external_id": "vol-1",
            "capacity_bytes": 0,
            "status": "missing",
            "evidence": "-",
            "detail": "",
        }
    ]
    assert [finding["code"] for finding in data["findings"]] == ["instance-unhealthy", "volume-missing"]


def test_table_shows_counts_instances_volumes_and_proof(mixed):
    """A person sees what is there, by what it was verified, and what to do."""
    painted = mixed.as_table(100, colour=True)

    assert [painted.count(f"{word}\x1b[0m") for word in ("partial", "healthy", "missing", "error")] == [1, 3, 1, 2]
    assert re.sub(r"\x1b\[\d*m", "", painted) == mixed.as_table(100)
    assert mixed.as_table(100) == (
        "plugin    status   controllers  nodes  checked by  answers as\n"
        "aws-ebs0  partial  1/1          1/2    nomad       ebs.csi.aws.com v1.64.0\n"
        "\n"
        "instance of  role        client  zone        status     checked by  detail\n"
        "aws-ebs0     controller  a       -           healthy    nomad\n"
        "aws-ebs0     node        a       us-east-1a  healthy    nomad\n"
        "aws-ebs0     node        b       -           unhealthy  -           Driver Failure: no image\n"
        "\n"
        "volume         status   plugin    external id  checked by\n"
        "default/mysql  missing  aws-ebs0  vol-1        -\n"
        "\n"
        "error  instance-unhealthy  node instance of plugin aws-ebs0 on b\n"
        "  expected  a healthy instance\n"
        "  found     Driver Failure: no image\n"
        "  advice    check its task events with `nomad alloc status node-b`, then `nomad alloc logs -stderr\n"
        "            node-b`\n"
        "error  volume-missing  volume default/mysql\n"
        "  expected  registered\n"
        "  found     no such volume\n"
        "  advice    run `pulumi up`, or `nomad-csi apply` with the spec or the rendered file\n"
        "\n"
        "1 plugin and 1 volume checked: 2 errors, 0 warnings\n"
    )


def test_table_shows_what_nomad_and_the_sockets_say_where_they_were_asked(mixed):
    """And why an instance gave no answer, if nothing else is wrong with it."""
    late = observed_plugin.Probed(reached=False, status="no-answer", detail="down")
    rows = [dataclasses.replace(row, csi=late) for row in mixed.plugins[0].instances]
    status = dataclasses.replace(mixed.plugins[0], instances=rows)

    table = dataclasses.replace(mixed, plugins=(status,)).as_table(140)

    assert [" ".join(line.split()) for line in table.splitlines()[3:7]] == [
        "instance of role client zone status nomad socket checked by detail",
        "aws-ebs0 controller a - healthy healthy no-answer nomad down",
        "aws-ebs0 node a us-east-1a healthy healthy no-answer nomad down",
        "aws-ebs0 node b - unhealthy none no-answer - Driver Failure: no image",
    ]


@pytest.mark.parametrize(("healthy", "wanted", "shown"), [(1, 1, "1/1"), (0, 1, "0/1"), (1, 0, "1/0"), (0, 0, "-")])
def test_controllers_are_shown_where_there_are_some_or_should_be(mixed, healthy, wanted, shown):
    """Others than a driver without any."""
    status = dataclasses.replace(mixed.plugins[0], healthy_controllers=healthy, expected_controllers=wanted)

    assert dataclasses.replace(mixed, plugins=(status,)).as_table().splitlines()[1].split()[2] == shown


def test_one_cause_is_shown_with_its_consequences_beneath(expected):
    """A plugin that is not there at all: why, what follows, and what follows for its volumes; JSON has all of them."""
    absent = plugins.compare_plugin(
        expected(controllers=1), observed_plugin.ObservedPlugin(plugin=None, missing_jobs=("plugin-ebs",)), ()
    )
    links = causes.of_plugin("aws-ebs0")
    stuck = findings.finding("volume-unschedulable", "volume default/mysql", expected="x", found="y", links=links)
    whole = verification_report.VerificationReport(
        plugins=(absent,),
        volumes=(dataclasses.replace(MISSING, findings=(stuck,)),),
        findings=causes.assign((*absent.findings, stuck)),
    )

    text = whole.as_table()

    codes = [item.code for item in whole.findings]
    assert {"job-missing", "plugin-missing", "controller-missing", "volume-unschedulable"} <= set(codes)
    shown = [line.split()[1] for line in text.splitlines() if line.startswith("error  ")]
    assert sorted(shown) == ["job-missing", "no-eligible-node"]
    following = [line.split()[1:3] for line in text.splitlines() if line.startswith("  so ")]
    assert following == [["error", code] for code in ("plugin-missing", "controller-missing", "volume-unschedulable")]
    assert text.splitlines()[-1] == (
        f"1 plugin and 1 volume checked: {len(codes)} errors, 0 warnings (3 are consequences)"
    )


def test_table_and_json_say_what_was_not_compared():
    """In a column that is there for that alone."""
    held = verification_report.VolumeStatus(
        namespace="default",
        volume_id="mysql",
        plugin_id="aws-ebs0",
        external_id="vol-1",
        findings=(),
        detail=compare.ID_NOT_COMPARED,
    )
    whole = verification_report.VerificationReport(plugins=(), volumes=(held,))

    assert whole.as_table() == (
        "volume         status  plugin    external id  checked by  detail\n"
        "default/mysql  ok      aws-ebs0  vol-1        nomad       external id not compared (--stack-output)\n"
        "\n"
        "0 plugins and 1 volume checked: 0 errors, 0 warnings\n"
    )
    assert whole.as_json()["volumes"][0]["detail"] == "external id not compared (--stack-output)"
