"""The changes that are made on purpose can be made, and what no test notices fails the run."""

import dataclasses

import pytest

from tests.mutants import by_hand

CHANGE = by_hand.Change(
    what="adds", file="infra/sums.py", was="one + other", becomes="one - other", tests=("tests/test_sums.py",)
)
SAME = dataclasses.replace(CHANGE, what="adds the other way", becomes="other + one")


@pytest.mark.parametrize("subject", by_hand.SUBJECTS)
def test_change_can_be_made_and_its_tests_are_there(subject):
    """Code that changed takes its entry along: the text stands once in its file, and another takes its place."""
    wrong = []
    for change in by_hand.changes(subject):
        try:
            is_another = change.made_in(by_hand.ROOT) != (by_hand.ROOT / change.file).read_text()
        except ValueError as error:
            wrong.append(str(error))
        else:
            wrong += [] if is_another else [f"{change.file}: nothing changes: {change.was}"]
        wrong += [f"{change.file}: no test {test}" for test in change.tests_missing_in(by_hand.ROOT)]

    assert wrong == []


DECIDING = (
    "aws",
    "frame",
    "health",
    "jobs",
    "plan/rules",
    "text",
    "volumes",
)
"""Packages in which it is decided what becomes of data, what is secret, and what is healthy."""

DECIDE_NOTHING = {
    "aws/records.py": "records",
    "health/clients.py": "reads",
    "health/explaining.py": "explains",
    "health/plugin_health_properties.py": "converts",
    "health/states.py": "names",
    "frame/properties.py": "converts",
    "frame/registry.py": "names",
    "jobs/plugin_job_properties.py": "converts",
    "volumes/facts.py": "names",
    "text/docstrings.py": "converts",
    "text/listing.py": "prints",
    "text/table.py": "prints",
}


def test_every_module_that_decides_is_changed():
    """By mutmut or by hand; a new one gets a change, or its reason here."""
    product = by_hand.ROOT / "infra/nomad_csi"
    changed = {module for item in by_hand.entries("table.yaml") for module in item["modules"]}
    for subject in by_hand.SUBJECTS:
        changed |= {change.file.removeprefix("infra/nomad_csi/") for change in by_hand.changes(subject)}
    there = {
        str(path.relative_to(product))
        for folder in DECIDING
        for path in (product / folder).rglob("*.py")
        if path.name != "__init__.py"
    }

    assert there - changed - DECIDE_NOTHING.keys() == set()
    assert DECIDE_NOTHING.keys() - there == set()
    assert DECIDE_NOTHING.keys() & changed == set()


@pytest.fixture
def project(tmp_path):
    """A project of one module and its test."""
    (tmp_path / "infra").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "infra/sums.py").write_text("def add(one, other):\n    return one + other\n")
    (tmp_path / "tests/test_sums.py").write_text("import sums\n\ndef test_add():\n    assert sums.add(1, 2) == 3\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    return tmp_path


def test_change_that_nothing_notices_fails_the_run(project, monkeypatch, capsys):
    """Each change is made alone, and undone."""
    before = (project / CHANGE.file).read_text()
    monkeypatch.setattr(by_hand, "copied", lambda _: project)

    monkeypatch.setattr(by_hand, "changes", lambda _: [SAME, CHANGE])
    assert not by_hand.run("by-hand")

    *_, line, total = capsys.readouterr().out.splitlines()
    assert line.startswith("  nothing notices, in infra/sums.py: adds the other way (exit code 0 ")
    assert total == "by-hand: 1 of 2 are noticed"
    assert (project / CHANGE.file).read_text() == before

    monkeypatch.setattr(by_hand, "changes", lambda _: [CHANGE])
    assert by_hand.run("by-hand")
