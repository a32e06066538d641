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
