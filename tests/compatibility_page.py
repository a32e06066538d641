"""
The tables of docs/reference/compatibility.md, from ``nomad_csi/nomad/releases.yaml`` and the gates of ``findings/codes.yaml``.

``python -m tests.compatibility_page`` writes them into the page again.
"""

import re
from pathlib import Path

from nomad_csi.nomad import version_gates
from nomad_csi.plan import versions

PAGE = Path(__file__).parents[1] / "docs/reference/compatibility.md"
TABLE = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def _row(*cells):
    return f"| {' | '.join(cells)} |"


def _since(versions):
    return ", ".join(versions)


def differences():
    """Return the table of what older releases do otherwise, the oldest difference first."""
    found = sorted(
        version_gates.releases().differences.items(), key=lambda row: versions.parse(row[1].since[0]).segments
    )
    rows = (_row(f"`{name}`", _since(item.since), item.before, item.felt) for name, item in found)
    return [_row("name", "otherwise before", "what older releases do", "what you notice"), "|---|---|---|---|", *rows]


def faults():
    """Return the table of the faults that `nomad-csi doctor` reports."""
    rows = (
        _row(
            f"[`{fault.code}`](findings.md#{fault.code})",
            " and ".join(gate.sides),
            _since(gate.fixed_in),
            fault.explanation,
        )
        for fault, gate in version_gates.gates()
    )
    return [_row("code", "on", "repaired in", "what comes of it"), "|---|---|---|---|", *rows]


def tried():
    """Return the list of the releases that were tried."""
    return [f"- Nomad {version}" for version in version_gates.releases().tried]


def written(text):
    """Return *text*, a page, with its tables as they are to be."""
    made = {"differences": differences, "faults": faults, "tried": tried}
    return TABLE.sub(lambda found: "\n".join((found[1], *made[found[2]](), "", found[3])), text)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
