"""Taking secrets out of a text before anybody reads it."""

import json
import re
from collections.abc import Iterable, Iterator
from urllib import parse

HIDDEN = "[secret]"

SHORTEST_SECRET = 4
"""Characters from which on a secret is looked for in a text; shorter ones are part of ordinary words."""


def without_secrets(text: str, secrets: Iterable[str], *, short_words: bool = False) -> str:
    """
    Return *text* with every one of *secrets* replaced, the longest first, and however it is escaped.

    Those shorter than `SHORTEST_SECRET` are left, or, with *short_words*, replaced where they stand as a word.
    """
    known = tuple(secrets)
    written = {form for secret in known if len(secret) >= SHORTEST_SECRET for form in _forms(secret)}
    for form in sorted(written, key=len, reverse=True):
        text = text.replace(form, HIDDEN)
    short = {form for secret in known if 0 < len(secret) < SHORTEST_SECRET for form in _forms(secret)}
    if short_words and short:
        any_of = "|".join(re.escape(form) for form in sorted(short, key=len, reverse=True) if form)
        text = re.sub(rf"{re.escape(HIDDEN)}|(?<!\w)(?:{any_of})(?!\w)", HIDDEN, text)
    return text


def _forms(secret: str) -> Iterator[str]:
    """
    Yield *secret* as it may stand in a reply: as it is, on one line, in JSON, quoted by Go, in a URL.

    Source: Go, ``encoding/json`` (escapes ``<``, ``>`` and ``&``) and ``strconv.Quote``, 1.25.
    """
    yield secret
    yield " ".join(secret.split())
    for as_ascii in (True, False):
        quoted = json.dumps(secret, ensure_ascii=as_ascii)[1:-1]
        yield quoted
        yield quoted.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")
    yield parse.quote(secret, safe="")
    yield parse.quote_plus(secret)
