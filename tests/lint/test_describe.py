"""The rules and verdicts as people and programs read them."""

import json
from pathlib import Path

import pytest

from nomad_csi.lint import describe, table

PAGE = Path(__file__).parents[2] / "docs" / "lint.md"
VOLUME = 'type = "csi"\nid = "x"\nplugin_id = "p"\nexternal_id = "e"\naccess_mode = "single-node-writer"\n'


def test_page_of_the_documentation_is_that_of_the_rules():
    """Whoever changes a rule writes the page again: nomad-csi lint --docs > docs/lint.md."""
    assert PAGE.read_text(encoding="utf-8") == describe.page()


def test_page_says_first_that_it_is_generated():
    """Nobody edits it by hand without having been told."""
    first = describe.page().partition("\n")[0]

    assert "Generated" in first
    assert "nomad-csi lint --docs > docs/lint.md" in first


@pytest.mark.parametrize("rule", table.RULES.values(), ids=table.RULES)
def test_every_rule_says_why_and_what_to_do(rule):
    """Sentences that end, a fix that can follow a semicolon, a source."""
    assert rule.explanation.endswith(".")
    assert rule.explanation[0].isupper()
    assert not rule.fix.endswith(".")
    assert rule.fix[0].islower()
    assert rule.source


def test_no_code_stands_twice():
    """A code means one thing."""
    rules = [rule for chapter in table.CHAPTERS.values() for rule in chapter]

    assert len(rules) == len(table.RULES)


@pytest.mark.parametrize("rule", table.RULES.values(), ids=table.RULES)
def test_text_of_a_rule_fits_a_terminal_and_leaves_nothing_out(rule):
    """Code, severity, explanation, fix and source, in lines of at most 100 columns."""
    text = describe.as_text(rule)

    told = " ".join(text.split())
    assert max(map(len, text.splitlines())) <= describe.WIDTH
    assert all(part in told for part in (rule.code, rule.severity, rule.explanation, rule.fix, rule.source))


def test_rule_as_json():
    """Programs get the same."""
    assert set(describe.rule_as_json(table.RULES["legacy-modes"])) == {
        "code",
        "severity",
        "explanation",
        "fix",
        "source",
    }


def test_verdict_reads_as_editors_like_it(judged):
    """File, line, severity, code, subject, what is there, what to do."""
    [verdict] = judged({"a.hcl": VOLUME})

    assert str(verdict) == (
        "a.hcl:5: error: legacy-modes: volume x: access_mode at the top; move them into a capability block"
    )


def test_verdicts_as_json(judged):
    """Every field, in plain values."""
    found = json.loads(json.dumps(describe.as_json(judged({"a.hcl": VOLUME}))))

    assert found == {
        "ok": False,
        "findings": [
            {
                "code": "legacy-modes",
                "severity": "error",
                "file": "a.hcl",
                "line": 5,
                "subject": "volume x",
                "found": "access_mode at the top",
                "fix": "move them into a capability block",
            }
        ],
    }
    assert describe.as_json(()) == {"ok": True, "findings": []}
