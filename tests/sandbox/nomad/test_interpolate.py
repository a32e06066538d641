"""What a client fills in, and what it leaves."""

import pytest

from nomad_csi_sandbox.nomad.tasks import interpolate

KNOWN = {"node.unique.name": "one"}


def test_env_keeps_what_is_unknown():
    """An unknown name stays as it is written."""
    assert interpolate.keep_unknown("${node.unique.name} ${X} %{ y }", KNOWN) == "one ${X} %{ y }"


@pytest.mark.parametrize(
    ("text", "value"), [("${node.unique.name}", "one"), ("$${X}", "${X}"), ("%%{ x }", "%{ x }"), ("$ $$ x", "$ $$ x")]
)
def test_option_is_read_as_a_template(text, value):
    """Doubled markers stand for themselves, in lists and maps too."""
    assert interpolate.option({"args": [text, 1]}, KNOWN) == {"args": [value, 1]}


@pytest.mark.parametrize("text", ["${X}", "%{ x }"])
def test_rejects_options_that_name_the_unknown(text):
    """Such a task fails on its client."""
    with pytest.raises(interpolate.UnknownVariableError, match=r"Unknown variable|Invalid template control"):
        interpolate.option([text], KNOWN)
