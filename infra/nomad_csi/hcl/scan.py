"""
Scanner over the text of a file: space, words, ends of quoted strings, skipping, problems with positions.

Source: hashicorp/hcl ``hcl/scanner/scanner.go`` (v1.0.1-nomad-1); ``hclsyntax/spec.md`` (v2.20.2-nomad-1), 2026-08.
"""

import bisect
import functools
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NoReturn, TypeVar

from nomad_csi import errors

ResultT = TypeVar("ResultT")

Dialect = Literal["job", "volume", "json"]
"""HCL2, HCL1, and JSON instead of either."""

DEPTH_LIMIT = 100
"""Levels of brackets; Nomad's own files have about ten."""

TOO_DEEP = errors.Problem(path="", got="hundreds of levels", allowed="a file with a few levels of brackets")

_SPACE = re.compile(r"(?:[ \t\r\n]|\#[^\n]*|//[^\n]*|/\*(?s:.*?)\*/)*")
_INLINE_SPACE = re.compile(r"(?:[ \t]|/\*(?s:.*?)\*/)*")
_COMMENT = re.compile(r"\#[^\n]*|//[^\n]*|/\*(?s:.*?)\*/")
_TEXTS = {
    "job": re.compile(r'(?:[^"\\\n$%]|\\[^\n]|\$\$\{|%%\{|[$%](?!\{))*'),
    "volume": re.compile(r'(?:[^"\\\n$]|\\[^\n]|\$(?!\{))*'),
    "json": re.compile(r'(?:[^"\\]|\\.)*'),
}
"""Quoted text up to the closing quote or a template, by dialect."""

HEREDOCS = {
    dialect: re.compile(
        rf"<<-?(?P<marker>[^\W\d][\w-]*)\r?\n(?:[^\n]*\n)*?[ \t]*(?P=marker)(?={behind}(?:\r?\n|\Z))", re.MULTILINE
    )
    for dialect, behind in (("job", r"[ \t]*"), ("volume", ""), ("json", r"(?!)"))
}
_OPEN, _CLOSE = "{[(", "}])"


class UnreadableError(Exception):
    """The rest of the text cannot be read; the problem is reported."""


@dataclass(kw_only=True)
class Scanner:
    """A position in a text, with the problems so far."""

    text: str
    dialect: Dialect
    problems: list[errors.Problem] = field(default_factory=list)
    position: int = 0
    depth: int = 0

    def __post_init__(self) -> None:
        self._line_ends = [match.start() for match in re.finditer("\n", self.text)]

    def end_of_string(self, start: int) -> int:
        """Return the position after the quoted string that starts at *start*."""
        pattern = _TEXTS[self.dialect]
        position = start + 1
        while True:
            match = pattern.match(self.text, position)
            position = match.end() if match else position
            if self.text.startswith('"', position):
                return position + 1
            if self.text[position : position + 1] in {"\n", ""}:
                self.report(position, f"a quote that closes the one at {self.place(start)}", self.seen(position))
                raise UnreadableError
            if self.text[position : position + 2] not in {"${", "%{"} or self.dialect == "json":
                self.fail(position)
            position = self.end_of_template(position, start)

    def end_of_template(self, position: int, start: int) -> int:
        """Return the position after the ``}`` that closes the template at *position*; HCL1 ignores quotes in it."""
        depth, begin = 1, position
        position += 2
        while depth and position < len(self.text):
            character = self.text[position]
            if character == '"' and self.dialect == "job":
                position = self.nested(functools.partial(self.end_of_string, position))
                continue
            depth += (character == "{") - (character == "}")
            position += 1
        if depth or (self.dialect == "volume" and "\n" in self.text[begin:position]):
            self.report(start, "a } for each ${, or Nomad reads the next lines as part of the value")
            raise UnreadableError
        return position

    def skip_expression(self) -> None:
        """Skip to the end of an expression: a line's end, a comma or a closing bracket outside of all brackets."""
        while self.position < len(self.text) and self.text[self.position] not in "\n,}])":
            self.skip_token()

    def skip_token(self) -> None:
        """Skip a quoted string, brackets with their content, a comment, or one character."""
        if self.position >= len(self.text):
            self.fail(self.position)
        sign = self.text[self.position]
        if sign == '"':
            self.position = self.end_of_string(self.position)
        elif heredoc := HEREDOCS[self.dialect].match(self.text, self.position):
            self.position = heredoc.end()
        elif sign in _OPEN:
            self.skip_brackets()
        elif comment := _COMMENT.match(self.text, self.position):
            self.position = comment.end()
        else:
            self.position += 1

    def skip_brackets(self) -> None:
        """Skip the bracket at the position, through its closing bracket."""
        self.position += 1
        while self.peek() not in _CLOSE:
            self.nested(self.skip_token)
        self.position += 1

    def skip(self) -> str:
        """Skip space, line breaks and comments, and return them."""
        return self.take(_SPACE)

    def skip_inline(self) -> None:
        """Skip space on this line."""
        self.take(_INLINE_SPACE)

    def skip_to_sign(self) -> None:
        """Skip space between a name and its sign; HCL2 requires both on the same line."""
        self.take(_SPACE if self.dialect == "volume" else _INLINE_SPACE)

    def take(self, pattern: re.Pattern[str]) -> str:
        """Skip and return the match of *pattern*; stop reading where there is none."""
        match = pattern.match(self.text, self.position)
        if match is None:
            self.fail(self.position)
        self.position = match.end()
        return match[0]

    def peek(self) -> str:
        """Return the next character; stop reading at the end of the file."""
        if self.position >= len(self.text):
            self.fail(self.position)
        return self.text[self.position]

    def nested(self, read: Callable[[], ResultT]) -> ResultT:
        """Return the result of *read*, called one level deeper."""
        self.depth += 1
        if self.depth > DEPTH_LIMIT:
            self.problems.append(TOO_DEEP)
            raise UnreadableError
        try:
            return read()
        finally:
            self.depth -= 1

    def fail(self, position: int, fix: str = "") -> NoReturn:
        """Report a syntax error at *position*, and stop reading."""
        self.report(position, "what HCL allows there", self.seen(position), fix)
        raise UnreadableError

    def seen(self, position: int) -> str:
        """Return the text at *position*, in the form for problems."""
        found = self.text[position : position + 1]
        return ascii(found) if found else "the end of the file"

    def report(self, position: int, allowed: str, got: str = "", fix: str = "") -> None:
        """Report a problem at *position*."""
        self.problems.append(errors.Problem(path=self.place(position), got=got, allowed=allowed, fix=fix))

    def place(self, position: int) -> str:
        """Return line and column of *position*, as text."""
        line = self.line(position)
        return f"line {line}, column {position - (self._line_ends[line - 2] if line > 1 else -1)}"

    def line(self, position: int) -> int:
        """Return the number of the line of *position*, from 1."""
        return bisect.bisect_left(self._line_ends, position) + 1
