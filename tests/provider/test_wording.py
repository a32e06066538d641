"""Operators read clean lines."""

from nomad_csi import errors
from nomad_csi.provider import wire


def test_all_problems_stand_on_one_line():
    """The engine's table shows one line of an error, so all problems are on it."""
    problems = tuple(errors.Problem(path=path, got="x", allowed="y") for path in ("a", "b"))

    assert (
        wire.sentence(errors.SpecError(problems, source="import"))
        == "import: a: expected y, got x; b: expected y, got x"
    )
    assert wire.sentence(errors.RefusedError("no")) == "no"


def test_every_text_of_a_secret_is_found():
    """In objects and lists, to be masked."""
    assert list(wire.texts({"a": ["b", {"c": "d"}], "e": 1, "f": "g"})) == ["b", "d", "g"]
