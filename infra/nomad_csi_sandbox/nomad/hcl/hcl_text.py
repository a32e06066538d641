"""What the characters of an HCL2 template mean: escapes, doubled markers, heredocs. Part of the Nomad emulator."""

import re
import textwrap
from collections.abc import Callable

SIMPLE_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_HEREDOC_MARKER = re.compile(r"\$\$\{|%%\{|\$\{[^}]*\}")


def decode_quoted(text: str) -> str:
    r"""
    Return the value of the literal part of a quoted string: ``decode_quoted(r"\u0024{x}")`` is ``"${x}"``.

    Raises `ValueError` for an escape that HCL2 does not know.
    Source: the HCL native syntax specification, "Template Literals".
    """
    return _ESCAPE.sub(_escape, text)


def decode_doubled(text: str) -> str:
    """Return what a doubled marker stands for: ``$${x}`` is the text ``${x}``, ``%%{ x }`` is ``%{ x }``."""
    return decode_quoted(text[1:])


def decode_heredoc(text: str, *, trim: bool, insert: Callable[[str], str]) -> str:
    """
    Return the value of a heredoc token, markers included in *text*; *trim* for the form ``<<-``.

    Backslashes mean nothing here. *insert* gives the value of each ``${...}`` that it is handed.
    """
    body = "".join(text.rstrip("\n").splitlines(keepends=True)[1:-1])
    return _HEREDOC_MARKER.sub(lambda match: _marker(match[0], insert), textwrap.dedent(body) if trim else body)


def _marker(text: str, insert: Callable[[str], str]) -> str:
    return text[1:] if text in {"$${", "%%{"} else insert(text)


def _escape(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    if code:
        return chr(int(code, 16))
    if match[3] in SIMPLE_ESCAPES:
        return SIMPLE_ESCAPES[match[3]]
    raise ValueError(f"the symbol {match[3]!r} is not a valid escape sequence selector")
