"""
Parse the three formats that Nomad reads: HCL2 (job files), HCL1 (volume files), JSON (both).

Only ``var.name`` and ``local.name`` with a known value are evaluated; another expression is `values.Unevaluated`.
Runtime variables of the client (``attr.kernel.name``) stay strings of the form ``${attr.kernel.name}``, as in Nomad.

Source: hashicorp/hcl ``hcl/parser/parser.go`` (v1.0.1-nomad-1); ``hclsyntax/spec.md`` (v2.20.2-nomad-1), 2026-08.
"""

import contextlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nomad_csi.hcl import literals, scan, values

QUOTED_NAME_FIX = 'write a quoted name inside a map: segments = { "name" = "value" }'

_ONE_BLOCK_FIX = "write a topology block for each place"

_MAP = "="
"""Instead of a block's type: a map, which HCL1 reads like a block."""

_HCL1_NAME = re.compile(r"[^\W\d][\w.-]*")
_NAME = re.compile(r"[^\W\d][\w-]*")
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])")
_WORD = re.compile(r"[\w.]+")
_REFERENCE = re.compile(r"(?:\.[^\W\d][\w-]*|\.\d+|\[\"[^\"\\\n$%]*\"\]|\[\d+\])+")
_OPERATOR = re.compile(r"[+\-*%<>!&|?\[(.]|/(?!/)|==|=>")
_KEY_OF_LOOP = re.compile(r"for[ \t]+[^\W\d]")
_RUNTIME_ROOTS = frozenset({"attr", "device", "env", "meta", "node"})
_WORDS = {"true": True, "false": False, "null": None}


def parsed(text: str, dialect: scan.Dialect, scope: Mapping[str, Any]) -> "Parser":
    """Return the parser of *text* with its content and its problems; *scope* has the values of variables."""
    made = Parser(text=text, dialect=dialect, scope=scope)
    with contextlib.suppress(scan.UnreadableError):  # the problem is in the list
        made.found = made.json() if dialect == "json" else made.body("", "")
    return made


@dataclass(kw_only=True)
class Parser(scan.Scanner):
    """Parses one text, and collects its problems."""

    scope: Mapping[str, Any] = field(default_factory=dict)
    """Values by ``var.name`` and ``local.name``."""

    unknown: list[values.Unevaluated] = field(default_factory=list)
    """Expressions that only Nomad computes, in their order."""

    is_twice: bool = False
    """Whether the file names the id of a volume twice."""

    found: values.Map = field(default_factory=values.Map)
    """The content, as far as it could be read."""

    def json(self) -> values.Map:
        """Return the content of a text in JSON."""
        self.skip()
        found = self._value()
        if not isinstance(found, values.Map):
            self.report(0, "a JSON object")
            return values.Map()
        return found

    def body(self, closing: str, kind: str) -> values.Map:
        """Return the attributes and blocks up to *closing*; *kind* is the type of the block, or `_MAP`."""
        found = values.Map(self.line(self.position))
        block_types: set[str] = set()
        is_first = True
        while True:
            gap = self.skip()
            if self._skip_to_end(closing):
                return found
            if not is_first and "\n" not in gap:
                self._refuse_one_line()
            self._item(found, block_types, kind)
            is_first = False
            if self.dialect == "volume":
                self._skip_comma()

    def _skip_to_end(self, closing: str) -> bool:
        """Return whether *closing* is at the position, and skip it; empty *closing*: whether the file ends."""
        if self.position >= len(self.text) and not closing:
            return True
        if self.peek() != closing:
            return False
        self.position += 1
        return True

    def _skip_comma(self) -> None:
        """Skip the comma that HCL1 allows after an item."""
        self.skip()
        if self.text.startswith(",", self.position):
            self.position += 1

    def _item(self, found: values.Map, block_types: set[str], kind: str) -> None:
        """Read one attribute or block into *found*."""
        start = self.position
        names = [self._name(may_be_quoted=self.dialect == "volume")]
        while True:
            self.skip_to_sign()
            sign = self.peek()
            if sign == "=" and len(names) == 1:
                self.position += 1
                self._attribute(found, names[0], start, kind)
                return
            if sign == "{":
                self.position += 1
                self._block(found, names, start, block_types)
                return
            if sign != '"' and not _NAME.match(self.text, self.position):
                self.fail(self.position)
            names.append(self._name(may_be_quoted=True))

    def _name(self, *, may_be_quoted: bool) -> str:
        if self.peek() == '"':
            if not may_be_quoted:
                self.fail(self.position, QUOTED_NAME_FIX)
            found = self._string()
            return found if isinstance(found, str) else ""
        pattern = _HCL1_NAME if self.dialect == "volume" else _NAME
        return self.take(pattern)

    def _attribute(self, found: values.Map, name: str, start: int, kind: str) -> None:
        if kind == "validation" or (kind == "variable" and name != "default"):
            self.skip_to_sign()
            begin = self.position
            self.skip_expression()
            if name == "type":
                found.put(name, self.text[begin : self.position].strip(), self.line(start))
            return
        self.skip_to_sign()
        value = self._value()
        if name not in found:
            found.put(name, value, self.line(start))
        elif kind == _MAP:
            self.report(start, "each key once", f"{name!a} again", _ONE_BLOCK_FIX if "/" in name else "")
        else:
            self.is_twice |= name == "id" and not kind
            self.report(start, "each name once", f"{name} again")

    def _block(self, found: values.Map, names: list[str], start: int, block_types: set[str]) -> None:
        name, *labels = names
        is_dynamic = self.dialect == "job" and name == "dynamic"
        before = len(self.unknown)
        content = self.nested(lambda: self.body("}", name))
        content.line = self.line(start)
        if labels:
            content[values.LABELS] = labels
        if is_dynamic:
            name = "".join(labels)
            del self.unknown[before:]
        if name in found and name not in block_types:
            self.report(start, "each name once", f"{name} again")
            return
        block_types.add(name)
        if name not in found:
            found.put(name, values.Items(self.line(start)), self.line(start))
        item = self._not_known(start, f'dynamic "{name}"') if is_dynamic else content
        found.written(name).put(item, self.line(start))

    def _value(self) -> Any:
        """Return the value of an expression; what only Nomad computes, as `values.Unevaluated`."""
        start, before = self.position, len(self.unknown)
        value = self.nested(self._term)
        if self.dialect == "job" and self.text[start : start + 2] != "<<" and self._continues():
            del self.unknown[before:]
            return self._skipped(start)
        return value

    def _continues(self) -> bool:
        before = self.position
        self.skip_inline()
        position, self.position = self.position, before
        return _OPERATOR.match(self.text, position) is not None

    def _term(self) -> Any:
        sign = self.peek()
        if sign == '"':
            return self._string()
        if sign == "[":
            return self._list()
        if sign == "{":
            self.position += 1
            return self.body("}", _MAP) if self.dialect == "volume" else self._object()
        if sign == "-":
            return self._negative()
        if sign.isdigit():
            return self._number()
        if self.text.startswith("<<", self.position) and self.dialect != "json":
            return self._heredoc()
        if _NAME.match(self.text, self.position):
            return self._named()
        if self.dialect != "job" or sign not in {"!", "("}:
            self.fail(self.position)
        return self._skipped(self.position)

    def _negative(self) -> Any:
        start = self.position
        self.position += 1
        self.skip_inline()
        if self.peek().isdigit():
            return -self._number()
        if self.dialect != "job":
            self.fail(self.position)
        return self._skipped(start)

    def _number(self) -> int | float:
        start = self.position
        match = _NUMBER.match(self.text, start)
        word = _WORD.match(self.text, start)
        source = match[0] if match else (word[0] if word else "")
        self.position += len(source)
        if match is None:
            self.report(start, "a number of decimal digits", source)
            return 0
        if len(source) > 1 and source[0] == "0" and source[1].isdigit():
            self.report(start, "a number without leading zeros, which HCL1 reads as octal", source)
        return int(source) if source.isdigit() else float(source)

    def _named(self) -> Any:
        """Return the value of a word: true, false, null, a variable of the file, a runtime variable of the client."""
        start = self.position
        word = self.take(_NAME)
        if word in _WORDS and not (word == "null" and self.dialect == "volume"):
            return _WORDS[word]
        if self.dialect != "job":
            self.report(start, "a text in quotes, a number, true, false, a list or a map", word)
            return ""
        match = _REFERENCE.match(self.text, self.position)
        path = word + (match[0] if match else "")
        if match:
            self.position = match.end()
        if path in self.scope:
            return self.scope[path]
        if (word in _RUNTIME_ROOTS and match) or word.startswith("NOMAD_"):
            return f"${{{path}}}"
        return self._skipped(start)

    def _list(self) -> Any:
        start = self.position
        found = values.Items(self.line(start))
        self.position += 1
        self.skip()
        if self.dialect == "job" and _KEY_OF_LOOP.match(self.text, self.position):
            return self._loop(start)
        while self.peek() != "]":
            line = self.line(self.position)
            found.put(self._value(), line)
            self.skip()
            if self.peek() == ",":
                self.position += 1
                self.skip()
            elif self.peek() != "]":
                self.fail(self.position)
        self.position += 1
        return found

    def _object(self) -> Any:
        start = self.position - 1
        found = values.Map(self.line(start))
        self.skip()
        if self.dialect == "job" and _KEY_OF_LOOP.match(self.text, self.position):
            return self._loop(start)
        while self.peek() != "}":
            if self.peek() == "(":
                return self._loop(start)  # a computed key may be any key
            self._entry(found)
            gap = self.skip()
            if self.peek() == ",":
                self.position += 1
                self.skip()
            elif self.peek() != "}" and "\n" not in gap:
                self._refuse_one_line()
        self.position += 1
        return found

    def _entry(self, found: values.Map) -> None:
        start = self.position
        key = self._key()
        self.skip_inline()
        if self.peek() not in {"=", ":"}:
            self.fail(self.position)
        self.position += 1
        self.skip()
        value = self._value()
        if key in found:
            self.report(start, "each key once", f"{key!a} again")
        else:
            found.put(key, value, self.line(start))

    def _key(self) -> str:
        if self.peek() == '"':
            found = self._string()
            return found if isinstance(found, str) else ""
        return str(self._number()) if self.peek().isdigit() else self.take(_NAME)

    def _loop(self, start: int) -> values.Unevaluated:
        """Return the list or the map that starts at *start*, unread."""
        self.position = start
        self.skip_brackets()
        return self._not_known(start)

    def _string(self) -> Any:
        """Return the quoted string at the position; the variable's value if it consists of one variable."""
        start = self.position
        end = self.end_of_string(start)
        self.position = end
        source = self.text[start:end]
        if self.dialect == "json":
            return json.loads(source, strict=False)
        whole = literals.WHOLE_VARIABLE.fullmatch(source) if self.dialect == "job" else None
        if whole and whole[1] in self.scope:
            return self.scope[whole[1]]
        return self._decoded(source, start)

    def _heredoc(self) -> Any:
        start = self.position
        match = scan.HEREDOCS[self.dialect].match(self.text, start)
        if match is None:
            self.fail(start)
        self.position = match.end()
        return self._decoded(match[0], start, is_heredoc=True)

    def _decoded(self, source: str, start: int, *, is_heredoc: bool = False) -> Any:
        try:
            if self.dialect == "job":
                return (literals.hcl2_heredoc if is_heredoc else literals.hcl2)(source, self.scope)
            return (literals.hcl1_heredoc if is_heredoc else literals.hcl1)(source)
        except literals.NotEvaluatedError:
            return self._not_known(start)
        except literals.LiteralError as error:
            self.report(start, str(error))
            return ""

    def _refuse_one_line(self) -> None:
        """Report an entry on the line of the one before it, which only HCL1 allows."""
        if self.dialect != "volume":
            self.report(self.position, "a line for each attribute, block and key", "two on one line")

    def _skipped(self, start: int) -> values.Unevaluated:
        """Skip the expression at *start*, which only Nomad computes, and return it."""
        self.position = start
        self.skip_expression()
        return self._not_known(start)

    def _not_known(self, start: int, text: str = "") -> values.Unevaluated:
        """Note and return *text*, else that from *start* up to the position: its value is not known."""
        text = text or self.text[start : self.position].strip()
        is_quoted = text.startswith('"') and text.endswith('"')
        found = values.Unevaluated(text[1:-1] if is_quoted else text, self.line(start))
        self.unknown.append(found)
        return found
