"""
HCL text as tokens, for layout: what stands in quotes, a heredoc or a comment is one token each.

Only what job and volume files of ours are made of: attributes, blocks, lists, objects, references, comments. Operators,
conditionals, a point behind a number and quotes inside ``${...}`` are refused rather than laid out wrongly.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import regex

from nomad_csi import errors

OPENERS = frozenset("{[(")
CLOSERS = frozenset("}])")

STRING = r'"(?:[^"\\$%\n]++|\\[^\n]|\$\$\{|%%\{|\$\{[^"{}\n]*\}|[$%](?!\{))*"'
"""Pattern of a text in quotes."""

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
_INDIC_JOINT = regex.compile(r"(?<=[\p{M}\u200d])\p{Lo}")
_CLUSTER = regex.compile(r"\X")
_BEFORE_NEGATION = frozenset({*"{[(=:,", "newline"})


@dataclass(frozen=True, slots=True)
class Token:
    """One token and how wide hclwrite takes it to be."""

    kind: str
    """``newline``, ``comment``, ``heredoc``, ``string``, ``number``, ``name``; for punctuation the character itself."""

    text: str

    @property
    def ends_line(self) -> bool:
        """Whether the next token stands on another line: a newline, or a comment up to the end of its line."""
        return self.kind == "newline" or (self.kind == "comment" and self.text.endswith("\n"))

    @property
    def bracket_change(self) -> int:
        """1 for an opening bracket, -1 for a closing one, 0 for everything else."""
        return (self.kind in OPENERS) - (self.kind in CLOSERS)

    @property
    def columns(self) -> int:
        """Width in grapheme clusters of the source text: an escape is as wide as it is written, an emoji is one."""
        if self.kind != "string":
            return _clusters(self.text)
        return 2 + sum(map(_clusters, _LITERAL_PARTS.findall(self.text[1:-1])))


def tokenize(text: str) -> tuple[Token, ...]:
    """
    Return the tokens of *text*; spaces, tabs and carriage returns between them are gone.

    Raises `errors.SpecError` naming line and column of what is not understood.
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
    Count grapheme clusters as of Unicode 15.0, the tables that Nomad's formatter has.

    Later versions keep Indic conjuncts together; so each consonant after a joining mark counts on its own again.
    Nomad's tables differ yet for emoji joined by U+200D, which `quote` never writes raw, and for loose Hangul jamo.
    Source: apparentlymart/go-textseg v15, compared on 150,000 random texts, 2026-08.
    """
    if text.isascii():
        return len(text)
    return sum(1 + len(_INDIC_JOINT.findall(cluster)) for cluster in _CLUSTER.findall(text))


def _not_understood(text: str, position: int) -> errors.SpecError:
    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    allowed = "attributes, blocks, lists, objects and comments"
    problem = errors.Problem(path=f"line {line}, column {column}", got=ascii(text[position]), allowed=allowed)
    return errors.SpecError((problem,), source="HCL to lay out")
