"""
Decode quoted literals and heredocs like Nomad, for both dialects.

Source: hashicorp/hcl ``hcl/strconv/quote.go`` and ``hcl/token/token.go`` (version 1, tag v1.0.1-nomad-1);
``hclsyntax/parser.go`` and ``parser_template.go`` (v2.20.2-nomad-1); compared with both on random literals, 2026-08.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

_ESCAPES = {'\\"': '"', "\\\\": "\\", "\\n": "\n", "\\r": "\r", "\\t": "\t"}
_ESCAPE = r"""\\(?: ["\\nrt] | u[0-9a-fA-F]{4} | U[0-9a-fA-F]{8} )"""
_HCL1_PART = re.compile(rf'(?P<escape>{_ESCAPE}) | (?P<template>\$\{{) | (?P<plain>[^"\\\n])', re.VERBOSE)
_HCL2_PART = re.compile(
    rf"""
      (?P<escape>   {_ESCAPE} )
    | (?P<doubled>  \$\$\{{ | %%\{{ )
    | \$\{{ \ *(?P<own> (?:var|local)\.[A-Za-z_][\w\-]* )\ * \}}
    | (?P<variable> \$\{{ (?!(?:var|local)\.) [A-Za-z_][\w.\-]* (?:\["[^"\\\n$%]*"\])? \}} )
    | (?P<plain>    [^"\\\n$%] | [$%](?!\{{) )
    """,
    re.VERBOSE,
)
_HEREDOC_PART = re.compile(
    r"""
      (?P<doubled>   \$\$\{ | %%\{ )
    | \$\{ \ *(?P<own> (?:var|local)\.[A-Za-z_][\w\-]* )\ * \}
    | (?P<evaluated> \$\{(?![A-Za-z_][\w.\-]*\}) | \$\{(?=(?:var|local)\.) | %\{ )
    | [^$%]+ | .
    """,
    re.DOTALL | re.VERBOSE,
)
WHOLE_VARIABLE = re.compile(r'"\$\{ *((?:var|local)\.[A-Za-z_][\w-]*) *\}"')
"""A quoted string of exactly one variable: it keeps the type of the variable."""

NOTHING: Mapping[str, Any] = {}


class LiteralError(ValueError):
    """A literal that Nomad refuses; the message names what is allowed."""


class NotEvaluatedError(Exception):
    """A literal with a part that Nomad evaluates when it reads the job, and whose value is not known here."""


def hcl1(literal: str) -> str:
    """Return the value of *literal*, with its quotes, in a volume file; ``${...}`` is copied unchanged."""
    text, parts, position = literal[1:-1], [], 0
    while position < len(text):
        match = _HCL1_PART.match(text, position)
        if match is None:
            raise LiteralError(r"one of the escapes \n \r \t \" \\ \u0000 \U00000000, and no line break")
        position = _closing_brace(text, position) if match["template"] else match.end()
        parts.append(_unescape(match[0]) if match["escape"] else text[match.start() : position])
    return "".join(parts)


def hcl2(literal: str, scope: Mapping[str, Any] = NOTHING) -> str:
    """
    Return the value of *literal*, with its quotes, in a job file, before the client evaluates ``${node...}``.

    *scope* has the values of ``var.name`` and ``local.name``. Other expressions that Nomad evaluates when it parses the
    job (functions, ``%{ if }``) raise `NotEvaluatedError`.
    """
    return unicodedata.normalize("NFC", "".join(_hcl2_parts(literal[1:-1], scope)))


def hcl1_heredoc(token: str) -> str:
    """Return the lines of a heredoc of a volume file. Indentation is refused: the dialects read it differently."""
    if token.startswith("<<-") or token.rstrip("\r\n").rpartition("\n")[2].startswith((" ", "\t")):
        raise LiteralError(
            "<< and its end mark at the start of a line: any other indentation becomes part of the value"
        )
    return _heredoc_body(token)


def hcl2_heredoc(token: str, scope: Mapping[str, Any] = NOTHING) -> str:
    """Return the lines of a heredoc of a job file; ``<<-`` removes the common indentation."""
    body = _heredoc_body(token)
    if token.startswith("<<-"):
        body = _strip_indent(body)
    return unicodedata.normalize("NFC", "".join(_heredoc_part(match, scope) for match in _HEREDOC_PART.finditer(body)))


def _heredoc_part(match: re.Match[str], scope: Mapping[str, Any]) -> str:
    if match["own"]:
        return _own(match["own"], scope)
    if match["evaluated"]:
        raise NotEvaluatedError
    return match[0][1:] if match["doubled"] else match[0]


def _own(name: str, scope: Mapping[str, Any]) -> str:
    """Return the text of a variable of the file: ``true``, ``3000``, ``2.5``."""
    value = scope.get(name)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    raise NotEvaluatedError


def _strip_indent(body: str) -> str:
    """Return *body* without the common indentation of its lines; blank lines do not count."""
    lines = body.split("\n")
    width = min((len(line) - len(line.lstrip(" \t")) for line in lines if line.strip()), default=0)
    return "\n".join(line[width:] if line.strip() else line for line in lines)


def _hcl2_parts(text: str, scope: Mapping[str, Any]) -> Iterator[str]:
    position = 0
    while position < len(text):
        match = _HCL2_PART.match(text, position)
        if match is None and text[position : position + 2] in {"${", "%{"}:
            raise NotEvaluatedError
        if match is None:
            raise LiteralError(r"the escapes \n \r \t \" \\ \u0000 \U00000000 only")
        position = match.end()
        if match["doubled"]:
            yield match[0][1:]
        elif match["own"]:
            yield _own(match["own"], scope)
        else:
            yield _unescape(match[0]) if match["escape"] else match[0]


def _unescape(escape: str) -> str:
    if escape in _ESCAPES:
        return _ESCAPES[escape]
    try:
        return chr(int(escape.lstrip("\\uU"), base=16)).encode().decode()
    except (OverflowError, ValueError):
        raise LiteralError(r"the \u or \U escape of a Unicode character, not half a surrogate pair") from None


def _closing_brace(text: str, start: int) -> int:
    """Return the position after the ``}`` that closes the ``${`` at *start*, braces counted and quotes ignored."""
    depth = 0
    for position in range(start + 1, len(text)):
        depth += (text[position] == "{") - (text[position] == "}")
        if depth == 0:
            return position + 1
    raise LiteralError("a } for each ${, or Nomad reads the next lines as part of the value")


def _heredoc_body(token: str) -> str:
    _, _, lines = token.rstrip("\r\n").partition("\n")
    return lines[: lines.rfind("\n") + 1]
