"""Taking secrets out of a text before anybody reads it."""

import json
from collections.abc import Iterable, Iterator
from urllib import parse

HIDDEN = "[secret]"

SHORTEST_SECRET = 4
"""Characters from which on a secret is looked for in a text; shorter ones are part of ordinary words."""


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """Return *text* with every one of *secrets* replaced, the longest first, and however it is escaped."""
    written = {form for secret in secrets if len(secret) >= SHORTEST_SECRET for form in _forms(secret)}
    for form in sorted(written, key=len, reverse=True):
        text = text.replace(form, HIDDEN)
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
