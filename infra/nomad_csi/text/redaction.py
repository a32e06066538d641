r"""
Hide secrets in the texts of other programs: the one function that every text of Nomad, a plugin, AWS or a job passes.

`redact` hides values that are known, however they are spelled (`spellings`); values with the name of a secret, in the
forms in which programs write names and values; and values with the form of a secret (`secrets`). A word of prose after
such a name may be hidden too; a secret that is not known and has neither such a name nor such a form stays. The time
is linear in the length of the text: what was hidden or passed over is not read again.

Sources: RFC 7468 (private keys); Go 1.25 ``fmt`` (``map[name:value]``); protobuf's text format (``name:<...>``);
2026-11.
"""

import re
from collections.abc import Iterable, Iterator

from nomad_csi.text import secrets, spellings

HIDDEN = "[secret]"


def redact(text: str, known: Iterable[str] = (), *, short_words: bool = False) -> str:
    """
    Return *text* without the *known* secrets and without likely ones: ``redact("token=a")`` is ``"token=[secret]"``.

    With *short_words*, known secrets of fewer than `spellings.SHORTEST_SECRET` characters are hidden as whole words.
    """
    text = secrets.PRIVATE_KEY.sub(HIDDEN, mask(text, known, short_words=short_words))
    text = "".join(_without_named(_without_form(text, secrets.ADDRESS)))
    for form in secrets.FORMS:
        text = _without_form(text, form)
    return text


def mask(text: str, known: Iterable[str], *, short_words: bool = False) -> str:
    """Return *text* without the *known* secrets: for our own messages, in which names of secrets are no values."""
    spans = spellings.find(text, known, short_words=short_words)
    return _hide(text, (span for span in spans if not _is_hidden(text, *span)))


def _is_hidden(text: str, start: int, end: int) -> bool:
    """Return whether a part of *text* is one of `HIDDEN`, as where a secret is the word "secret"."""
    return text.find(HIDDEN, max(end - len(HIDDEN), 0), start + len(HIDDEN)) >= 0


def _hide(text: str, spans: Iterable[tuple[int, int]]) -> str:
    parts: list[str] = []
    position = 0
    for start, end in spans:
        parts += text[position:start], HIDDEN
        position = end
    return "".join([*parts, text[position:]])


def _without_form(text: str, form: secrets.Form) -> str:
    return _hide(text, (match.span("secret") for match in form.pattern.finditer(text)))


# Values with the name of a secret.


_NAME = re.compile(r"[\w.-]+")
_SIGN = re.compile(r"""(?:\\*["'])?\s*(?P<sign>:=|=>|==|[:=]|%3[AaDd])\s*""")
_TAG = re.compile(r"(?:\s[^<>]{0,200})?>")
_SPACE = re.compile(r"\s+")
_HEADER = re.compile(r"X-[\w-]*Token", re.IGNORECASE)
_PASSWORD = re.compile(r"(?:^|[^a-z0-9])(?:password|passwd|passphrase)$", re.IGNORECASE)

_SCHEME = re.compile(r"(?:bearer|basic|token|negotiate|digest)\s+", re.IGNORECASE)
_QUOTE = re.compile(r"""[BbFfRrUu$@]{0,2}(?P<mark>\\*["'])""")
_BRACKET = re.compile(r"(?:map)?(?P<bracket>[\[{<])")
_PLAIN = re.compile(r"""[^\s,;&"']+""")
_REST = re.compile(r"""[^\s,;&"'\\\]})<>]+""")
_QUOTED = r'"(?:\\.|[^"\\])*(?:"|\Z)'
_IN_BRACKETS = {
    "[": re.compile(r"[\[\]]"),
    "{": re.compile(rf"[{{}}]|{_QUOTED}"),
    "<": re.compile(rf"[<>]|{_QUOTED}"),
}
"""What is read behind an opening bracket; Go's ``map[...]`` does not quote."""

_LONGEST_PATH = 4_096
"""Longest value that may be the path of a file with a secret; Linux's longest path."""

_NO_VALUE = frozenset({"", "<nil>", "nil", "null", "none", "<none>", "<unset>", "***stripped***", HIDDEN})

_PROSE = """
a access an and any are as at bad be but by can cannot connection context could couldn credential
credentials decode denied dial does doesn empty eof error errors exec expected expired fail failed failure for
forbidden from get has have http if in incorrect invalid is it key lookup malformed mismatch missing must need needs
no not of on open operation or parse password permission post put read refused rejected request required revoked rpc
secret secrets should signature stat status that the this timeout token too unable unauthenticated unauthorized
unexpected unknown unset unsupported user was were while will with without write wrong yes you
""".split()  # noqa: SIM905  # a list of strings would have a line for each
"""Words that say what is wrong with a secret, as in "token: expired", and are none."""


def _without_named(text: str) -> Iterator[str]:
    """Yield the parts of *text*, with `HIDDEN` instead of each value that has the name of a secret."""
    start = 0
    match = _NAME.search(text)
    while match:
        span = _value(text, match) if secrets.names_secret(match[0]) else None
        if span:
            yield text[start : span[0]]
            yield HIDDEN
            start = span[1]
        match = _NAME.search(text, span[1] if span else match.end())
    yield text[start:]


def _value(text: str, name: re.Match[str]) -> tuple[int, int] | None:
    """Return where the value is that follows *name* in *text*, if it is a secret."""
    end = name.end()
    if sign := _SIGN.match(text, end):
        span = sign.end(), _end(text, sign.end())
        is_prose = sign["sign"] == ":" and _is_prose(text[slice(*span)])
        return None if is_prose else _if_secret(text, name[0], span)
    if text.startswith("<", name.start() - 1) and (tag := _TAG.match(text, end)):
        close = text.find("<", tag.end())
        return _if_secret(text, name[0], (tag.end(), close if close >= 0 else len(text)))
    space = _SPACE.match(text, end)
    if space and _takes_next_word(text, name[0], space.end()):
        return _if_secret(text, name[0], (space.end(), _end(text, space.end())))
    return None


def _is_prose(value: str) -> bool:
    """Return whether *value* is a word of an error: "denied.", or names the part of a program, as "rpc:"."""
    word = value.rstrip(".:)").lower()
    return word in _PROSE or (word.isalpha() and value.endswith(":"))


def _takes_next_word(text: str, name: str, start: int) -> bool:
    """Return whether the word at *start* is the value of *name*: of an option, of a header, or a quoted password."""
    if name.startswith("-"):
        return not text.startswith("-", start)
    return _HEADER.fullmatch(name) is not None or (
        _PASSWORD.search(name) is not None and _QUOTE.match(text, start) is not None
    )


def _if_secret(text: str, name: str, span: tuple[int, int]) -> tuple[int, int] | None:
    if span[1] - span[0] > _LONGEST_PATH:
        return span
    value = text[slice(*span)].strip("\\\"'")
    is_empty = value.lower() in _NO_VALUE or span[0] >= span[1]
    return None if is_empty or not secrets.is_secret(name, value) else span


def _end(text: str, start: int) -> int:
    """Return where the value ends that begins at *start*: a quoted text, a group in brackets, or a word."""
    if scheme := _SCHEME.match(text, start):
        start = scheme.end()
    if quote := _QUOTE.match(text, start):
        # In text that was quoted several times, the quote that ends has as many backslashes as the one that begins.
        close = re.compile(rf"(?<!\\){re.escape(quote['mark'])}").search(text, quote.end())
        end = close.end() if close else len(text)
    elif bracket := _BRACKET.match(text, start):
        end = _end_of_brackets(text, bracket)
    else:
        word = _PLAIN.match(text, start)
        return word.end() if word else start
    rest = _REST.match(text, end)
    return rest.end() if rest else end


def _end_of_brackets(text: str, bracket: re.Match[str]) -> int:
    """Return where the brackets close that *bracket* opens, quoted ones aside; the end of *text* if it was cut."""
    depth = 1
    for part in _IN_BRACKETS[bracket["bracket"]].finditer(text, bracket.end()):
        if part[0] in "[{<":
            depth += 1
        elif part[0] in "]}>":
            depth -= 1
        if not depth:
            return part.end()
    return len(text)
