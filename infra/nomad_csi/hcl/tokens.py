"""
The tokens of a text: strings, heredocs, numbers, names, signs, comments and line ends, each with its line.

Source: hashicorp/hcl ``hcl/scanner/scanner.go`` (v1.0.1-nomad-1); ``hclsyntax/spec.md`` (v2.20.2-nomad-1), 2026-08.
"""

import itertools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple, NoReturn

from nomad_csi import errors

LIMIT_BYTES = 2**20
"""Size limit of a file. Source: ``job_max_source_size`` of Nomad's server configuration, 1M by default."""

BYTE_ORDER_MARK = "\ufeff"

DEPTH_LIMIT = 100
"""Levels of brackets; Nomad's own files have about ten."""

_LEVELS = {**dict.fromkeys("{[(", 1), **dict.fromkeys("}])", -1)}


def read(path: Path) -> str:
    """Return the text of the file at *path*. Raises `errors.SpecError` with the problem and its line."""
    size = path.stat().st_size
    if size > LIMIT_BYTES:
        raise _refusal(str(path), "", f"a file of at most {LIMIT_BYTES // 2**20} MiB", f"{size / 2**20:.1f} MiB")
    return decode(path.read_bytes(), str(path))


def decode(content: bytes, name: str) -> str:
    """Return *content* as text; *name* is the file's, for errors."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        where = f"line {content[: error.start].count(10) + 1}"
        raise _refusal(name, where, "text in UTF-8", f"the byte 0x{content[error.start]:02x}") from None


def check(text: str, name: str, *, may_begin_with_mark: bool) -> None:
    """Raise `errors.SpecError` for what no parser accepts: NUL, a byte order mark before HCL1."""
    if "\0" in text:
        raise _refusal(name, line_and_column(text, text.index("\0")), "text without NUL", "NUL")
    if text.startswith(BYTE_ORDER_MARK) and not may_begin_with_mark:
        raise _refusal(name, "line 1, column 1", "text without a byte order mark, which Nomad refuses here", "one")


def check_depth(signs: Iterable[str], name: str) -> None:
    """Raise `errors.SpecError` where the brackets among *signs* are nested too deep."""
    steps = (_LEVELS[sign] for sign in signs if sign in _LEVELS)
    if any(depth > DEPTH_LIMIT for depth in itertools.accumulate(steps, lambda depth, step: max(depth + step, 0))):
        raise _too_deep(name)


def _too_deep(name: str) -> errors.SpecError:
    return _refusal(name, "", "a file with a few levels of brackets", "hundreds of levels")


def line_and_column(text: str, position: int) -> str:
    """Return line and column of *position* in *text*, as text."""
    return f"line {text.count(chr(10), 0, position) + 1}, column {position - text.rfind(chr(10), 0, position)}"


def _refusal(name: str, where: str, allowed: str, got: str) -> errors.SpecError:
    return errors.SpecError((errors.Problem(path=where, got=got, allowed=allowed),), source=name)


# Tokens.


Dialect = Literal["job", "volume"]
"""HCL2 and HCL1."""

_TEXTS = {
    "job": re.compile(r'(?:[^"\\\n$%]|\\[^\n]|\$\$\{|%%\{|[$%](?!\{))*'),
    "volume": re.compile(r'(?:[^"\\\n$]|\\[^\n]|\$(?!\{))*'),
}
"""Quoted text up to the closing quote or a template, by dialect."""

_TOKENS = {
    dialect: re.compile(
        rf"""
          (?P<space>   [ \t\r]+ )
        | (?P<newline> \n )
        | (?P<comment> (?:\#|//) [^\n]* | /\*(?s:.*?)\*/ )
        | (?P<heredoc> {heredoc} )
        | (?P<number>  \d+(?:\.\d+)?[eE][+-]?\d+(?![\w.]) | \d[\w.]* )
        | (?P<name>    {name} )
        | (?P<sign>    (?s:.) )
        """,
        re.VERBOSE,
    )
    for dialect, heredoc, name in (
        (
            "job",
            r"<<-?(?P<marker>[^\W\d][\w-]*)\r?\n(?:[^\n]*\n)*?[ \t]*(?P=marker)(?=[ \t]*(?:\r?\n|\Z))",
            r"[^\W\d][\w-]*",
        ),
        (
            "volume",
            r"<<-?(?P<marker>[^\W\d][\w-]*)\r?\n(?:[^\n]*\n)*?[ \t]*(?P=marker)(?=\r?\n|\Z)",
            r"[^\W\d][\w.-]*",
        ),
    )
}


class Token(NamedTuple):
    """One token."""

    kind: str
    """``string``, ``heredoc``, ``number``, ``name``, ``comment``, ``newline``, ``end``; of a sign, the sign itself."""

    text: str
    start: int
    """Position of its first character."""

    line: int

    @property
    def end(self) -> int:
        """Position behind it."""
        return self.start + len(self.text)

    @property
    def last_line(self) -> int:
        """Line on which it ends."""
        return self.line + self.text.count("\n")


def tokenize(text: str, dialect: Dialect, name: str) -> Iterator[Token]:
    """
    Yield the tokens of *text*, without the space between them; the last is ``end``. *name* is the file's, for errors.

    Raises `errors.SpecError` for a string or a template that does not end.
    """
    position, line, pattern = 0, 1, _TOKENS[dialect]
    while position < len(text):
        match = pattern.match(text, position)
        kind = match.lastgroup if match else None
        if match is None or kind is None:
            raise AssertionError("a sign is any character")
        lexeme = match[0]
        if lexeme == '"':
            try:
                kind, lexeme = "string", text[position : _end_of_string(text, position, dialect, name)]
            except RecursionError:  # templates in templates
                raise _too_deep(name) from None
        if kind != "space":
            yield Token(lexeme if kind == "sign" else kind, lexeme, position, line)
        position += len(lexeme)
        line += lexeme.count("\n")
    yield Token("end", "", position, line)


def character_at(text: str, position: int) -> str:
    """Return the character of *text* at *position*, in the form for problems."""
    return ascii(text[position]) if position < len(text) else "the end of the file"


def _end_of_string(text: str, start: int, dialect: Dialect, name: str) -> int:
    """Return the position behind the quoted string that starts at *start*."""
    position = start + 1
    while True:
        match = _TEXTS[dialect].match(text, position)
        position = match.end() if match else position
        if text.startswith('"', position):
            return position + 1
        if text[position : position + 2] not in {"${", "%{"}:
            allowed = f"a quote that closes the one at {line_and_column(text, start)}"
            _refuse(text, position, allowed, character_at(text, position), name)
        position = end_of_template(text, position, dialect, name)


def end_of_template(text: str, start: int, dialect: Dialect, name: str) -> int:
    """Return the position behind the ``}`` that closes the template at *start*; HCL1 ignores quotes in it."""
    levels, position = 1, start + 2
    while levels and position < len(text):
        if text[position] == '"' and dialect == "job":
            position = _end_of_string(text, position, dialect, name)
            continue
        levels += (text[position] == "{") - (text[position] == "}")
        position += 1
    if levels or (dialect == "volume" and "\n" in text[start:position]):
        _refuse(text, start, "a } for each ${, or Nomad reads the next lines as part of the value", "", name)
    return position


def _refuse(text: str, position: int, allowed: str, got: str, name: str) -> NoReturn:
    problem = errors.Problem(path=line_and_column(text, position), got=got, allowed=allowed)
    raise errors.SpecError((problem,), source=name)
