r"""
Whether a regular expression of Go finds something in a text, as Nomad's ``regexp`` operator asks. Pure.

Python reads some of Go's forms otherwise (``$``, ``[[:alpha:]]``, ``\s``, ``a{,2}``) and refuses others (``\z``,
``\pL``, ``\Q``, ``(?U)``). So an expression is read by Go's rules and written again from parts that mean one thing
only. What this does not know has no answer; it is never answered wrongly. Which of several matches is found makes no
difference here: groups capture nothing, and lazy is as good as greedy.
Source: golang/go, ``src/regexp/syntax/parse.go`` and ``doc.go``, 2026-08; compared with Go 1.26 by random expressions.
"""

import functools
import re
from dataclasses import dataclass, field

import regex

from nomad_csi.verify import go_classes

TIMEOUT_S = 1.0
"""Go's own search takes linear time; where ours does not, there is no answer."""

_MOST_REPEATS = 1000
_MOST_DEPTH = 50

_OPENING = re.compile(r"\(\?P?<(\w+)>|\(\?([imsU]*)(?:-([imsU]+))?([:)])|\((?!\?)", re.ASCII)
_COUNT = re.compile(r"\{(\d+)(,?)(\d*)\}", re.ASCII)
_QUOTED = re.compile(r"\\Q(.*?)(?:\\E|\Z)", re.DOTALL)
_UNICODE = re.compile(r"\\([pP])(?:\{(\^?)(\w+)\}|(\w))", re.ASCII)
_NAMED = re.compile(r"\[:(\^?)(.*?):\]", re.DOTALL)
_CHARACTER = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|x\{([0-9A-Fa-f]{1,8})\}|([afnrtv])|([\x00-\x7f]))|([^\\])", re.DOTALL)
_CONTROLS = dict(zip("afnrtv", "\a\f\n\r\t\v", strict=True))
_W = f"[{go_classes.members(go_classes.PERL['w'])}]"
_EDGES = {
    "A": r"(?:\A)",
    "z": r"(?:\Z)",
    "b": f"(?:(?<={_W})(?!{_W})|(?<!{_W})(?={_W}))",
    "B": f"(?:(?<={_W})(?={_W})|(?<!{_W})(?!{_W}))",
}
_BEGIN = {True: r"(?:(?<![^\n]))", False: _EDGES["A"]}
_END = {True: r"(?:(?![^\n]))", False: _EDGES["z"]}


class _UnknownFormError(Exception):
    """An expression, or a part of one, that is not read here, or that Go refuses."""


def finds(expression: str, text: str) -> bool | None:
    """Return whether Go finds *expression* in *text*; ``None``: that cannot be told here."""
    translated = _translated(expression)
    if translated is None or (translated.folds and not text.isascii()):
        return None
    try:
        return translated.pattern.search(text, timeout=TIMEOUT_S) is not None
    except TimeoutError:
        return None


@dataclass(frozen=True)
class _Translated:
    pattern: regex.Pattern[str]
    folds: bool
    """Whether case is ignored somewhere: for ASCII alone that is the same here and in Go."""


@functools.lru_cache
def _translated(expression: str) -> _Translated | None:
    reader = _Reader(expression)
    try:
        return _Translated(regex.compile(reader.read()), reader.folds)
    except (_UnknownFormError, regex.error):
        return None


@dataclass
class _Reader:
    """Reads one expression, part by part; each part is written so that it needs no flags."""

    text: str
    at: int = 0
    flags: frozenset[str] = frozenset()
    outer: list[frozenset[str]] = field(default_factory=list)
    """Flags to come back to at the end of each open group."""

    names: set[str] = field(default_factory=set)
    repeats: int = 1
    folds: bool = False
    may_repeat: bool = False
    """Whether something stands before that a ``*`` may follow."""

    def read(self) -> str:
        written = []
        while self.at < len(self.text):
            written.append(self._part())
        if self.outer:
            raise _UnknownFormError
        return "".join(written)

    def _part(self) -> str:
        character = self.text[self.at]
        if character in "*+?{":
            return self._repetition(character)
        if character in "(|)":
            return self._grouping(character)
        self.may_repeat = True
        if character == "\\":
            return self._escaped()
        if character == "[":
            return self._class()
        if character in "^$.":
            self.at += 1
            lines = "m" in self.flags
            dot = f"[{go_classes.members(go_classes.ANY)}]" if "s" in self.flags else r"[^\n]"
            return {"^": _BEGIN[lines], "$": _END[lines], ".": dot}[character]
        return self._one(self._character())

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Return what *pattern* finds here, and go behind it."""
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()
        return found

    def _repetition(self, character: str) -> str:
        count = self._match(_COUNT) if character == "{" else None
        if character == "{" and count is None:
            self.may_repeat = True
            return self._one(self._character())
        if not self.may_repeat:
            raise _UnknownFormError
        self.may_repeat = False
        if count is None:
            self.at += 1
        written = character if count is None else self._counted(count)
        if self.text.startswith("?", self.at):
            self.at += 1  # lazy
        return written

    def _counted(self, found: re.Match[str]) -> str:
        numbers = [number for number in (found[1], found[3]) if number]
        if any(len(number) > len(str(_MOST_REPEATS)) or str(int(number)) != number for number in numbers):
            raise _UnknownFormError
        least, most = int(numbers[0]), int(numbers[-1])
        self.repeats *= max(least, most, 1)
        if least > most or self.repeats > _MOST_REPEATS or (found[3] and not found[2]):
            raise _UnknownFormError
        return found[0]

    def _grouping(self, character: str) -> str:
        self.may_repeat = False
        if character == "|":
            self.at += 1
            return "|"
        if character == ")":
            if not self.outer:
                raise _UnknownFormError
            self.at += 1
            self.flags, self.may_repeat = self.outer.pop(), True
            return ")"
        return self._opening()

    def _opening(self) -> str:
        found = self._match(_OPENING)
        if found is None or found[1] in self.names or len(self.outer) == _MOST_DEPTH:
            raise _UnknownFormError
        if found[1]:
            self.names.add(found[1])
        is_group = found[4] != ")"
        if is_group:
            self.outer.append(self.flags)
        self.flags = (self.flags | frozenset(found[2] or "")) - frozenset(found[3] or "")
        return "(?:" if is_group else ""

    def _escaped(self) -> str:
        quoted = self._match(_QUOTED)
        if quoted:
            self.may_repeat = bool(quoted[1])
            return "".join(self._one(ord(character)) for character in quoted[1])
        edge = _EDGES.get(self.text[self.at + 1 : self.at + 2])
        if edge:
            self.at += 2
            return edge
        several = self._several()
        return f"[{several}]" if several is not None else self._one(self._character())

    def _several(self) -> str | None:
        r"""Return what ``\d`` or ``\pL`` stands for, between brackets; ``None``: no such thing is here."""
        name = self.text[self.at + 1 : self.at + 2]
        if name and name.lower() in go_classes.PERL:
            self.at += 2
            return self._set(go_classes.PERL[name.lower()], negated=name.isupper())
        found = self._match(_UNICODE)
        if found is None:
            return None
        if "i" in self.flags:
            raise _UnknownFormError
        negated = (found[1] == "P") != bool(found[2])
        return go_classes.unicode_members(found[3] or found[4], negated=negated)

    def _class(self) -> str:
        self.at += 1
        negated = self.text.startswith("^", self.at)
        self.at += negated
        items = [self._item()]
        while not self.text.startswith("]", self.at):
            items.append(self._item())
        self.at += 1
        return f"[{'^' if negated else ''}{''.join(items)}]"

    def _item(self) -> str:
        if self.text.startswith("[:", self.at) and (found := self._match(_NAMED)):
            if found[2] not in go_classes.POSIX:
                raise _UnknownFormError
            return self._set(go_classes.POSIX[found[2]], negated=bool(found[1]))
        several = self._several() if self.text.startswith("\\", self.at) else None
        if several is not None:
            return several
        first = last = self._character()
        if self.text.startswith("-", self.at) and not self.text.startswith("-]", self.at):
            self.at += 1
            last = self._character()
        if first > last:
            raise _UnknownFormError
        return self._set(((first, last),), negated=False)

    def _character(self) -> int:
        """Read one character, written as itself or escaped."""
        found = self._match(_CHARACTER)
        if found is None:
            raise _UnknownFormError
        number, control, escaped, plain = found[1] or found[2], found[3], found[4], found[5]
        if number:
            code_point = int(number, 16)
        elif control:
            code_point = ord(_CONTROLS[control])
        else:
            code_point = ord(escaped or plain)
        if code_point > go_classes.LAST or (escaped and escaped.isalnum()):
            raise _UnknownFormError
        if "i" in self.flags and code_point > 0x7F:  # noqa: PLR2004 - ASCII ends there
            raise _UnknownFormError
        return code_point

    def _one(self, code_point: int) -> str:
        return f"[{self._set(((code_point, code_point),), negated=False)}]"

    def _set(self, ranges: go_classes.Ranges, *, negated: bool) -> str:
        """Return *ranges*, in both cases where that is asked for, between brackets. Go negates last."""
        if "i" in self.flags:
            self.folds = True
            ranges = go_classes.folded(ranges)
        return go_classes.members(go_classes.complement(ranges) if negated else ranges)
