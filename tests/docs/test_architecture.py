"""docs/explain/architecture.md has the packages of the code, in the order that import-linter holds."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/explain/architecture.md").read_text(encoding="utf-8")


def test_the_table_has_the_layers_of_the_linter():
    """Row by row; a row may join neighbours."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    [layers] = [item["layers"] for item in contracts if item["type"] == "layers" and "nomad_csi.cli" in item["layers"]]
    table = PAGE.partition("| package |")[2].partition("\n\n")[0]

    rows = [
        re.findall(r"`([a-z_]+)(?:/|\.py)`", line.split("|")[1])
        for line in table.splitlines()
        if line.startswith("| `")
    ]

    assert [sorted(row) for row in _as_rows(layers, rows)] == [sorted(row) for row in rows]


def _as_rows(layers, rows):
    """Join the names of *layers*, in their order, into rows of the sizes of *rows*."""
    names = [sorted(re.findall(r"nomad_csi\.(\w+)", layer)) for layer in layers]
    for row in rows:
        joined = names.pop(0)
        while len(joined) < len(row):
            joined += names.pop(0)
        yield joined
    assert names == []
