"""A known secret is hidden however it is spelled, wherever it stands, in time that grows with the text alone."""

import itertools
import re
import time

import pytest

from nomad_csi import errors
from nomad_csi.text import redaction, spellings
from tests.text import spelled

LEFT = re.compile(
    r"""(?:\\*["']|\\+n|%(?:25)?0[Aa]|&#(?:10|xA);|\\012|\b[bu]\b|eDp?|dT[op]|eHl6|Xl6|[=A-Za-z0-9]{0,3}|\s)*"""
)
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
    if spelling is spelled.SPELLINGS["cut"]:
        places = [("bad: ", ""), ("open ", "... no")]
    else:
        places = [("bad: ", ""), ("open ", " no"), ("x=", "; y"), ("", "")]

    shown = [redaction.mask(f"{before}{spelling(secret)}{behind}", [secret]) for before, behind in places]

    assert all(redaction.HIDDEN in text for text in shown)
    assert all(LEFT.fullmatch(left_of(text, *place)) for text, place in zip(shown, places, strict=True))


@pytest.mark.parametrize("spelling", spelled.SPELLINGS.values(), ids=spelled.SPELLINGS)
def test_spelled_secrets_are_in_no_error(spelling):
    """All of them in one answer of Nomad and of a plugin."""
    given = tuple(spelled.SECRETS.values())
    for secret in given:
        text = f"driver said {spelling(secret)}"
        nomad = errors.NomadApiError("PUT", "/v1/x", text, kind="refused", secrets=given)
        csi = errors.CsiError("/csi.sock", text, secrets=given)

        assert (redaction.HIDDEN in str(nomad), redaction.HIDDEN in str(csi)) == (True, True)
        assert secret not in str(nomad) + str(csi)


def test_other_texts_stay():
    """Texts without one of the secrets, in all spellings of another text."""
    given = [secret for name, secret in spelled.SECRETS.items() if name != "word"]
    texts = [spelling("no such volume: data[0]") for spelling in spelled.SPELLINGS.values()]

    assert [redaction.mask(text, given) for text in texts] == texts


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ends with hunter2-a", "ends with [secret]"),
        ("ends with hunter2", "ends with hunter2"),
        ("a line ends with hunter2-a\n  and goes on", "a line ends with [secret]\n  and goes on"),
        ("ends with hunter2-a...", "ends with [secret]..."),
        ("ends with hunter2-a\u2026 and so on", "ends with [secret]\u2026 and so on"),
        ('{"text": "hunter2-a", "next": 1}', '{"text": "[secret]", "next": 1}'),
        (r"""{\"text\": \"hunter2-a\"}""", r"""{\"text\": \"[secret]\"}"""),
        ("<p>hunter2-a</p>", "<p>[secret]</p>"),
        ('<p title="hunter2-a">hunter2-a <b>', '<p title="[secret]">[secret] <b>'),
        ("hunter2-a < b", "hunter2-a < b"),
        ("hunter2-a is a user", "hunter2-a is a user"),
        ("'hunter2-a' is a user", "'[secret]' is a user"),
        ("hunter2-and-mo is most of it", "[secret] is most of it"),
        ("2-and-more was its end", "[secret] was its end"),
        ("hunter2\\u002d\\u0061nd\\u00", "[secret]\\u00"),
        ("[secret] hunter2-and-more", "[secret] [secret]"),
    ],
)
def test_part_of_a_secret_is_hidden_where_a_text_was_cut(text, shown):
    """Eight characters at a cut, and three quarters of it anywhere."""
    assert redaction.mask(text, ["hunter2-and-more"]) == shown


def test_mark_is_not_hidden_again():
    """Though a secret is a word of it."""
    assert redaction.mask("a [secret] is a secret", ["secret"]) == "a [secret] is a [secret]"


def test_text_is_unescaped_as_often_as_it_was_escaped():
    """A quote that was quoted `LEVELS` times is found, and no text is unescaped without an end."""
    text = 'a"secret"'
    for _ in range(spellings.LEVELS):
        text = text.replace("\\", "\\\\").replace('"', '\\"')

    assert redaction.mask(f"x {text} y", ['a"secret"']) == "x [secret] y"


PARTS = [
    *(
        "abc def ",
        "%41",
        "%25",
        "\\",
        "\\x41",
        "\\u0041",
        "\\ud83d",
        "&amp;",
        "&#65;",
        "\n",
        "...a",
        "'",
        "\\'",
        "[secret]",
    ),
    *("hunter2-and-mor", "hunter2-and-more", "a", "aHVudGVyMi1hbmQtbW9yZQ", 'token="', "token={", "token=[", "token="),
    *(
        'credentials="/',
        "credentials={/",
        "<token>",
        "<token ",
        "-----END PRIVATE KEY-----",
        "bearer ",
        "a://b:",
        "eyJa.",
    ),
]


@pytest.mark.parametrize("part", PARTS)
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


def test_a_megabyte_takes_as_long_as_its_parts():
    """Of all hostile parts in turn: at most three times as long as in 64 pieces."""
    given = [spelled.SECRETS["signs"]]
    whole = "".join(itertools.islice(itertools.cycle(part * 50 for part in PARTS), 2_000))[: 2**20].ljust(2**20, "x")
    size = len(whole) // 64
    pieces = [whole[start : start + size] for start in range(0, len(whole), size)]

    begun = time.thread_time()
    for piece in pieces:
        redaction.redact(piece, given)
    between = time.thread_time()
    redaction.redact(whole, given)

    assert time.thread_time() - between < 3 * (between - begun)
