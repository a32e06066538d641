"""``nomad-csi doctor --fix``: what would be tagged is said, asked, done, and examined again."""

import pytest

from nomad_csi import cli, findings
from nomad_csi.diagnosis import doctor

QUESTION = (
    "give 2 EBS volumes in eu-west-1 the tag ebs.csi.aws.com/cluster=true: vol-1, vol-2. Every role with the policy V2 "
    "of the EBS driver may then attach, detach and delete them"
)


@pytest.fixture
def examined(monkeypatch, empty_agent):
    """Examine an account with two volumes without the tag; return what was done, in order."""
    done = []
    found = findings.finding("policy-tag-missing", "plugin ebs", found="2 volumes", external_ids=("vol-2", "vol-1"))
    report = doctor.DoctorReport(findings=(found,), aws_region="eu-west-1")

    def examine(*_, **__):
        done.append("examined")
        return doctor.DoctorReport() if "fixed" in done else report

    monkeypatch.setattr(doctor, "examine", examine)
    monkeypatch.setattr(doctor, "fix", lambda given: done.append("fixed") or given.untagged[:1])
    monkeypatch.setenv("NOMAD_ADDR", empty_agent())
    return done


@pytest.mark.parametrize(
    ("words", "said", "steps"),
    [
        ([], "", ["examined"]),
        (["--fix", "--dry-run"], f"would {QUESTION}\n", ["examined"]),
        (["--fix", "--yes"], f"{QUESTION}\ntagged 1\n", ["examined", "fixed", "examined"]),
    ],
)
def test_volumes_are_tagged_where_that_is_agreed(examined, capsys, words, said, steps):
    """Nothing is changed without the options."""
    cli.main(["doctor", *words])

    assert capsys.readouterr().err == said
    assert examined == steps


def test_nothing_is_tagged_without_an_answer(examined, capsys):
    """No terminal, no tag."""
    assert cli.main(["doctor", "--fix"]) == 1

    assert capsys.readouterr().err == f"{QUESTION}\nrefused: no terminal to confirm on; pass --yes\n"
    assert examined == ["examined"]
