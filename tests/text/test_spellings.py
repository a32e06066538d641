"""A known secret is hidden in each spelling of one table, wherever it stands."""

import re
import time

import pytest

from nomad_csi import errors
from nomad_csi.text import redaction
from tests.text import spelled

LEFT = re.compile(r"""(?:\\*["']|\\+n|%0[Aa]|\b[bu]\b|eDp?|dT[op]|eHl6|Xl6|[=A-Za-z0-9]{0,3}|\s)*""")
"""What may stay of a spelling: its quotes, a line end at the end, digits of base64 that stand for what was around it."""


def left_of(shown, before, behind):
    """Return what *shown* has between *before* and *behind* beside the mark."""
    assert shown.startswith(before)
    assert shown.endswith(behind)
    return shown[len(before) : len(shown) - len(behind)].replace(redaction.HIDDEN, "")


@pytest.mark.parametrize("secret", spelled.SECRETS.values(), ids=spelled.SECRETS)
@pytest.mark.parametrize("spelling", spelled.SPELLINGS.values(), ids=spelled.SPELLINGS)
def test_spelled_secret_is_hidden(secret, spelling):
    """In the middle of a text, at its end, and behind a sign; what is around it stays."""
    places = [("bad: ", ""), ("open ", " no"), ("x=", "; y"), ("", "")]

    shown = [redaction.mask(f"{before}{spelling(secret)}{behind}", [secret]) for before, behind in places]

    assert all(redaction.HIDDEN in text for text in shown)
    assert all(LEFT.fullmatch(left_of(text, *place)) for text, place in zip(shown, places, strict=True))


def test_other_texts_stay():
    """Texts without one of the secrets, in all spellings of another text."""
    given = [secret for name, secret in spelled.SECRETS.items() if name != "word"]
    texts = [spelling("no such volume: data[0]") for spelling in spelled.SPELLINGS.values()]

    assert [redaction.mask(text, given) for text in texts] == texts


def test_errors_hide_the_secrets_of_their_call():
    """In the answer of Nomad and of a plugin."""
    secret = spelled.SECRETS["signs"]
    text = f"driver said {spelled.go_quoted(secret)}"

    shown = [
        str(errors.NomadApiError("PUT", "/v1/x", text, kind="refused", secrets=[secret])),
        str(errors.CsiError("/csi.sock", text, secrets=[secret])),
    ]

    assert shown == ['PUT /v1/x: driver said "[secret]"', '/csi.sock: driver said "[secret]"']


@pytest.mark.parametrize(
    ("text", "given", "shown"),
    [
        ("a my-hunter2-long and hunter2", ["hunter2", "my-hunter2-long"], "a [secret] and [secret]"),
        ("an answer", ["", "an", "n", "sw   "], "an answer"),
        ("hunter2hunter3 abcdefgh", ["hunter2", "hunter3", "abcdef", "efgh"], "[secret][secret] [secret]"),
        ("a [secret] is a secret", ["secret"], "a [secret] is a [secret]"),
        ("key BEGIN x END", ["BEGIN\nx\nEND\n"], "key [secret]"),
    ],
)
def test_mask_is_whole(text, given, shown):
    """The longest one; short ones would tear words apart; the mark is not hidden again."""
    assert redaction.mask(text, given) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("abc", "[secret]"),
        ("vol-abc, abc=1 abcd xabc", "vol-[secret], [secret]=1 abcd xabc"),
        ("a\\nb and a b", "[secret] and [secret]"),
        ("hunter2 abc s", "[secret] [secret] [secret]"),
    ],
)
def test_short_secrets_are_hidden_as_words_where_that_is_wanted(text, shown):
    """What was put in by hand may be short; it is looked for as a whole."""
    given = ["", "abc", "a\nb", "s", "hunter2"]
    assert redaction.mask(text, given, short_words=True) == redaction.redact(text, given, short_words=True) == shown


@pytest.mark.parametrize("part", ["abc def ", "\\", "%41", "hunter2-and-mor", "hunter2-and-more", 'token="', "a://b:"])
def test_time_grows_with_the_length_of_the_text_alone(part):
    """Eight times as much of it takes about eight times as long, and not 64 times."""
    given = [*spelled.SECRETS.values(), "a" * 3_000 + "b"]

    def cpu_s(size):
        text = (part * (size // len(part) + 1))[:size]
        begun = time.thread_time()
        redaction.redact(text, given)
        return time.thread_time() - begun

    least = [min(cpu_s(size) for _ in range(2)) for size in (8_000, 64_000)]

    assert least[1] < 24 * least[0]
