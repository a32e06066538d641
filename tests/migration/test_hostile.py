"""Files with values of another kind than they should have: a status, a remark or a refusal, and never a traceback."""

import contextlib
import re
from pathlib import Path

import pytest

from nomad_csi import errors
from nomad_csi.diagnosis.file_rules import judge
from nomad_csi.hcl import files
from nomad_csi.migration import adopt

TESTS = Path(__file__).parents[1]
SOURCES = sorted(
    path
    for path in (*(TESTS / "cases").iterdir(), *(TESTS / "diagnosis/file_rules/right").iterdir())
    if path.suffix != ".md"
)
VALUES = ["1", '""', "true", "[1, [true]]", "{ a = [1] }", '"a:b:c:d"']
JSON_VALUES = ["1", '""', "null", "[1, [true]]", '{"a": [1]}']
ATTRIBUTE = re.compile(r'(?<== )("[^"\n]*"|\d+|true|false|\[[^\]]*\])')
JSON_MEMBER = re.compile(r'(?<=: )("[^"\n]*"|\[[^\]]*\])')


def changed(path):
    """Yield the text with each of its values replaced by each odd one, one at a time."""
    text = path.read_text(encoding="utf-8")
    is_json = path.suffix == ".json"
    for match in (JSON_MEMBER if is_json else ATTRIBUTE).finditer(text):
        for value in JSON_VALUES if is_json else VALUES:
            yield text[: match.start()] + value + text[match.end() :]


@pytest.mark.parametrize("path", SOURCES, ids=[path.name for path in SOURCES])
def test_odd_values_end_in_words(path):
    """Each value of each file, replaced by texts, numbers, lists and maps."""
    read = 0
    for text in changed(path):
        try:
            found = [files.parse(text, path.name)]
        except errors.SpecError:
            continue
        read += 1
        assert all((status.line == 0) == (path.suffix == ".json") for status in judge.judge(found))
        with contextlib.suppress(errors.SpecError):
            assert adopt.adopt(found).remarks
    assert read > 0
