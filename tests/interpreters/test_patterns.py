"""No regular expression of the product is one that a Python of our users matches wrongly."""

import re
from pathlib import Path

INFRA = Path(__file__).parents[2] / "infra"


def test_no_text_looks_like_such_a_pattern():
    """
    Debian 12 has Python 3.11.2, which matches possessive and atomic parts wrongly over a lookahead (CPython gh-106052).

    There ``(?:a++|b(?!c))*+`` matches ``bc``, so that ``${`` passed into HCL, and private keys were shown. Write one
    alternation whose branches begin differently, or a scanner: both are linear without.
    """
    sign = re.compile(r"(?<!\\)[\])*+?}\w.][*+?}]\+(?!\+)|\(\?>")
    found = [
        (module.name, line)
        for folder in ("nomad_csi", "nomad_csi_sandbox")
        for module in (INFRA / folder).rglob("*.py")
        for line in module.read_text(encoding="utf-8").splitlines()
        if re.search(r"""\br[fb]?["']|re\.""", line) and sign.search(line)
    ]

    assert found == []
