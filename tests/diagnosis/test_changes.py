"""Between two reports, what is otherwise is told once, and what is not is not told."""

import dataclasses

import pytest

from nomad_csi import findings
from nomad_csi.diagnosis import facts, rounds, verification_report
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


def test_findings_come_and_go(look):
    """Those of instances, of volumes, and others."""
    held = dataclasses.replace(OK, findings=(finding("claim-without-controller", found="none healthy"),))
    old = finding("nomad-too-old-for-driver", subject="plugin aws-ebs0", found="nomad-1 with 1.3.0")

    assert told(look("a", "b", extra=[old]), look("a", volume=held)) == [
        "plugin aws-ebs0: nomad-too-old-for-driver -> -",
        "node instance of plugin aws-ebs0 on b: - -> node-missing (none (no allocation there))",
        "volume default/mysql: - -> claim-without-controller (none healthy)",
    ]


def test_finding_that_could_not_be_checked_is_not_gone(look):
    """It may be as before."""
    old = finding("nomad-too-old-for-driver", subject="plugin aws-ebs0", found="nomad-1 with 1.3.0")
    after = dataclasses.replace(look("a", "b"), unchecked=(facts.Unchecked(check="versions", reason="403"),))

    assert told(look("a", "b", extra=[old]), after) == []
    done = rounds.VerificationRound(number=1, at_s=1, seconds=1, outcome=after, last_answer_s=1)
    assert (done.summary, done.exit_code) == ("not all of it could be checked", 2)
