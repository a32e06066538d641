r"""
Whether a regular expression of Go finds something in a text, as Nomad's ``regexp`` operator asks. Pure.

RE2 judges it: Go's package has its syntax, and linear time. Source: golang/go, ``src/regexp/syntax/doc.go``; 200,000
random expressions were answered by Go 1.26 and google-re2 1.1.20251105 alike, but for `_UNLIKE_GO` (2026-11-22).
"""

import functools
import re

import re2

_UNLIKE_GO = re.compile(r"\\C|\{(\d+,)?\d{9}")
"""RE2 reads ``\\C`` as a byte, and a count of more than eight digits as text; Go refuses both."""

_OPTIONS = re2.Options()
_OPTIONS.log_errors = False
_OPTIONS.max_mem = 64 << 20
"""Bytes; RE2's own 8 MiB are too few for some of what Go takes."""


def finds(expression: str, text: str) -> bool | None:
    """Return whether Go finds *expression* in *text*; ``None``: Nomad refuses it, or it cannot be evaluated here."""
    try:
        return _compiled(expression).search(text) is not None
    except (re2.error, UnicodeEncodeError):
        return None


@functools.lru_cache
def _compiled(expression: str) -> "re2._Regexp":
    if _UNLIKE_GO.search(expression):
        raise re2.error(expression)
    return re2.compile(expression, _OPTIONS)
