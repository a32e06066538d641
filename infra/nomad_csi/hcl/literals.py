"""
Decode quoted strings and heredocs like Nomad, for both dialects.

Source: hashicorp/hcl ``hcl/strconv/quote.go`` and ``hcl/token/token.go`` (version 1, tag v1.0.1-nomad-1);
``hclsyntax/parser.go`` and ``parser_template.go`` (v2.20.2-nomad-1); compared with both on random literals, 2026-08.
"""

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from nomad_csi.hcl import tokens

_ESCAPES = {'\\"': '"', "\\\\": "\\", "\\n": "\n", "\\r": "\r", "\\t": "\t"}
_ESCAPE = re.compile(r"""\\(?:["\\nrt]|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})?""")
"""An escape; the backslash alone is one that Nomad refuses."""

_PART = re.compile(
    rf"""
      (?P<doubled>   \$\$\{{ | %%\{{ )
    | \$\{{ \ *(?P<own> (?:var|local)\.[A-Za-z_][\w\-]* )\ * \}}
    | (?P<variable>  \$\{{ (?!(?:var|local)\.) [A-Za-z_][\w.\-]* (?:\["[^"\\\n$%]*"\])? \}} )
    | (?P<evaluated> [$%]\{{ )
    | (?P<escape>    {_ESCAPE.pattern} )
    """,
    re.VERBOSE,
)
"""What is more than its characters in a text of a job file."""

WHOLE_VARIABLE = re.compile(r'"\$\{ *((?:var|local)\.[A-Za-z_][\w-]*) *\}"')
"""A quoted string of exactly one variable: it keeps the type of the variable."""

NOTHING: Mapping[str, Any] = {}


class LiteralError(ValueError):
    """A literal that Nomad refuses; the message names what is allowed."""


class NotEvaluatedError(Exception):
    """A literal with a part that Nomad evaluates when it reads the job, and whose value is not known here."""


def hcl1(literal: str) -> str:
    """Return the value of *literal*, a string or a heredoc of a volume file; ``${...}`` is copied unchanged."""
    if literal.startswith("<<"):
        if literal.startswith("<<-") or literal.rpartition("\n")[2].startswith((" ", "\t")):
            raise LiteralError(
                "<< and its end mark at the start of a line: any other indentation becomes part of the value"
            )
        return _lines(literal)
    parts, text, position = [], literal[1:-1], 0
    while (start := text.find("${", position)) >= 0:
        end = tokens.end_of_template(text, start, "volume", "")
        parts += [_ESCAPE.sub(_unescape, text[position:start]), text[start:end]]
        position = end
    return "".join([*parts, _ESCAPE.sub(_unescape, text[position:])])


def hcl2(literal: str, scope: Mapping[str, Any] = NOTHING) -> str:
    """
    Return the value of *literal*, a string or a heredoc of a job file, before the client evaluates ``${node...}``.

    *scope* has the values of ``var.name`` and ``local.name``. Other expressions that Nomad evaluates when it parses the
    job (functions, ``%{ if }``) raise `NotEvaluatedError`.
    """
    is_heredoc = literal.startswith("<<")

    def value(match: re.Match[str]) -> str:
        if match["own"]:
            return _own(match["own"], scope)
        if match["evaluated"]:
            raise NotEvaluatedError
        if match["escape"] and not is_heredoc:
            return _unescape(match)
        return match[0][1:] if match["doubled"] else match[0]

    text = _lines(literal) if is_heredoc else literal[1:-1]
    if literal.startswith("<<-"):
        lines = text.split("\n")
        width = min((len(line) - len(line.lstrip(" \t")) for line in lines if line.strip()), default=0)
        text = "\n".join(line[width:] if line.strip() else line for line in lines)
    return unicodedata.normalize("NFC", _PART.sub(value, text))


def _lines(heredoc: str) -> str:
    _, _, lines = heredoc.partition("\n")
    return lines[: lines.rfind("\n") + 1]


def _own(name: str, scope: Mapping[str, Any]) -> str:
    """Return the text of a variable of the file: ``true``, ``3000``, ``2.5``."""
    value = scope.get(name)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    raise NotEvaluatedError


def _unescape(match: re.Match[str]) -> str:
    escape = match[0]
    if escape in _ESCAPES:
        return _ESCAPES[escape]
    if escape == "\\":
        raise LiteralError(r"the escapes \n \r \t \" \\ \u0000 \U00000000 only")
    try:
        return chr(int(escape.lstrip("\\uU"), base=16)).encode().decode()
    except (OverflowError, ValueError):
        raise LiteralError(r"the \u or \U escape of a Unicode character, not half a surrogate pair") from None
