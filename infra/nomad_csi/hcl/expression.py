"""
Read values of attributes: strings, numbers, lists, maps, and references.

Only ``var.name`` and ``local.name`` with a known value are evaluated; another expression is `values.Unevaluated`.
Runtime variables of the client (``attr.kernel.name``) stay strings of the form ``${attr.kernel.name}``, as in Nomad.
"""

import json
import re
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nomad_csi.hcl import literals, scan, values

NAME = re.compile(r"[^\W\d][\w-]*")
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])")
_WORD = re.compile(r"[\w.]+")
_REFERENCE = re.compile(r"(?:\.[^\W\d][\w-]*|\.\d+|\[\"[^\"\\\n$%]*\"\]|\[\d+\])+")
_OPERATOR = re.compile(r"[+\-*%<>!&|?\[(.]|/(?!/)|==|=>")
_KEY_OF_LOOP = re.compile(r"for[ \t]+[^\W\d]")
_RUNTIME_ROOTS = frozenset({"attr", "device", "env", "meta", "node"})
_WORDS = {"true": True, "false": False, "null": None}


@dataclass(kw_only=True)
class ExpressionReader(scan.Scanner):
    """Reads one expression at a time."""

    scope: Mapping[str, Any] = field(default_factory=dict)
    """Values by ``var.name`` and ``local.name``."""

    unknown: list[values.Unevaluated] = field(default_factory=list)
    """Expressions that only Nomad computes, in their order."""

    @abstractmethod
    def map_body(self) -> values.Map:
        """Return a map of HCL1, after its opening brace; it is read like a block."""

    def value(self) -> Any:
        """Return the value of an expression; what only Nomad computes, as `values.Unevaluated`."""
        start, before = self.position, len(self.unknown)
        value = self.nested(self._term)
        if self.dialect == "job" and self.text[start : start + 2] != "<<" and self._continues():
            del self.unknown[before:]
            return self.skipped(start)
        return value

    def _continues(self) -> bool:
        before = self.position
        self.skip_inline()
        position, self.position = self.position, before
        return _OPERATOR.match(self.text, position) is not None

    def _term(self) -> Any:
        sign = self.peek()
        if sign == '"':
            return self.string()
        if sign == "[":
            return self._list()
        if sign == "{":
            self.position += 1
            return self.map_body() if self.dialect == "volume" else self._object()
        if sign == "-":
            return self._negative()
        if sign.isdigit():
            return self._number()
        if self.text.startswith("<<", self.position) and self.dialect != "json":
            return self._heredoc()
        if NAME.match(self.text, self.position):
            return self._named()
        if self.dialect != "job" or sign not in {"!", "("}:
            self.fail(self.position)
        return self.skipped(self.position)

    def _negative(self) -> Any:
        start = self.position
        self.position += 1
        self.skip_inline()
        if self.peek().isdigit():
            return -self._number()
        if self.dialect != "job":
            self.fail(self.position)
        return self.skipped(start)

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
        word = self.take(NAME)
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
        return self.skipped(start)

    def _list(self) -> Any:
        start = self.position
        found = values.Items(self.line(start))
        self.position += 1
        self.skip()
        if self.dialect == "job" and _KEY_OF_LOOP.match(self.text, self.position):
            return self._loop(start)
        while self.peek() != "]":
            line = self.line(self.position)
            found.put(self.value(), line)
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
                self.not_apart(has_comma=False)
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
        value = self.value()
        if key in found:
            self.report(start, "each key once", f"{key!a} again")
        else:
            found.put(key, value, self.line(start))

    def _key(self) -> str:
        if self.peek() == '"':
            found = self.string()
            return found if isinstance(found, str) else ""
        return str(self._number()) if self.peek().isdigit() else self.take(NAME)

    def _loop(self, start: int) -> values.Unevaluated:
        """Return the list or the map that starts at *start*, unread."""
        self.position = start
        self.skip_brackets()
        return self.not_known(start)

    def string(self) -> Any:
        """Return the quoted string at the position; the variable's value if it consists of one variable."""
        start = self.position
        end = self.end_of_string(start)
        self.position = end
        source = self.text[start:end]
        if self.dialect == "json":
            return self._json_string(source, start)
        whole = literals.WHOLE_VARIABLE.fullmatch(source) if self.dialect == "job" else None
        if whole and whole[1] in self.scope:
            return self.scope[whole[1]]
        return self._decoded(source, start)

    def _json_string(self, source: str, start: int) -> str:
        found = str(json.loads(source, strict=False))
        if re.search(r"\\u[dD][89abAB]", source):
            self.notes.append(("json-surrogate", self.line(start)))
        return found

    def _heredoc(self) -> Any:
        start = self.position
        match = scan.HEREDOCS[self.dialect].match(self.text, start)
        if match is None:
            self.fail(start)
        self.position = match.end()
        return self._decoded(match[0], start, is_heredoc=True)

    def _decoded(self, source: str, start: int, *, is_heredoc: bool = False) -> Any:
        try:
            if self.dialect == "job" and literals.changes_in_hcl2(source, is_heredoc=is_heredoc):
                self.notes.append(("not-normalised", self.line(start)))
            if self.dialect == "job":
                return (literals.hcl2_heredoc if is_heredoc else literals.hcl2)(source, self.scope)
            return (literals.hcl1_heredoc if is_heredoc else literals.hcl1)(source)
        except literals.NotEvaluatedError:
            return self.not_known(start)
        except literals.LiteralError as error:
            self.report(start, str(error))
            return ""

    def not_apart(self, *, has_comma: bool) -> None:
        """Note or report an entry without the separator that HCL2 requires before it."""
        if self.dialect == "volume":
            if not has_comma:
                self.notes.append(("one-line", self.line(self.position)))
        else:
            self.report(self.position, "a line for each attribute, block and key", "two on one line")

    def skipped(self, start: int) -> values.Unevaluated:
        """Skip the expression at *start*, which only Nomad computes, and return it."""
        self.position = start
        self.skip_expression()
        return self.not_known(start)

    def not_known(self, start: int, text: str = "") -> values.Unevaluated:
        """Note and return *text*, else that from *start* up to the position: its value is not known."""
        text = text or self.text[start : self.position].strip()
        is_quoted = text.startswith('"') and text.endswith('"')
        found = values.Unevaluated(text[1:-1] if is_quoted else text, self.line(start))
        self.unknown.append(found)
        return found
