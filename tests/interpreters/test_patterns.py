"""No regular expression of the product is one that a Python of our users matches wrongly."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interpreters import product_patterns

INFRA = Path(__file__).parents[2] / "infra"


@pytest.fixture(scope="module")
def patterns():
    """Every pattern of the product: place, pattern and flags."""
    command = [sys.executable, "-W", "ignore", product_patterns.__file__]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def _operations(tree):
    for operation, given in tree:
        yield str(operation)
        rest = [given]
        while rest:
            item = rest.pop()
            if isinstance(item, re._parser.SubPattern):
                yield from _operations(item)
            elif isinstance(item, (list, tuple)):
                rest.extend(item)


WRONG = {"POSSESSIVE_REPEAT", "ATOMIC_GROUP"}


def is_matched_wrongly(pattern, flags):
    """Return whether CPython before 3.11.5 may match *pattern* wrongly (CPython gh-106052)."""
    return not WRONG.isdisjoint(_operations(re._parser.parse(pattern, flags)))


def test_no_pattern_is_possessive_or_atomic(patterns):
    """
    Debian 12 has Python 3.11.2, which matches both wrongly over a group with a lookahead (CPython gh-106052).

    There ``(?:a++|b(?!c))*+`` matches ``bc``, so that ``${`` passed into HCL, and private keys were shown. Write one
    alternation whose branches begin differently, or a scanner: both are linear without.
    """
    assert [(module, pattern) for module, pattern, flags in patterns if is_matched_wrongly(pattern, flags)] == []
    assert {"nomad_csi.hcl.quote", "nomad_csi.text.redaction"} <= {module for module, *_ in patterns}
    assert len(patterns) > 150


def test_no_text_looks_like_such_a_pattern():
    """Also where a pattern is put together when it is needed: no text of a module has such a quantifier."""
    sign = re.compile(r"(?<!\\)[\])*+?}\w.][*+?}]\+(?!\+)|\(\?>")
    found = [
        (module.name, line)
        for folder in ("nomad_csi", "nomad_csi_sandbox")
        for module in (INFRA / folder).rglob("*.py")
        for line in module.read_text(encoding="utf-8").splitlines()
        if re.search(r"""\br[fb]?["']|re\.""", line) and sign.search(line)
    ]

    assert found == []


@pytest.mark.parametrize(
    ("pattern", "is_wrong"), [("a++", True), ("(?:(?>a)|b)*", True), ("[*+]+", False), (r"\++", False)]
)
def test_such_patterns_are_noticed(pattern, is_wrong):
    """In a group, too."""
    assert is_matched_wrongly(pattern, 0) is is_wrong
