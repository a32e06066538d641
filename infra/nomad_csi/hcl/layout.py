"""
Format text like ``nomad fmt``, without running it: indentation, spaces, ``=`` and trailing comments in columns.

Content of quotes and heredocs stays unchanged. In addition to ``nomad fmt``: no two consecutive blank lines, none at
either end, no trailing space in a comment, one newline at the end.

For the syntax of our job and volume files: attributes, blocks, lists, objects, references, comments. Operators and
conditionals keep their meaning, with other spaces than ``nomad fmt`` writes.

Source of the rules: hashicorp/hcl, ``hclwrite/format.go`` (``formatIndent``, ``formatSpaces``, ``formatCells``),
v2.20.2-nomad-1, 2026-08.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from nomad_csi.hcl import tokens

INDENT = "  "
OPENERS = frozenset("{[(")
CLOSERS = frozenset("}])")
_SOURCE = "HCL to lay out"


class Cell(NamedTuple):
    """Tokens of a line that move together, with the spaces between them."""

    text: str

    columns: int
    """Width: of a text with combining characters, hclwrite counts less."""


class Line(NamedTuple):
    """One line, including a multi-line token, as three cells that are aligned with those of its neighbours."""

    lead: Sequence[tokens.Token]
    """The whole line, or the part before the other two; empty: a blank line."""

    assign: Sequence[tokens.Token] = ()
    """From ``=`` on, when all its brackets are closed on this line."""

    comment: Sequence[tokens.Token] = ()
    """A trailing comment."""


def layout(text: str) -> str:
    r"""
    Return *text* formatted like ``nomad fmt``: ``layout("a=1")`` is ``"a = 1\n"``.

    Idempotent. Raises `errors.SpecError` for a string or a template that does not end.
    """
    lines = list(_strip_blank_lines(_lines(text)))
    leads = [_spaced(line.lead, indent) for line, indent in zip(lines, _indents(lines), strict=True)]
    assigns = [_spaced(line.assign) for line in lines]
    comments = [_spaced(line.comment) for line in lines]
    return "".join(f"{cell.text}\n" for cell in _aligned(_aligned(leads, assigns), comments))


def _lines(text: str) -> Iterator[Line]:
    line_tokens: list[tokens.Token] = []
    for token in tokens.tokenize(text, "job", _SOURCE):
        if token.kind not in {"newline", "end"}:
            line_tokens.append(token)
            continue
        has_comment = len(line_tokens) > 1 and line_tokens[-1].text.startswith(("#", "//"))
        code, comment = (line_tokens[:-1], line_tokens[-1:]) if has_comment else (line_tokens, [])
        equals = next((index for index, each in enumerate(code) if index > 0 and each.kind == "="), len(code))
        if _bracket_change(code[equals:]) != 0:
            equals = len(code)
        yield Line(code[:equals], code[equals:], comment)
        line_tokens = []


def _bracket_change(line_tokens: Iterable[tokens.Token]) -> int:
    """Return the number of brackets open after *line_tokens* minus before it."""
    return sum((token.kind in OPENERS) - (token.kind in CLOSERS) for token in line_tokens)


def _strip_blank_lines(lines: Iterable[Line]) -> Iterator[Line]:
    pending: list[Line] = []
    begun = False
    for line in lines:
        if not line.lead:
            pending = [line] if begun else []
            continue
        yield from pending
        yield line
        pending, begun = [], True


def _indents(lines: Iterable[Line]) -> Iterator[str]:
    """Yield the indentation of each line: one level for each open line, regardless of its number of brackets."""
    opened: list[int] = []
    for line in lines:
        change = _bracket_change([*line.lead, *line.assign])
        closed = -change
        while closed > 0 and opened:
            taken = min(closed, opened[-1])
            closed -= taken
            opened[-1] -= taken
            if opened[-1] == 0:
                opened.pop()
        yield INDENT * len(opened) if line.lead else ""
        if change > 0:
            opened.append(change)


def _spaced(cell: Sequence[tokens.Token], indent: str = "") -> Cell:
    texts, columns, before = [indent], len(indent), None
    for token in cell:
        gap = " " if before is not None and _apart(before.kind, token.kind) else ""
        text = token.text.rstrip() if token.kind == "comment" else token.text
        texts += [gap, text]
        columns += len(gap) + len(text)
        before = token
    return Cell("".join(texts), columns)


def _apart(kind: str, after: str) -> bool:
    """Return whether a space separates two neighbours (``spaceAfterToken``, for the supported tokens)."""
    if kind == "number" and after == ".":
        return True  # together they would be one number
    if after in {",", "."} or kind in {".", "-"}:
        return False
    if kind == ",":
        return True
    if after in {"[", "("} and (kind == "name" or (after == "[" and (kind == "number" or kind in CLOSERS))):
        return False
    if kind == "{" or after == "}":
        return kind + after != "{}"
    return kind not in OPENERS and after not in CLOSERS


def _aligned(lefts: Iterable[Cell], rights: Iterable[Cell]) -> list[Cell]:
    """Return each left cell joined with its right one, aligned in one column on consecutive lines."""
    aligned: list[Cell] = []
    for has_right, run in itertools.groupby(zip(lefts, rights, strict=True), key=lambda pair: pair[1].text != ""):
        pairs = list(run)
        width = max(left.columns for left, _ in pairs) + 1
        for left, right in pairs:
            padding = " " * (width - left.columns)
            joined = Cell(f"{left.text}{padding}{right.text}", width + right.columns)
            aligned.append(joined if has_right else left)
    return aligned
