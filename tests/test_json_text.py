"""JSON of others is decoded within limits."""

import pytest

from nomad_csi import json_text


def test_usual_json_is_decoded():
    """With pairs of surrogates, and lists in lists up to the limit."""
    deep = "[" * json_text.MAX_DEPTH + "]" * json_text.MAX_DEPTH

    assert json_text.decode('{"a": [1, null, "\\ud83c\\udf89"]}') == {"a": [1, None, "🎉"]}
    assert json_text.decode(deep)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "NaN",
        "[Infinity]",
        '"\\ud800"',
        '{"\\udc80": 1}',
        '"\\ud83c\\ud83c"',
        "[" * 200_000,
        "[" * 101 + "]" * 101,
        '{"a":' * 150 + "1" + "}" * 150,
        "1" * 5000,
        "\ufeff{}",
    ],
)
def test_what_is_no_json_is_a_value_error(text):
    """One error, whatever is wrong."""
    with pytest.raises(ValueError):  # noqa: PT011  # whose words are json's own
        json_text.decode(text)
