"""Findings as text, on one line and as JSON, and the registry in words."""

import dataclasses

import pytest

from nomad_csi import cli
from nomad_csi.findings import Finding, finding, printing, registry

WHOLE = dataclasses.replace(
    finding("storage-missing", "volume default/mysql", expected="vol-1", found="none", external_ids=("vol-1",)),
    file="a.hcl",
    line=5,
    found_by="claims",
)


def test_text():
    """Code and subject, and beneath them what was expected and found, and what to do."""
    assert printing.as_text([WHOLE], 80) == (
        "error  storage-missing  volume default/mysql\n"
        "  expected  vol-1\n"
        "  found     none\n"
        "  advice    check that --aws-region is the volume's region; if it is, deregister\n"
        "            the volume"
    )


def test_text_without_an_expectation():
    """Where what was found says it all, nothing stands for it."""
    lines = printing.as_text([finding("client-not-counted", "servers", found="failed: a")], 200).splitlines()

    assert [line.split()[0] for line in lines] == ["warning", "found", "advice"]


@pytest.mark.parametrize(
    ("place", "shown"), [({}, "a.hcl:5: "), ({"line": 0}, "a.hcl: "), ({"file": "", "line": 0}, "")]
)
def test_line(place, shown):
    """As editors read it, with as much of a place as there is."""
    assert printing.as_line(dataclasses.replace(WHOLE, **place)) == (
        f"{shown}error: storage-missing: volume default/mysql: expected vol-1, found none; "
        "check that --aws-region is the volume's region; if it is, deregister the volume"
    )


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (printing.COMPARED, {"expected": "vol-1", "found": "none", "advice": WHOLE.advice}),
        (printing.LINTED, {"file": "a.hcl", "line": 5, "found": "none", "fix": WHOLE.advice}),
        (printing.EXAMINED, {"evidence": "none", "fix": WHOLE.advice, "external_ids": ["vol-1"]}),
        (printing.REPORTED, {"found_by": "claims", "expected": "vol-1", "found": "none", "advice": WHOLE.advice}),
    ],
)
def test_json(keys, expected):
    """Each command has its keys, which are kept."""
    head = {"code": "storage-missing", "severity": "error", "subject": "volume default/mysql"}
    head |= {} if keys == printing.LINTED else {"cause": ""}

    assert printing.as_json([WHOLE], keys) == [head | expected]


def test_any_code_is_explained_by_one_command(capsys):
    """Somebody who reads a report need not know which command found it."""
    assert cli.main(["explain", "claim-ended"]) == 0

    assert capsys.readouterr().out == registry.as_text(registry.codes()["claim-ended"])


@pytest.mark.parametrize("row", registry.codes().values(), ids=registry.codes())
def test_explanation_fits_a_terminal_and_leaves_nothing_out(row):
    """Code, severity, explanation, fix, source and commands, in lines of at most 100 columns."""
    text = registry.as_text(row)

    words = " ".join(text.split())
    assert max(map(len, text.splitlines())) <= registry.WIDTH
    assert all(part in words for part in (row.code, row.severity, row.explanation, row.fix, row.source))
    assert all(name in words for name in (*row.commands, ", ".join(row.causes)))


def test_fields_of_a_finding_are_printed_by_somebody():
    """A new field needs a key, or a reason: `about` is for the report, and `links` for the cause."""
    names = {"evidence": "found", "fix": "advice"}
    keys = {*printing.COMPARED, *printing.LINTED, *printing.EXAMINED, *printing.REPORTED}

    assert {field.name for field in dataclasses.fields(Finding)} - {names.get(key, key) for key in keys} == {
        "about",
        "links",
    }
