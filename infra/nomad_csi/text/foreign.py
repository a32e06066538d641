"""Texts of Nomad, AWS and plugins, made safe to show."""

import re
import unicodedata

from nomad_csi.text import redaction

# Escaping of characters that control a terminal or the display order of other characters.
#
# Otherwise a plugin's or a server's response could move the cursor, retitle the window, or hide preceding text. Source:
# ECMA-48 (C0 and C1 control functions); Unicode Standard Annex 9 (directional formatting characters), 16.0.


RED, GREEN, YELLOW, RESET = (f"\x1b[{number}m" for number in (31, 32, 33, 0))
"""The colours of our own tables."""

_CONTROL = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
_CONTROL_OR_COLOUR = rf"(\x1b\[(?:0|3[123])m)|{_CONTROL}"


def visible(text: str, *, keep_colours: bool = False) -> str:
    r"""
    Return *text* with its control characters as JSON writes them: ``visible("\x1b[2J")`` is ``"\\u001b[2J"``.

    Line feeds and tabs stay, and the colours of our tables with *keep_colours*. JSON text stays the same document.
    """
    pattern = _CONTROL_OR_COLOUR if keep_colours else _CONTROL
    return re.sub(pattern, _spelled_out, text)


def _spelled_out(match: re.Match[str]) -> str:
    return match[0] if len(match[0]) > 1 else f"\\u{ord(match[0]):04x}"


_UNSEEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})


def is_unseen(character: str) -> bool:
    """Return whether *character* is invisible: control, format, private, line separator, or not assigned."""
    return unicodedata.category(character) in _UNSEEN


def cut(text: str, limit: int) -> str:
    """Return at most *limit* characters of *text*: whole words only, because part of a word may be half a secret."""
    if len(text) <= limit:
        return text
    end = limit
    while end and not text[end].isspace():
        end -= 1
    return text[:end].rstrip()


# Texts of other programs.


LIMIT = 600
"""Characters kept: enough for AWS's ``AccessDenied`` with user, action and resource."""

WINDOW = 8_192
"""Characters at each end in which secrets are searched."""

_GAP = " ... "


def clean(text: str) -> str:
    """
    Return a foreign *text* as one line, without control characters and secrets, cut.

    ``clean("token=abc  rest")`` is ``"token=[secret] rest"``.
    """
    line = " ".join(redaction.redact(_window(text)).split())
    return shortened("".join(character for character in line if character.isprintable()), LIMIT)


def _window(text: str) -> str:
    """Return start and end of a *text* that is far too long, cut between words; less than that is shown."""
    if len(text) <= 2 * WINDOW:
        return text
    end = text[-WINDOW:]
    return f"{cut(text, WINDOW)} {end.partition(' ')[2] or end}"


def shortened(text: str, limit: int) -> str:
    """Return *text* in at most *limit* characters. The middle is cut: a chain of errors ends with the cause."""
    if len(text) <= limit:
        return text
    head = limit // 3
    tail = limit - head - len(_GAP)
    return f"{text[:head].rstrip()}{_GAP}{text[-tail:].lstrip()}"
