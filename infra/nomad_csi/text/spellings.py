r"""
Find known secrets in a text, as the programs around Nomad write them: one table of spellings.

A secret that was cut, or is written in another way, is not found. Sources: Go 1.25 ``strconv.Quote``, ``encoding/json``
and ``net/url``; RFC 8259 (JSON); RFC 3986 (percent); POSIX shell quoting; 2026-11.
"""

import base64
import functools
import html
import json
import re
from collections.abc import Callable, Iterable, Iterator
from urllib import parse

SHORTEST_SECRET = 4
"""Minimum length of a secret that is searched in a text; shorter ones are part of ordinary words."""

QUOTED = 3
"""Most often that a text is quoted: errors of Nomad are quoted three times at the most (2.0.6, 2026-11)."""

Span = tuple[int, int]
"""Start and end of a part of the text."""


def _json(text: str) -> str:
    return json.dumps(text)[1:-1]


def _go_quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _go_json(text: str) -> str:
    """Return *text* as Go's ``encoding/json`` writes it by default, which is safe in HTML."""
    return re.sub("[<>&]", lambda sign: f"\\u{ord(sign[0]):04x}", _go_quoted(text))


def _percent(text: str) -> str:
    return parse.quote(text, safe="")


def _path_segment(text: str) -> str:
    """Return *text* as Go's ``url.PathEscape`` writes it."""
    return parse.quote(text, safe="$&+=:@")


def _page(text: str) -> str:
    """Return *text* as the HTML page of a report has it."""
    escaped = html.escape(text).replace("&quot;", "&#34;").replace("&#x27;", "&#39;")
    return re.sub("`([^`]*)`", r"<code>\1</code>", escaped)


_QUOTES: tuple[Callable[[str], str], ...] = (_json, _go_quoted, _go_json)
"""What may be applied again to a text that was quoted."""

_SPELLINGS: tuple[Callable[[str], str], ...] = (
    *_QUOTES,
    _percent,
    lambda text: re.sub("%..", lambda escape: escape[0].lower(), _percent(text)),
    _path_segment,
    parse.quote,
    parse.quote_plus,
    lambda text: text.replace("'", "'\\''"),  # a shell
    lambda text: text.replace("'", "'\"'\"'"),  # Python's shlex
    lambda text: text.replace("'", "''"),  # YAML
    lambda text: repr(text)[1:-1],
)


def find(text: str, secrets: Iterable[str], *, short_words: bool = False) -> list[Span]:
    """
    Return where *text* has one of *secrets*: spans that do not overlap, in their order.

    Secrets shorter than `SHORTEST_SECRET` are not searched, or, with *short_words*, as whole words.
    """
    given = frozenset(secret for secret in secrets if secret.strip())
    spans = [span for spelling in _spelled(given) for span in _occurrences(text, spelling)]
    short = [secret for secret in given if short_words and len(secret) < SHORTEST_SECRET]
    for spelling in {write(secret) for secret in short for write in (str, _json, lambda text: " ".join(text.split()))}:
        spans += [match.span() for match in re.finditer(rf"(?<!\w){re.escape(spelling)}(?!\w)", text)]
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _occurrences(text: str, spelling: str) -> Iterator[Span]:
    start = text.find(spelling)
    while start >= 0:
        yield start, start + len(spelling)
        start = text.find(spelling, start + len(spelling))


@functools.lru_cache(maxsize=16)
def _spelled(secrets: frozenset[str]) -> tuple[str, ...]:
    """Return what is searched for *secrets*: computed once for the many texts of a command."""
    long = [secret for secret in secrets if len(secret.strip()) >= SHORTEST_SECRET]
    return tuple(sorted({spelling for secret in long for spelling in _spellings(secret)}))


def _spellings(secret: str) -> set[str]:
    spelled = {secret, secret.strip(), " ".join(secret.split())}
    spelled |= {write(text) for text in spelled for write in _SPELLINGS}
    for _ in range(QUOTED - 1):
        spelled |= {quote(text) for text in spelled for quote in _QUOTES}
    spelled |= {html.escape(text) for text in spelled} | {_page(text) for text in spelled}
    return spelled | set(_base64(secret.encode("utf-8", "surrogatepass")))


def _base64(plain: bytes) -> Iterator[str]:
    """Yield the digits that stand for *plain* alone within a longer text in base64: one of three, by its position."""
    for before in range(3):
        digits = base64.b64encode(bytes(before) + plain)
        whole = digits[(8 * before + 5) // 6 : 8 * (before + len(plain)) // 6].decode()
        if len(whole) >= SHORTEST_SECRET:
            yield whole
            yield whole.replace("+", "-").replace("/", "_")
