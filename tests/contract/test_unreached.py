"""What the product knows of Nomad is held against a real agent, or stands in `unreached` with a reason."""

import ast
import re
from pathlib import Path

import pytest

from nomad_csi import nomad
from nomad_csi.nomad import classify
from tests.contract import unreached

HERE = Path(__file__).parent
OWN = {"unreached.py", Path(__file__).name}


def _paths(folder):
    """Yield each path that a module of *folder* asks Nomad for; ``:`` stands for what varies."""
    for file in sorted(folder.glob("*.py")):
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "request.path_of":
                parts = [item.value if isinstance(item, ast.Constant) else ":" for item in call.args]
                yield "/v1/" + "/".join("volumes/snapshot" if parts == [":"] else part for part in parts)


SENTENCES = [sentence for sentence, _, _ in classify.SENTENCES]
ROUTES = sorted(set(_paths(Path(nomad.__file__).parent)))


@pytest.fixture(scope="module")
def tests():
    """The text of every file of tests/contract and tests/real, but the two of this list."""
    folders = (HERE, HERE.parent / "real")
    files = [file for folder in folders for file in sorted(folder.rglob("*.py")) if file.name not in OWN]
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_sentence_is_reached_or_has_a_reason(tests, sentence):
    """Either of them, not both."""
    assert (sentence in tests) is (sentence not in unreached.SENTENCES)


@pytest.mark.parametrize("route", ROUTES)
def test_route_is_reached_or_has_a_reason(tests, route):
    """As it is written in a test: what varies may be anything but a slash."""
    if route in unreached.THROUGH:
        assert unreached.THROUGH[route] in tests
        return
    pattern = re.escape(route).replace(":", r"[^/\"\s?]+") + r"(?=[\"\s?])"

    assert bool(re.search(pattern, tests)) is (route not in unreached.ROUTES)


def test_list_names_what_there_is():
    """A sentence or route that was removed is removed there too."""
    assert set(unreached.SENTENCES) <= set(SENTENCES)
    assert set(unreached.ROUTES) <= set(ROUTES)
