"""The report as text, as data, and as an exit code; and the rules in words."""

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
    report = doctor.DoctorReport(findings=(ERROR,), unchecked=(FAILED,))
    text = report.as_table()

    assert report.as_table(colour=True) == text.replace("error  driver", "\x1b[31merror\x1b[0m  driver")
    assert text == (
        "error  driver-nowhere  plugin ebs (node)\n"
        "  found     docker is not healthy on a\n"
        "  advice    install or repair the task driver on the clients, or choose another one for the plugin\n"
        "not checked  what the token may do\n"
        "  reason    403\n"
        "1 error, 0 warnings, 1 not checked\n"
    )


def test_report_as_data():
    """All of it, with the keys that are kept."""
    assert doctor.DoctorReport(findings=(WARNING,), unchecked=(EXPECTED,)).as_json() == {
        "ok": True,
        "findings": [
            {
                "code": "client-not-counted",
                "severity": "warning",
                "subject": "servers",
                "evidence": "failed: a",
                "fix": registry.codes()["client-not-counted"].fix,
                "external_ids": [],
                "cause": "",
            }
        ],
        "not_checked": [{"check": "mount propagation", "reason": "seen only there", "is_expected": True}],
    }
