r"""
Find known secrets in a text, however programs spelled them: quoted, escaped, encoded, in upper case, or cut.

The text is unescaped level by level (`_unescaped`), each level is searched, and what is found is traced back to the
original text. A secret has escapes of its own sometimes, so its own levels are searched for, too. Base64 and
hexadecimal digits of a secret are computed instead. A secret with escapes of its own that was cut within one of them,
and escaped again, is not found. The time is linear in the length of the text: at most `LEVELS` levels,
none of them longer than the text.

Sources: Go 1.25 ``strconv.Quote``, ``encoding/json`` and ``net/url``; RFC 8259 (JSON); RFC 3986 (percent); the HTML
standard (named characters); Python 3.13 ``repr``; POSIX shell quoting; protobuf's text format (octal); 2026-11.
"""

import base64
import bisect
import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import entities

LEVELS = 8
"""Most often that a text is unescaped: errors of Nomad are quoted three times at the most (2.0.6, 2026-11)."""

SHORTEST_SECRET = 4
"""Minimum length of a secret that is searched in a text; shorter ones are part of ordinary words."""

SHORTEST_CUT = 8
"""Minimum length of the part of a secret that is searched where a text was cut."""

Span = tuple[int, int]
"""Start and end of a part of the text."""

_ESCAPE = re.compile(
    r"""
      (?P<bytes> (?: \\x[0-9A-Fa-f]{2} | \\[0-3][0-7]{2} | %[0-9A-Fa-f]{2} )+ )
    | (?P<units> (?: \\u[0-9A-Fa-f]{4} )+ )
    | (?: \\U(?P<long>[0-9A-Fa-f]{8}) | \\u\{(?P<braced>[0-9A-Fa-f]{1,6})\} )
    | &(?P<entity> \#[0-9]{1,7} | \#[xX][0-9A-Fa-f]{1,6} | [A-Za-z][A-Za-z0-9]{1,30} );
    | (?P<quote> '\\'' | '"'"' | '' | "" )
    | \\(?P<sign> [^uUx] | [uUx] (?! [0-9A-Fa-f]{0,7}\Z) )
    """,
    re.VERBOSE | re.DOTALL,
)
_BYTE = re.compile(r"\\x(?P<hex>..)|\\(?P<octal>\d..)|%(?P<percent>..)")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_UNIT_LENGTH = len(r"\u0000")
_SIGNS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}
_UNICODE_END = 0x110000

_SPACE = re.compile(r"\s{2,}|[^\S ]")
"""Space that is more than one, or none of the keyboard's."""

_CUT = re.compile(r"""\.{3,}|\u2026|\Z|\n|["']|[ ]?</?[A-Za-z]""")
"""Where a text was cut: marks that programs write there, and its end, on a line, in quotes and in HTML as well."""

_PARTIAL = re.compile(r"(?:\\{1,64}(?:[uUx][0-9A-Fa-f]{0,7}|[0-3]?[0-7]?)|%[0-9A-Fa-f]?|&[#A-Za-z0-9]{0,9})\Z")
"""An escape that was cut."""

_LONGEST_PARTIAL = 80

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]")


def find(text: str, secrets: Iterable[str], *, short_words: bool = False) -> list[Span]:
    """
    Return where *text* has one of *secrets*: spans that do not overlap, in their order.

    Secrets shorter than `SHORTEST_SECRET` are not searched, or, with *short_words*, as whole words.
    """
    given = frozenset(secret for secret in secrets if secret)
    needles = _needles(given)
    short = _short_pattern(given) if short_words else None
    spans = [span for level in _levels(text) for span in level.spans(needles, short)] if needles or short else []
    return _joined(spans)


def _joined(spans: Iterable[Span]) -> list[Span]:
    """Return *spans* in their order; those that overlap are one."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


# What is searched.


@dataclass(frozen=True)
class _Needle:
    """One spelling of a secret at a level of the text."""

    text: str
    is_folded: bool = True
    """Whether upper and lower case are the same."""

    is_base64: bool = False

    @property
    def most(self) -> int:
        """How much of it counts wherever it stands: three quarters, at least `SHORTEST_CUT`; a short one as a whole."""
        return min(len(self.text), max(SHORTEST_CUT, len(self.text) * 3 // 4))


@functools.lru_cache(maxsize=16)
def _needles(secrets: frozenset[str]) -> tuple[_Needle, ...]:
    """Return what is searched for *secrets*: computed once for the many texts of a command."""
    found = {needle for secret in secrets for needle in _spelled(secret)}
    return tuple(sorted(found, key=lambda needle: (needle.text, needle.is_folded)))


def _spelled(secret: str) -> Iterator[_Needle]:
    if len(_on_one_line(secret)) < SHORTEST_SECRET:
        return
    for level in _levels(secret):
        for text in (level.text, level.text.upper(), level.text.replace(" ", "+")):
            folded = _folded(_on_one_line(text))
            if len(folded) >= SHORTEST_SECRET:
                yield _Needle(folded)
    plain = secret.encode("utf-8", "surrogatepass")
    yield _Needle(plain.hex())
    yield from (_Needle(digits, is_folded=False, is_base64=True) for digits in _base64(plain))


def _base64(plain: bytes) -> Iterator[str]:
    """Yield the digits that stand for *plain* alone within a longer text in base64: one of three, by its position."""
    for before in range(3):
        digits = base64.b64encode(bytes(before) + plain)
        whole = digits[(8 * before + 5) // 6 : 8 * (before + len(plain)) // 6].decode()
        if len(whole) >= SHORTEST_SECRET:
            yield whole
            yield whole.replace("+", "-").replace("/", "_")


def _short_pattern(secrets: Iterable[str]) -> re.Pattern[str] | None:
    lines = {_on_one_line(secret) for secret in secrets}
    short = sorted((line for line in lines if 0 < len(line) < SHORTEST_SECRET), key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, short))})(?!\w)") if short else None


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _folded(text: str) -> str:
    """Return *text* in one case, with as many characters."""
    folded = text.casefold()
    if len(folded) == len(text):
        return folded
    return "".join(low if len(low := each.casefold()) == 1 else each for each in text)


# Levels of a text.


@dataclass(frozen=True)
class _Step:
    """A text that was made from another one by replacing some parts with one character each."""

    text: str
    ends: list[int] = field(default_factory=list)
    """Where each of these characters ends in the text."""

    sources: list[int] = field(default_factory=list)
    """Where each part ends in the other text."""

    def source(self, position: int) -> int:
        """Return where *position* is in the other text."""
        index = bisect.bisect_right(self.ends, position) - 1
        return position if index < 0 else self.sources[index] + position - self.ends[index]


@dataclass(frozen=True)
class _Level:
    """A text, unescaped some times."""

    steps: tuple[_Step, ...]
    """From the original text to this one."""

    @property
    def text(self) -> str:
        """The text of this level."""
        return self.steps[-1].text

    def spans(self, needles: Iterable[_Needle], short: re.Pattern[str] | None) -> Iterator[Span]:
        """Yield the parts of the original text in which one of *needles* was found, or a word of *short*."""
        spaces = [(found.span(), "\n" if "\n" in found[0] else " ") for found in _SPACE.finditer(self.text)]
        line = _replaced(self.text, ((span, " ") for span, _ in spaces))
        folded = _folded(line.text)
        cuts = list(_cuts(_replaced(self.text, spaces).text))
        for needle in needles:
            for span in _found(folded if needle.is_folded else line.text, needle, cuts):
                yield self._source(line, span)
        for word in short.finditer(line.text) if short else ():
            yield self._source(line, word.span())

    def _source(self, line: _Step, span: Span) -> Span:
        start, end = span
        for step in (line, *reversed(self.steps)):
            start, end = step.source(start), step.source(end)
        return start, end


def _levels(text: str) -> Iterator[_Level]:
    """Yield *text*, then what remains after each unescaping, until nothing changes."""
    level = _Level(steps=(_Step(text),))
    yield level
    for _ in range(LEVELS):
        step = _unescaped(level.text)
        if not step.ends:
            return
        level = _Level(steps=(*level.steps, step))
        yield level


def _unescaped(text: str) -> _Step:
    """Return *text* with each escape replaced by its character, once."""
    return _replaced(text, (item for found in _ESCAPE.finditer(text) for item in _characters(found)))


def _replaced(text: str, items: Iterable[tuple[Span, str]]) -> _Step:
    """Return *text* with each span of *items* replaced by its character."""
    parts: list[str] = []
    step = _Step("")
    ends, sources, position, length = step.ends, step.sources, 0, 0
    for (start, end), character in items:
        parts += text[position:start], character
        length += start - position + 1
        position = end
        ends.append(length)
        sources.append(end)
    return _Step("".join([*parts, text[position:]]), ends, sources)


def _characters(found: re.Match[str]) -> Iterator[tuple[Span, str]]:
    """Yield the characters that an escape stands for, each with its part of the text."""
    kind = found.lastgroup
    if kind == "bytes":
        yield from _of_bytes(found)
    elif kind == "units":
        yield from _of_units(found)
    elif kind == "quote":
        yield found.span(), '"' if found[0] == '""' else "'"
    elif kind == "sign":
        yield found.span(), _SIGNS.get(found["sign"], found["sign"])
    else:
        character = (
            _named(found["entity"]) if kind == "entity" else _numbered(int(found["long"] or found["braced"], 16))
        )
        if len(character) == 1:
            yield found.span(), character


def _of_bytes(found: re.Match[str]) -> Iterator[tuple[Span, str]]:
    """Yield the characters of bytes in UTF-8; a byte that is none is the character of that number, as Python's repr."""
    items = list(_BYTE.finditer(found.string, *found.span()))
    values = bytes(
        int(item["octal"], 8) if item["octal"] else int(item["hex"] or item["percent"], 16) for item in items
    )
    position = 0
    for character in values.decode("utf-8", "surrogateescape"):
        is_byte = "\udc80" <= character <= "\udcff"
        length = 1 if is_byte else len(character.encode())
        span = items[position].start(), items[position + length - 1].end()
        yield span, chr(ord(character) - 0xDC00) if is_byte else character
        position += length


def _of_units(found: re.Match[str]) -> Iterator[tuple[Span, str]]:
    r"""Yield the characters of ``\u0041``; two halves of a surrogate pair are one character."""
    start = found.start()
    units = "".join(chr(int(unit, 16)) for unit in found[0].split(r"\u")[1:])
    for character in _PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), units):
        end = start + _UNIT_LENGTH * (2 if character > "\uffff" else 1)
        yield (start, end), character
        start = end


def _named(entity: str) -> str:
    if not entity.startswith("#"):
        return entities.html5.get(f"{entity};", "")
    digits = entity[1:]
    return _numbered(int(digits[1:], 16) if digits[0] in "xX" else int(digits))


def _numbered(number: int) -> str:
    return chr(number) if number < _UNICODE_END else ""


# Search in one level.


def _cuts(text: str) -> Iterator[Span]:
    """Yield the parts of *text* between the places where it may be cut, also without half an escape."""
    start = 0
    for cut in _CUT.finditer(text):
        yield start, cut.start()
        if partial := _PARTIAL.search(text, max(cut.start() - _LONGEST_PARTIAL, start), cut.start()):
            yield start, partial.start()
        start = cut.end()


def _found(text: str, needle: _Needle, cuts: Iterable[Span]) -> Iterator[Span]:
    """Yield where *text* has *needle*: most of it, or its beginning before one of *cuts*, or its end behind one."""
    head = needle.text[: needle.most]
    start = text.find(head)
    while start >= 0:
        end = start + _length(text, start, needle.text)
        yield _with_rest(text, start, end) if needle.is_base64 else (start, end)
        start = text.find(head, end)
    if len(needle.text) > SHORTEST_CUT and any(part in text for part in _ends(needle.text)):
        for begin, end in cuts:
            yield from _at_cut(text, needle.text, begin, end)


def _length(text: str, start: int, wanted: str) -> int:
    """Return how much of *wanted* stands at *start*."""
    if text.startswith(wanted, start):
        return len(wanted)
    part = text[start : start + len(wanted)]
    return next((index for index, pair in enumerate(zip(part, wanted, strict=False)) if pair[0] != pair[1]), len(part))


def _with_rest(text: str, start: int, end: int) -> Span:
    """Return the span with the digits beside it, which hold bits of the secret."""
    first = start - 1 if start and _BASE64.match(text, start - 1) else start
    return first, end + 1 if _BASE64.match(text, end) else end


def _ends(wanted: str) -> tuple[str, str]:
    """Return the least of *wanted* that is searched before and behind a cut."""
    return wanted[:SHORTEST_CUT], wanted[-SHORTEST_CUT:]


def _at_cut(text: str, wanted: str, begin: int, end: int) -> Iterator[Span]:
    """Yield the part that ends at *end* and begins *wanted*, and the part that starts at *begin* and ends it."""
    head, tail = _ends(wanted)
    start = text.find(head, max(end - len(wanted), 0), end)
    while start >= 0:
        if wanted.startswith(text[start:end]):
            yield start, end
            break
        start = text.find(head, start + 1, end)
    last = text.rfind(tail, begin, begin + len(wanted))
    if last >= 0 and wanted.endswith(text[begin : last + SHORTEST_CUT]):
        yield begin, last + SHORTEST_CUT
