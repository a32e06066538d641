"""The report as text, as data, and as an exit code; and the rules in words."""

import dataclasses

import pytest

from nomad_csi.diagnosis import doctor
from nomad_csi.diagnosis.facts import Unchecked
from nomad_csi.findings import finding, registry

WARNING = finding("client-not-counted", "servers", found="failed: a")
ERROR = finding("driver-nowhere", "plugin ebs (node)", found="docker is not healthy on a")
FAILED = Unchecked(check="what the token may do", reason="403")
EXPECTED = Unchecked(check="mount propagation", reason="seen only there", is_expected=True)


@pytest.mark.parametrize(
    ("findings", "unchecked", "code"),
    [
        ((), (), 0),
        ((WARNING,), (), 0),
        ((WARNING,), (EXPECTED,), 0),
        ((ERROR, WARNING), (), 1),
        ((ERROR,), (FAILED,), 1),
        ((WARNING,), (FAILED,), 2),
        ((), (FAILED, EXPECTED), 2),
    ],
)
def test_exit_code(findings, unchecked, code):
    """An error goes before what was not found out; a warning is no reason to fail."""
    assert doctor.DoctorReport(findings=findings, unchecked=unchecked).exit_code == code


def test_report_as_text():
    """Each finding with what was read and what to do; what was not checked with the reason; the sum."""
    follows = dataclasses.replace(WARNING, cause="driver-nowhere: plugin ebs (node)", advice="")
    report = doctor.DoctorReport(findings=(ERROR, follows), unchecked=(FAILED, EXPECTED, EXPECTED))
    text = report.as_table()

    assert report.as_table(colour=True) == text.replace("error  driver", "\x1b[31merror\x1b[0m  driver")
    assert text == (
        "error  driver-nowhere  plugin ebs (node)\n"
        "  found     docker is not healthy on a\n"
        "  advice    install or repair the task driver on the clients, or choose another one for the plugin\n"
        "  so        warning client-not-counted of servers\n"
        "            failed: a\n"
        "not checked  what the token may do\n"
        "  reason    403\n"
        + "left out     mount propagation\n  reason    seen only there\n" * 2
        + "1 error, 1 warning (1 is a consequence), 1 not checked, 2 left out\n"
    )


def test_report_as_data():
    """All of it, with the keys that are kept."""
    tagged = dataclasses.replace(WARNING, cause="a: b", external_ids=("vol-4", "vol-1", "vol-3", "vol-2"))
    report = doctor.DoctorReport(findings=(tagged,), unchecked=(EXPECTED,))

    assert report.untagged == ("vol-1", "vol-2", "vol-3", "vol-4")
    assert report.as_json() == {
        "ok": True,
        "findings": [
            {
                "code": "client-not-counted",
                "severity": "warning",
                "subject": "servers",
                "evidence": "failed: a",
                "fix": registry.codes()["client-not-counted"].fix,
                "external_ids": ["vol-4", "vol-1", "vol-3", "vol-2"],
                "cause": "a: b",
            }
        ],
        "not_checked": [{"check": "mount propagation", "reason": "seen only there", "is_expected": True}],
    }
