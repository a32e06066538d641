r"""
Redact secrets in texts of other programs, such as a plugin's log or error, in time linear in their length.

`mask` replaces known values. `redact` replaces values with the name of a secret, in the forms in which programs write
names and values, and values with the form of a secret: a word of prose after such a name may be replaced too; a secret
that has neither such a name nor a known form stays. Sources: Ceph's keyring files (``key = ...``), RFC 3986
(``user:password@``), RFC 7468 (PEM), RFC 7519 (tokens that begin with ``eyJ``), the AWS documentation of access keys;
Go, ``encoding/json`` and ``strconv.Quote``, 1.25; 2026-11.
"""

import json
import re
from collections.abc import Iterable, Iterator
from urllib import parse

from nomad_csi.text import secrets

HIDDEN = "[secret]"

SHORTEST_SECRET = 4
"""Minimum length of a known secret that is searched in a text; shorter ones are part of ordinary words."""

_TOKEN = re.compile(r"[\w.-]++")
_QUOTED = r"""(?:\\"(?:(?!\\").)*+(?:\\"|\Z) | "(?:[^"\\]++|\\.)*+(?:"|\\?\Z) | '(?:[^'\\]++|\\.)*+(?:'|\\?\Z))"""
_NESTED = r"(?:(?:map)?\[[^\]]*+(?:\]|\Z) | \{[^}]*+(?:\}|\Z) | <[^>]*+(?:>|\Z))"
_SCHEME = r"(?:(?:bearer|basic|token|negotiate|digest)\s++)?"
_VALUE = rf"""(?:{_NESTED}|{_SCHEME}(?:{_QUOTED}|[^\s,;&"']++))"""
_FLAGS = re.VERBOSE | re.IGNORECASE | re.DOTALL

_ASSIGNED = re.compile(rf"""(?P<before>(?:\\?["'])?\s*+[:=]\s*+){_VALUE}""", _FLAGS)
_BEHIND_OPTION = re.compile(rf"(?P<before>\s++)(?!-){_VALUE}", _FLAGS)
_BEHIND_HEADER = re.compile(r"""(?P<before>\s++)[^\s,;&"']++""")
_HEADER = re.compile(r"X-[\w-]*Token", re.IGNORECASE)

_PRIVATE_KEY = re.compile(r"-----BEGIN ([A-Z0-9 ]*+)(?<=PRIVATE KEY)-----.*?(?:-----END \1-----|\Z)", re.DOTALL)
_KEY_END = re.compile(r"-----END [A-Z0-9 ]*+(?<=PRIVATE KEY)-----")
_KEY_LINES_BACKWARD = re.compile(r"(?:\s*+[\w+/=]{1,15}+(?=\s))?+(?:\s*+[\w+/=]{16,}+){1,200}+")

_FORMS = (
    (re.compile(r"""(\b[a-z][a-z0-9+.-]{0,30}://[^\s/:@"']*+:)[^\s/"']+(?=@)""", re.IGNORECASE), rf"\1{HIDDEN}"),
    (
        re.compile(r"""(?<![\w.-])(key["']?\s*+[:=]\s*+["']?)(?:[\w+/]{16,}+={0,2}|[\w+/]++={1,2})(?![\w+/=:.-])"""),
        rf"\1{HIDDEN}",
    ),
    (
        re.compile(
            r"(?<![\w+/=])(?=[a-z0-9+/]{0,39}[A-Z])(?=[A-Za-z+/]{0,39}\d)(?=[A-Z0-9+/]{0,39}[a-z])[A-Za-z0-9+/]{40}(?![\w+/=])"
        ),
        HIDDEN,
    ),
    (re.compile(r"(?<![\w+/=])(?:IQoJb3JpZ2lu|F[wQ]oGZXIvYXdz)[\w+/=%-]++"), HIDDEN),
    (re.compile(r"(?<![\w-])eyJ[\w-]++\.[\w-]++\.[\w-]*+"), HIDDEN),
)
"""Passwords in addresses; Ceph's ``key``; AWS's secret access keys and session tokens; tokens in JSON."""


def redact(text: str) -> str:
    """Return *text* with likely secrets replaced: ``redact("token=a")`` is ``"token=[secret]"``."""
    text = _drop_key_ends(_PRIVATE_KEY.sub(HIDDEN, text))
    pattern, shown = _FORMS[0]
    text = "".join(_named(pattern.sub(shown, text)))
    for pattern, shown in _FORMS[1:]:
        text = pattern.sub(shown, text)
    return text


def _drop_key_ends(text: str) -> str:
    """Return *text* without the lines of private keys whose first line was cut off."""
    kept, start = [], 0
    for end in _KEY_END.finditer(text):
        before = text[start : end.start()]
        lines = _KEY_LINES_BACKWARD.match(before[::-1])
        kept += [before[: len(before) - lines.end()], HIDDEN] if lines else [before, end[0]]
        start = end.end()
    return "".join([*kept, text[start:]])


def _named(text: str) -> Iterator[str]:
    """Yield the parts of *text*, with `HIDDEN` in place of each value that has the name of a secret."""
    start = 0
    found = _TOKEN.search(text)
    while found:
        value = _value(text, found)
        if value:
            yield text[start : value.end("before")]
            yield HIDDEN
            start = value.end()
        found = _TOKEN.search(text, value.end() if value else found.end())
    yield text[start:]


def _value(text: str, name: re.Match[str]) -> re.Match[str] | None:
    """Return the value that follows *name* in *text*, if it is a secret."""
    if not secrets.has_secret_word(name[0]):
        return None
    if assigned := _ASSIGNED.match(text, name.end()):
        return assigned
    if name[0].startswith("-"):
        return _BEHIND_OPTION.match(text, name.end())
    return _BEHIND_HEADER.match(text, name.end()) if _HEADER.fullmatch(name[0]) else None


def mask(text: str, known: Iterable[str], *, short_words: bool = False) -> str:
    """
    Return *text* with every one of the *known* secrets replaced, the longest first, and however it is escaped.

    Secrets shorter than `SHORTEST_SECRET` are kept, or, with *short_words*, replaced where they are a whole word.
    """
    given = tuple(known)
    written = {form for secret in given if len(secret) >= SHORTEST_SECRET for form in _written(secret)}
    for form in sorted(written, key=len, reverse=True):
        text = text.replace(form, HIDDEN)
    short = {form for secret in given if 0 < len(secret) < SHORTEST_SECRET for form in _written(secret)}
    if short_words and short:
        any_of = "|".join(re.escape(form) for form in sorted(short, key=len, reverse=True) if form)
        text = re.sub(rf"{re.escape(HIDDEN)}|(?<!\w)(?:{any_of})(?!\w)", HIDDEN, text)
    return text


def _written(secret: str) -> Iterator[str]:
    """Yield the forms of *secret* in a response: as it is, on one line, in JSON, quoted by Go, in a URL."""
    yield secret
    yield " ".join(secret.split())
    for as_ascii in (True, False):
        quoted = json.dumps(secret, ensure_ascii=as_ascii)[1:-1]
        yield quoted
        yield quoted.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")
    yield parse.quote(secret, safe="")
    yield parse.quote_plus(secret)
