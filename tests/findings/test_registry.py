"""The registry of codes: one code for a condition, one condition for a code, held to the code that emits them."""

import ast
import functools
import graphlib
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from nomad_csi import findings
from nomad_csi.diagnosis import judge
from nomad_csi.findings import registry
from nomad_csi.health import states
from nomad_csi.plan import registration
from nomad_csi.volumes import compare

ROOT = Path(__file__).parents[2] / "infra/nomad_csi"
CODES = registry.codes()
BUILDERS = {"finding", "findings.finding", "at_line"}

COMMANDS = {
    "diagnosis/file_rules/": {"check"},
    "migration/": {"check"},
    "plan/rules/": {"check"},
    "health/probed.py": {"csi probe"},
    "health/probe_deep.py": {"csi probe"},
    "jobs/conflicts.py": {"plan"},
    "nomad/version_gates.py": {"apply"},
}
"""What reports the findings that a module or package emits; the longest path counts."""

RULES = {"claims", "doctor", "verify"}
"""Commands that apply the rules of `judge`, by the commands of each code."""

ALSO = {"job-unread": {"plan"}}
"""Commands that report a code by calling what another one reports it with."""


@functools.cache
def emitted():
    """Return the codes that stand in each module as texts: constants, tables and arguments alike."""
    found = defaultdict(set)
    for path, each in nodes().items():
        place = str(path)
        prefix = max((name for name in COMMANDS if place.startswith(name)), key=len, default="")
        if prefix and place != "health/states.py":
            for node in each:
                if isinstance(node, ast.Constant) and node.value in CODES:
                    found[node.value] |= COMMANDS[prefix]
    return found


@functools.cache
def nodes():
    """Return the nodes of each module, by its path."""
    return {
        path.relative_to(ROOT): tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        for path in sorted(ROOT.rglob("*.py"))
    }


@functools.cache
def calls():
    """Return place, name and node of each call."""
    found = ((path, node) for path, each in nodes().items() for node in each if isinstance(node, ast.Call))
    return [(f"{path}:{node.lineno}", ast.unparse(node.func), node) for path, node in found]


def texts(node):
    """Return the texts that an argument can be, as far as it is written out."""
    if isinstance(node, ast.IfExp):
        return texts(node.body) + texts(node.orelse)
    return [node.value] if isinstance(node, ast.Constant) else []


def test_every_code_that_is_emitted_is_registered():
    """Wherever a finding is built of a code that is written out, in whatever module."""
    unknown = {
        (place, code)
        for place, name, call in calls()
        if name in BUILDERS and call.args
        for code in texts(call.args[0])
        if code not in CODES
    }

    assert unknown == set()


def test_every_registered_code_is_emitted_by_the_commands_of_its_row():
    """Beside those that apply rules; nobody else adds or forgets one."""
    expected = {code: set(row.commands) - RULES for code, row in CODES.items()}
    found = emitted()

    assert {code: found.get(code, set()) | ALSO.get(code, set()) for code in CODES} == expected


def test_each_code_of_a_cluster_has_exactly_one_rule():
    """Whichever commands report it; the page adds the outcome of a smoke test that it is given."""
    of_rules = Counter(code for rule in judge.RULES for code in rule.codes)

    assert set(of_rules.values()) == {1}
    assert set(of_rules) | {"smoke-failed"} == {code for code, row in CODES.items() if RULES & set(row.commands)}


def test_findings_are_built_in_one_place():
    """Nobody goes around the registry's severity and fix."""
    built = [place for place, name, _ in calls() if name.rpartition(".")[2] == "Finding"]

    assert [place.partition(":")[0] for place in built] == ["findings/model.py"]


def test_a_code_that_is_not_registered_is_refused():
    """At once."""
    with pytest.raises(KeyError, match="no-such-code"):
        findings.finding("no-such-code", "plugin a", found="x")


@pytest.mark.parametrize("row", CODES.values(), ids=CODES)
def test_no_fix_is_to_run_the_command_that_printed_it(row):
    """Whoever reads it has just done so; a command with an option or an argument is another one."""
    assert [command for command in row.commands if f"`nomad-csi {command}`" in row.fix] == []


def test_causes_are_codes_without_a_cycle():
    """So that each consequence has one root."""
    order = graphlib.TopologicalSorter({code: row.causes for code, row in CODES.items()})

    assert set(order.static_order()) == set(CODES)


def test_a_finding_has_severity_and_fix_of_the_registry():
    """Unless the one who finds it knows better."""
    plain = findings.finding("volume-missing", "volume a/b", found="none")
    other = findings.finding("volume-missing", "volume a/b", found="none", advice="do this")

    assert (plain.severity, plain.advice) == ("error", CODES["volume-missing"].fix)
    assert other.advice == "do this"
    assert CODES["nomad-wants-equal-topologies"].source.startswith(
        "https://github.com/hashicorp/nomad/issues/24522, in "
    )


@pytest.mark.parametrize("row", CODES.values(), ids=CODES)
def test_every_row_says_what_why_and_what_to_do(row):
    """Sentences that end, a fix that can follow a semicolon, a source, and known commands."""
    assert row.severity in {"error", "warning"}
    assert row.explanation.endswith(".")
    assert row.explanation[0].isupper()
    assert not row.fix.endswith(".")
    assert row.fix[0].islower()
    assert row.source
    assert list(row.commands) == sorted(row.commands)


def test_no_two_codes_mean_the_same():
    """Neither the same sentence, nor the same words in another order."""
    words = defaultdict(list)
    for code, row in CODES.items():
        words[frozenset(re.findall(r"\w+", row.explanation.lower()))].append(code)

    assert [codes for codes in words.values() if len(codes) > 1] == []


def test_every_state_of_an_instance_follows_from_codes():
    """The table has no code that is not registered."""
    assert set(states.OF_CODE) <= set(CODES)


def test_fields_that_have_a_code_are_compared():
    """That every field that is compared has one, tests/volumes/test_every_registration_field.py shows."""
    source = "".join(Path(module.__file__).read_text(encoding="utf-8") for module in (compare, registration))
    of_field = registry.code_of_field()

    assert [
        text for text in of_field if f'"{text.rpartition(".")[2]}"' not in source and f'"{text}"' not in source
    ] == []
    assert set(of_field.values()) == set(registry.chapters()["Volume differences"])
