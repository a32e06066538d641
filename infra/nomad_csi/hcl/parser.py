"""
Parse the two dialects that Nomad reads: HCL2 (job files), HCL1 (volume files).

Only ``var.name`` and ``local.name`` with a known value are evaluated; another expression is `values.Unevaluated`.
Runtime variables of the client (``attr.kernel.name``) stay strings of the form ``${attr.kernel.name}``, as in Nomad.

Source: hashicorp/hcl ``hcl/parser/parser.go`` (v1.0.1-nomad-1); ``hclsyntax/spec.md`` (v2.20.2-nomad-1), 2026-08.
"""

import contextlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from nomad_csi import errors
from nomad_csi.hcl import literals, tokens, values

QUOTED_NAME_FIX = 'write a quoted name inside a map: segments = { "name" = "value" }'

_ONE_BLOCK_FIX = "write a topology block for each topology"

_TWO_VOLUMES_FIX = "write a file for each volume"

_MAP = "="
"""Instead of a block's type: a map, which HCL1 reads like a block."""

_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_REFERENCE = re.compile(r"(?:\.[^\W\d][\w-]*|\.\d+|\[\"[^\"\\\n$%]*\"\]|\[\d+\])+")
_OPERATORS = frozenset("+-*/%<>!&|?[(.")
_OPENERS, _CLOSERS = frozenset("{[("), frozenset("}])")
_RUNTIME_ROOTS = frozenset({"attr", "device", "env", "meta", "node"})
_WORDS = {"true": True, "false": False, "null": None}


class UnreadableError(Exception):
    """The rest of the text cannot be read; the problem is reported."""


@dataclass(kw_only=True)
class Parser:
    """Parses one text, and collects its problems."""

    text: str
    dialect: tokens.Dialect

    stream: list[tokens.Token]
    """The tokens of the text, without comments and line ends."""

    scope: Mapping[str, Any] = field(default_factory=dict)
    """Values by ``var.name`` and ``local.name``."""

    problems: list[errors.Problem] = field(default_factory=list)

    unknown: list[values.Unevaluated] = field(default_factory=list)
    """Expressions that only Nomad computes, in their order."""

    content: values.Map = field(default_factory=values.Map)
    """The content, as far as it could be read."""

    _index: int = 0

    def parse(self) -> None:
        """Read the content; the problems are in the list."""
        with contextlib.suppress(UnreadableError):
            self.content = self._body("", "")

    # Tokens.

    @property
    def _token(self) -> tokens.Token:
        return self.stream[self._index]

    @property
    def _is_on_new_line(self) -> bool:
        """Whether the token is on another line than the one before it."""
        return self._token.line > self.stream[self._index - 1].last_line

    def _next(self) -> tokens.Token:
        """Return the token, and skip it; stop reading at the end of the file."""
        token = self._token
        if token.kind == "end":
            self._fail()
        self._index += 1
        return token

    def _skip(self, text: str) -> bool:
        """Skip the token if it is *text*, empty for the end, and return whether it is."""
        if self._token.text != text:
            return False
        self._index += text != ""
        return True

    def _report(self, token: tokens.Token, allowed: str, got: str = "", fix: str = "") -> None:
        position = tokens.line_and_column(self.text, token.start)
        self.problems.append(errors.Problem(path=position, got=got, allowed=allowed, fix=fix))

    def _fail(self, fix: str = "") -> NoReturn:
        """Report a syntax error at the token, and stop reading."""
        self._report(self._token, "what HCL allows there", tokens.character_at(self.text, self._token.start), fix)
        raise UnreadableError

    # Bodies.

    def _body(self, closing: str, kind: str) -> values.Map:
        """Return the attributes and blocks up to *closing*; *kind* is the type of the block, or `_MAP`."""
        body = values.Map(self._token.line if closing else 1)
        block_types: set[str] = set()
        while not self._skip(closing):
            self._item(body, block_types, kind)
            if self.dialect == "volume":
                self._skip(",")
        return body

    def _item(self, body: values.Map, block_types: set[str], kind: str) -> None:
        """Read one attribute or block into *body*."""
        start = self._token
        names = [self._name(may_be_quoted=self.dialect == "volume")]
        while self.dialect == "volume" or not self._is_on_new_line:
            if len(names) == 1 and self._skip("="):
                self._attribute(body, names[0], start, kind)
                return
            if self._skip("{"):
                self._block(body, names, start, block_types)
                return
            names.append(self._name(may_be_quoted=True))
        self._fail()

    def _name(self, *, may_be_quoted: bool) -> str:
        token = self._token
        if token.kind == "string" and may_be_quoted:
            text = self._string()
            return text if isinstance(text, str) else ""
        if token.kind != "name":
            self._fail(QUOTED_NAME_FIX if token.kind == "string" else "")
        return self._next().text

    def _attribute(self, body: values.Map, name: str, start: tokens.Token, kind: str) -> None:
        before = len(self.unknown)
        value = self._value()
        if kind in {"variable", "validation"}:
            del self.unknown[before:]  # a type and a condition are no values of the job
        if name not in body:
            body.put(name, value, start.line)
        elif kind == _MAP:
            self._report(start, "each key once", f"{name!a} again", _ONE_BLOCK_FIX if "/" in name else "")
        else:
            self._report(start, "each name once", f"{name} again", _TWO_VOLUMES_FIX if name == "id" else "")

    def _block(self, body: values.Map, names: list[str], start: tokens.Token, block_types: set[str]) -> None:
        name, *labels = names
        is_dynamic = self.dialect == "job" and name == "dynamic"
        before = len(self.unknown)
        content = self._body("}", name)
        content.line = start.line
        if labels:
            content[values.LABELS] = labels
        if is_dynamic:
            name = "".join(labels)
            del self.unknown[before:]
        if name in body and name not in block_types:
            self._report(start, "each name once", f"{name} again")
            return
        block_types.add(name)
        if name not in body:
            body.put(name, [], start.line)
        item = self._not_known(start, f'dynamic "{name}"') if is_dynamic else content
        body.written(name).append(item)

    # Values.

    def _value(self) -> Any:
        """Return the value of an expression; what only Nomad computes, as `values.Unevaluated`."""
        start, before = self._index, len(self.unknown)
        value = self._term()
        token = self._token
        is_operator = token.kind in _OPERATORS or self.text.startswith("==", token.start)
        if self.dialect == "job" and is_operator and not self._is_on_new_line:
            del self.unknown[before:]
            return self._skipped(start)
        return value

    def _term(self) -> Any:
        token, start = self._token, self._index
        match token.kind:
            case "string" | "heredoc":
                return self._string()
            case "number":
                return self._number()
            case "name":
                return self._named()
            case "[":
                return self._list()
            case "{" if self.dialect == "volume":
                self._index += 1
                return self._body("}", _MAP)
            case "{":
                return self._object()
            case "-":
                self._index += 1
                if self._token.kind == "number":
                    return -self._number()
                self._index = start
        if self.dialect != "job" or token.kind not in {"!", "(", "-"}:
            self._fail()
        return self._skipped(start)

    def _number(self) -> int | float:
        token = self._next()
        digits = token.text
        if not _NUMBER.fullmatch(digits):
            self._report(token, "a number of decimal digits", digits)
            return 0
        if len(digits) > 1 and digits[0] == "0" and digits[1].isdigit():
            self._report(token, "a number without leading zeros, which HCL1 reads as octal", digits)
        return int(digits) if digits.isdigit() else float(digits)

    def _named(self) -> Any:
        """Return the value of a word: true, false, null, a variable of the file, a runtime variable of the client."""
        start, token = self._index, self._next()
        word = token.text
        if word in _WORDS and (word, self.dialect) != ("null", "volume"):
            return _WORDS[word]
        if self.dialect == "volume":
            self._report(token, "a text in quotes, a number, true, false, a list or a map", word)
            return ""
        match = _REFERENCE.match(self.text, token.end)
        path = word + (match[0] if match else "")
        while self._token.kind != "end" and self._token.start < token.start + len(path):
            self._index += 1
        if path in self.scope:
            return self.scope[path]
        if (word in _RUNTIME_ROOTS and match) or word.startswith("NOMAD_"):
            return f"${{{path}}}"
        return self._skipped(start)

    def _is_loop(self) -> bool:
        """Return whether the token begins a ``for`` expression, not a key of that name."""
        is_for = self.dialect == "job" and self._token.text == "for"
        return is_for and self.stream[self._index + 1].kind == "name"

    def _list(self) -> Any:
        start, elements = self._index, list[Any]()
        self._next()
        if self._is_loop():
            return self._skipped(start)
        while not self._skip("]"):
            elements.append(self._value())
            if not self._skip(",") and self._token.kind != "]":
                self._fail()
        return elements

    def _object(self) -> Any:
        start, entries = self._index, values.Map(self._next().line)
        if self._is_loop():
            return self._skipped(start)
        while not self._skip("}"):
            if self._token.kind == "(":
                return self._skipped(start)  # a computed key may be any key
            self._entry(entries)
            self._skip(",")
        return entries

    def _entry(self, entries: values.Map) -> None:
        start = self._token
        key = str(self._number()) if start.kind == "number" else self._name(may_be_quoted=True)
        if not self._skip("=") and not self._skip(":"):
            self._fail()
        value = self._value()
        if key in entries:
            self._report(start, "each key once", f"{key!a} again")
        else:
            entries.put(key, value, start.line)

    def _string(self) -> Any:
        """Return the string or heredoc at the position; the variable's value if it consists of one variable."""
        token = self._next()
        whole = literals.WHOLE_VARIABLE.fullmatch(token.text) if self.dialect == "job" else None
        if whole and whole[1] in self.scope:
            return self.scope[whole[1]]
        return self._decoded(token)

    def _decoded(self, token: tokens.Token) -> Any:
        try:
            return literals.hcl2(token.text, self.scope) if self.dialect == "job" else literals.hcl1(token.text)
        except literals.NotEvaluatedError:
            return self._not_known(token)
        except literals.LiteralError as error:
            self._report(token, str(error))
            return ""

    def _skipped(self, start: int) -> values.Unevaluated:
        """Skip the expression at *start*, which only Nomad computes, to its end on a line, and return it."""
        self._index, depth = start, 0
        while depth or not (self._index > start and self._is_on_new_line):
            kind = self._token.kind
            if depth == 0 and (kind in {",", "end"} or kind in _CLOSERS):
                break
            depth += (kind in _OPENERS) - (kind in _CLOSERS)
            self._next()
        return self._not_known(self.stream[start])

    def _not_known(self, start: tokens.Token, text: str = "") -> values.Unevaluated:
        """Note and return *text*, else that from *start* up to the position: its value is not known."""
        text = text or self.text[start.start : self.stream[self._index - 1].end]
        is_quoted = text.startswith('"') and text.endswith('"')
        unevaluated = values.Unevaluated(text[1:-1] if is_quoted else text, start.line)
        self.unknown.append(unevaluated)
        return unevaluated
