"""What becomes of files with one thing otherwise: the whole spec, and all remarks beyond those of the first row."""

from pathlib import Path

import pytest

from nomad_csi.hcl import files
from nomad_csi.migration import adopt
from tests import tables

FOLDER = Path(__file__).parent
RIGHT = FOLDER.parent / "diagnosis/file_rules/right"
ROWS = tables.load(FOLDER / "imports.yaml")
USUAL = {line.partition(": ")[2] for line in ROWS[0]["said"]}
"""Remarks on each job of a driver of the catalogue."""


def changed(name, of, change=None):
    """Return a file that is right with some texts replaced."""
    text = (RIGHT / of).read_text(encoding="utf-8")
    for old, new in (change or {}).items():
        assert old in text
        text = text.replace(old, new, 1)
    return files.parse(text, name)


@pytest.mark.parametrize("row", ROWS, ids=[row["what"] for row in ROWS])
def test_what_becomes_of_files(row):
    """Each value of a file is in the spec, or in a remark."""
    given = [changed(name, **each) for name, each in row["files"].items()]

    found = adopt.adopt(given, aws_region=row.get("aws_region", ""))

    said = [f"{remark}{f' ({remark.code})' if remark.code else ''}" for remark in found.remarks]
    assert found.document == row["spec"]
    assert list(found.document) == list(row["spec"])
    assert [line for line in said if row is ROWS[0] or line.partition(": ")[2] not in USUAL] == row["said"]
