"""Between two reports, what is otherwise is told once, and what is not is not told."""

import dataclasses

import pytest

from nomad_csi import findings
from nomad_csi.diagnosis import rounds, verification_report
from nomad_csi.health import plugins

OK = verification_report.VolumeStatus(
    namespace="default", volume_id="mysql", plugin_id="aws-ebs0", external_id="", findings=()
)


def finding(code, subject="volume default/mysql", found="this"):
    return findings.finding(code, subject, expected="that", found=found)


@pytest.fixture
def look(expected, node, instance, seen, ran):
    """Judge a plugin on clients a and b, with a healthy instance on each of those named."""

    def judge(*names, clients="ab", volume=OK, extra=()):
        there = seen(*(instance("node", name) for name in names), ran=[ran("node", name) for name in names])
        status = plugins.compare_plugin(expected(controllers=0), there, tuple(node(name) for name in clients))
        found = (*status.findings, *volume.findings, *extra)
        return verification_report.VerificationReport(plugins=(status,), volumes=(volume,), findings=found)

    return judge


def told(before, after):
    return [str(change) for change in rounds.changes_between(before, after)]


def test_statuses_of_plugins_and_instances_are_told(look):
    """With counts, and back again."""
    lost, back = told(look("a", "b"), look("a")), told(look("a"), look("a", "b"))

    assert lost[0] == "plugin aws-ebs0: healthy -> partial (1/2 nodes)"
    assert [line.partition(" (")[0] for line in lost[1:]] == [
        "node instance of plugin aws-ebs0 on b: healthy -> missing"
    ]
    assert back == [
        "plugin aws-ebs0: partial -> healthy (2/2 nodes)",
        "node instance of plugin aws-ebs0 on b: missing -> healthy",
    ]


def test_volume_is_told_with_what_is_wrong(look):
    """Its findings are in the line, and no lines of their own."""
    gone = dataclasses.replace(OK, findings=(finding("volume-missing", found="no such volume"),))

    assert told(look("a", "b"), look("a", "b", volume=gone)) == [
        "volume default/mysql: ok -> missing (volume-missing: no such volume)"
    ]


def test_findings_come_and_go(look):
    """Those that no status tells."""
    held = dataclasses.replace(OK, findings=(finding("claim-without-controller", found="none healthy"),))
    old = finding("nomad-too-old-for-driver", subject="plugin aws-ebs0", found="nomad-1 with 1.3.0")

    assert told(look("a", "b", extra=[old]), look("a", "b", volume=held)) == [
        "plugin aws-ebs0: nomad-too-old-for-driver -> -",
        "volume default/mysql: - -> claim-without-controller (none healthy)",
    ]
