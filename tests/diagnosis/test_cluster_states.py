"""Every command says the same of a state of the cluster, right, or that it is not known; never ok, and no wrong cause."""

import re

import pytest

from nomad_csi.findings import registry
from tests import tables
from tests.diagnosis import cluster_states

TABLE = tables.load(cluster_states.TABLE)
ROWS = cluster_states.recorded()
WELL_NAME = next(iter(TABLE))
SPEAKING = ("verify", "doctor", "claims")
WELL = {"all is well", "node instance restarted and is well"}
SILENT = {
    ("job-missing", "doctor"): "before `up`, an absent job may be run yet",
    ("plugin-missing", "verify"): "a plugin outside of the spec",
    ("volume-unschedulable", "verify"): "a volume outside of the spec",
}
"""A code and a command that is silent in some states, with the reason."""


def codes(said):
    """Return the codes in what a command says, causes and consequences."""
    return {word for word in said.split() if re.fullmatch(r"[a-z]+(-[a-z]+)+", word)}


def is_open(said):
    """Return whether the command says that it could not determine all."""
    return said.startswith("2") or "not known" in said


def test_table_has_every_state():
    """At least sixty of them."""
    assert list(TABLE) == list(cluster_states.STATES)
    assert len(TABLE) >= 60


@pytest.mark.parametrize("name", cluster_states.STATES)
def test_commands_say_what_is_right(name):
    """The page of `verify --html` included; in each row that is not as where all is well."""
    said, rows = cluster_states.run(name)

    assert said == TABLE[name]
    assert [row for row in rows if name == WELL_NAME or row not in ROWS[WELL_NAME]] == ROWS[name]


@pytest.mark.parametrize("name", TABLE)
def test_commands_agree(name):
    """What one command says, each other one says that reports the code, or it does not know; the page has all of it."""
    said = TABLE[name]
    for code in set().union(*(codes(said[command]) for command in SPEAKING)):
        silent = {
            command
            for command in SPEAKING
            if command in registry.codes()[code].commands and code not in codes(said[command])
        }
        assert {each for each in silent if not is_open(said[each]) and (code, each) not in SILENT} == set(), code
        assert code in codes(said["page"]) or is_open(said["page"])


@pytest.mark.parametrize("name", TABLE)
def test_no_fault_is_ok_everywhere(name):
    """An error is an exit code, and a state that is not well is named by some command."""
    said = TABLE[name]
    for words in said.values():
        severities = {registry.codes()[code].severity for code in codes(words)}
        assert ("error" in severities) == words.startswith("1") or is_open(words)
    assert (name in WELL) == all(words == "0" for words in said.values())
