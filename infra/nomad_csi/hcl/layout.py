"""
Format text like ``nomad fmt``, without running it: indentation, spaces, ``=`` and trailing comments in columns.

Content of quotes and heredocs stays unchanged. In addition to ``nomad fmt``: no two consecutive blank lines, none at
either end, no trailing space in a comment, one newline at the end.

Source of the rules: hashicorp/hcl, ``hclwrite/format.go`` (``formatIndent``, ``formatSpaces``, ``formatCells``),
v2.20.2-nomad-1, 2026-08.
"""

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nomad_csi import errors
from nomad_csi.hcl import source

# HCL text as tokens for layout: a quoted string, a heredoc or a comment is one token.
#
# Supports only the syntax of our job and volume files: attributes, blocks, lists, objects, references, comments.
# Operators, conditionals, a point after a number and quotes inside ``${...}`` are refused rather than formatted
# wrongly.


OPENERS = frozenset("{[(")
CLOSERS = frozenset("}])")

_PLAIN = r'[^"\\$%\n]*'
_SPECIAL = r'(?:\\[^\n]|\$\$\{|%%\{|\$\{[^"{}\n]*\}|\$(?!\$?\{)|%(?!%?\{))'
STRING = rf'"{_PLAIN}(?:{_SPECIAL}{_PLAIN})*"'
"""Pattern of a quoted string: plain characters, and others between them; a text matches in one way at most."""

_TOKEN = re.compile(
    rf"""
      (?P<space>   [ \t]+ )
    | (?P<newline> \r?\n )
    | (?P<comment> (?:\#|//) [^\n]* \n | /\*(?s:.*?)\*/ )
    | (?P<heredoc> <<-? (?P<marker>[^\W\d][\w-]*) \r?\n (?:[^\n]*\n)*? [ \t]* (?P=marker) (?=[ \t]*\r?\n) )
    | (?P<string>  {STRING} )
    | (?P<number>  \d+ (?:\.\d+)? (?:[eE][+-]?\d+)? (?!\w) )
    | (?P<name>    [^\W\d][\w-]* )
    | (?P<mark>    [{{}}\[\]()=:,.] | -(?=\d) )
    """,
    re.VERBOSE,
)
_LITERAL_PARTS = re.compile(r"[$%]\{[^}]*\}|[^$%]+|.")
_BEFORE_NEGATION = frozenset({*"{[(=:,", "newline"})


@dataclass(frozen=True, slots=True)
class Token:
    """One token, with its width in hclwrite."""

    kind: str
    """``newline``, ``comment``, ``heredoc``, ``string``, ``number``, ``name``; for punctuation the character itself."""

    text: str

    @property
    def ends_line(self) -> bool:
        """Whether the next token is on another line: a newline, or a comment to the end of its line."""
        return self.kind == "newline" or (self.kind == "comment" and self.text.endswith("\n"))

    @property
    def bracket_change(self) -> int:
        """1 for an opening bracket, -1 for a closing one, 0 for everything else."""
        return (self.kind in OPENERS) - (self.kind in CLOSERS)

    @property
    def columns(self) -> int:
        """Width in grapheme clusters of the source text: an escape counts each character, an emoji counts one."""
        if self.kind != "string":
            return _clusters(self.text)
        return 2 + sum(map(_clusters, _LITERAL_PARTS.findall(self.text[1:-1])))


def tokenize(text: str) -> tuple[Token, ...]:
    """
    Return the tokens of *text*, without spaces, tabs and carriage returns between them.

    Raises `errors.SpecError` with line and column of unsupported syntax.
    """
    return tuple(_tokens(text if text.endswith("\n") else f"{text}\n"))


def _tokens(text: str) -> Iterator[Token]:
    position, before = 0, "newline"
    while position < len(text):
        match = _TOKEN.match(text, position)
        kind = "" if match is None else (match.lastgroup or "")
        if (
            match is None
            or (match[0] == "-" and before not in _BEFORE_NEGATION)
            or (match[0] == "." and before == "number")
        ):
            raise _not_understood(text, position)
        if kind != "space":
            token = _token(match[0] if kind == "mark" else kind, match[0])
            before = "newline" if token.ends_line else token.kind
            yield token
        position = match.end()


def _token(kind: str, text: str) -> Token:
    if kind == "newline":
        return Token(kind, "\n")
    if kind == "comment" and text.endswith("\n"):
        return Token(kind, text.rstrip() + "\n")
    return Token(kind, text)


def _clusters(text: str) -> int:
    """
    Count grapheme clusters as of Unicode 15.0, the version of Nomad's formatter.

    Later versions keep Indic conjuncts together; so each consonant after a joining mark counts separately here.
    Nomad's tables still differ for emoji joined by U+200D, which `quote` never writes raw, and for loose Hangul jamo.
    Source: apparentlymart/go-textseg v15, compared on 150,000 random texts, 2026-08.
    """
    if text.isascii():
        return len(text)
    import regex  # noqa: PLC0415  # few files need it

    clusters = regex.findall(r"\X", text)
    return sum(1 + len(regex.findall(r"(?<=[\p{M}\u200d])\p{Lo}", cluster)) for cluster in clusters)


def _not_understood(text: str, position: int) -> errors.SpecError:
    allowed = "attributes, blocks, lists, objects and comments"
    problem = errors.Problem(path=source.place(text, position), got=ascii(text[position]), allowed=allowed)
    return errors.SpecError((problem,), source="HCL to lay out")


# Formatting.


INDENT = "  "


@dataclass(frozen=True, slots=True)
class Cell:
    """Tokens of a line that move together, with the spaces between them."""

    text: str

    columns: int
    """Width in hclwrite."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line, including a multi-line token, as three cells that are aligned with those of its neighbours."""

    lead: tuple[Token, ...]
    """The whole line, or the part before the other two."""

    assign: tuple[Token, ...] = ()
    """From ``=`` on, when all its brackets are closed on this line."""

    comment: tuple[Token, ...] = ()
    """A trailing comment."""

    @property
    def is_blank(self) -> bool:
        """Whether the line is empty."""
        return self.lead[0].kind == "newline"

    @property
    def bracket_change(self) -> int:
        """Number of brackets open after the line minus before it."""
        return sum(token.bracket_change for token in (*self.lead, *self.assign))


def layout(text: str) -> str:
    r"""
    Return *text* formatted like ``nomad fmt``: ``layout("a=1")`` is ``"a = 1\n"``.

    Idempotent. Raises `errors.SpecError` with the position of unsupported syntax: operators, conditionals, quotes
    inside ``${...}``.
    """
    lines = tuple(_strip_blank_lines(map(_cells, _split(tokenize(text)))))
    leads = [_spaced(line.lead, indent) for line, indent in zip(lines, _indents(lines), strict=True)]
    assigns = [_spaced(line.assign) for line in lines]
    comments = [_spaced(line.comment) for line in lines]
    return "".join(cell.text for cell in _aligned(_aligned(leads, assigns), comments))


def _split(stream: Iterable[Token]) -> Iterator[tuple[Token, ...]]:
    line: list[Token] = []
    for token in stream:
        line.append(token)
        if token.ends_line:
            yield tuple(line)
            line = []


def _cells(line: tuple[Token, ...]) -> Line:
    has_comment = len(line) > 1 and line[-1].kind == "comment"
    code, comment = (line[:-1], line[-1:]) if has_comment else (line, ())
    equals = next((index for index, token in enumerate(code) if index > 0 and token.kind == "="), len(code))
    if sum(token.bracket_change for token in code[equals:]) != 0:
        equals = len(code)
    return Line(code[:equals], code[equals:], comment)


def _strip_blank_lines(lines: Iterable[Line]) -> Iterator[Line]:
    pending: list[Line] = []
    begun = False
    for line in lines:
        if line.is_blank:
            pending = [line] if begun else []
            continue
        yield from pending
        yield line
        pending, begun = [], True


def _indents(lines: Iterable[Line]) -> Iterator[str]:
    """Yield the indentation of each line: one level for each open line, regardless of its number of brackets."""
    opened: list[int] = []
    for line in lines:
        change = line.bracket_change
        if change < 0:
            _close(opened, -change)
        yield "" if line.is_blank else INDENT * len(opened)
        if change > 0:
            opened.append(change)


def _close(opened: list[int], count: int) -> None:
    while count > 0 and opened:
        closed = min(count, opened[-1])
        count -= closed
        opened[-1] -= closed
        if opened[-1] == 0:
            opened.pop()


def _spaced(cell: tuple[Token, ...], indent: str = "") -> Cell:
    gaps = [" " if _apart(before, token) else "" for before, token in itertools.pairwise(cell)]
    text = "".join(gap + token.text for gap, token in zip([indent, *gaps], cell, strict=False))
    return Cell(text, len(indent) + sum(map(len, gaps)) + sum(token.columns for token in cell))


def _apart(token: Token, after: Token) -> bool:
    """Return whether a space separates two neighbours (``spaceAfterToken``, for the supported tokens)."""
    if after.kind in {"newline", ",", "."} or token.kind in {".", "-"}:
        return False
    if token.kind == ",":
        return True
    if after.kind in {"[", "("} and (token.kind == "name" or (after.kind == "[" and _ends_value(token))):
        return False
    if token.kind == "{" or after.kind == "}":
        return token.kind + after.kind != "{}"
    return token.kind not in OPENERS and after.kind not in CLOSERS


def _ends_value(token: Token) -> bool:
    return token.kind == "number" or token.kind in CLOSERS


def _aligned(lefts: Iterable[Cell], rights: Iterable[Cell]) -> list[Cell]:
    """Return each left cell joined with its right one, aligned in one column on consecutive lines."""
    aligned: list[Cell] = []
    for has_right, run in itertools.groupby(zip(lefts, rights, strict=True), key=lambda pair: pair[1].text != ""):
        pairs = list(run)
        width = max(left.columns for left, _ in pairs) + 1
        aligned += [_joined(left, right, width) if has_right else left for left, right in pairs]
    return aligned


def _joined(left: Cell, right: Cell, width: int) -> Cell:
    return Cell(f"{left.text}{' ' * (width - left.columns)}{right.text}", width + right.columns)
