"""
Read job files and volume files as plain Python values, with strings decoded like Nomad.

A file becomes a dict. An attribute is its value: ``str``, ``int``, ``float``, ``bool``, ``None``, list or dict. A block
type is a list with a dict for each block, in order; its labels are under `values.LABELS`. So

    job "mysql" { group "db" { count = 1 } }

reads as ``{"job": [{"__labels__": ["mysql"], "group": [{"__labels__": ["db"], "count": 1}]}]}``. The dicts and lists
know their lines (`values.Map`, `values.Items`).

Volume files are HCL1, with its special forms: quoted names in a block (``segments { "a/b" = "c" }``), several
attributes on a line. Job files are HCL2. Either may be JSON. Stricter than Nomad where Nomad silently loses data:
duplicate names or keys are refused. Functions and operators are not evaluated but refused; variables and locals with a
value in the file itself are evaluated.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from nomad_csi import errors
from nomad_csi.hcl import expression, scan, source, values

# One parser for the three formats that Nomad reads: HCL2 (job files), HCL1 (volume files), JSON (both).
#
# Source: hashicorp/hcl ``hcl/parser/parser.go`` (v1.0.1-nomad-1); ``hclsyntax/spec.md`` (v2.20.2-nomad-1), 2026-08.


QUOTED_NAME_FIX = 'write a quoted name inside a map: segments = { "name" = "value" }'

_MAP = "="
"""Instead of a block's type: a map, which HCL1 reads like a block."""

_HCL1_NAME = re.compile(r"[^\W\d][\w.-]*")


@dataclass(kw_only=True)
class HclParser(expression.ExpressionReader):
    """Reads one text, and collects its problems and unusual forms."""

    found: values.Map = field(default_factory=values.Map)
    """The content, after `read`, as far as it could be read."""

    def read(self) -> None:
        """Read the text into ``found``, and its problems into ``problems``."""
        try:
            self.found = self._json() if self.dialect == "json" else self._body("", "")
        except scan.UnreadableError:
            return

    def _json(self) -> values.Map:
        self.skip()
        found = self.value()
        if not isinstance(found, values.Map):
            self.report(0, "a JSON object")
            return values.Map()
        return found

    def map_body(self) -> values.Map:
        """Return a map of HCL1, after its opening brace; it is read like a block."""
        return self._body("}", _MAP)

    def _body(self, closing: str, kind: str) -> values.Map:
        """Return the attributes and blocks up to *closing*; *kind* is the type of the block, or `_MAP`."""
        found = values.Map(self.line(self.position))
        block_types: set[str] = set()
        before = "\n"
        while True:
            gap = self.skip()
            if self._skip_to_end(closing):
                return found
            if "\n" not in before + gap:
                self.not_apart(has_comma=kind == _MAP and "," in before)
            self._item(found, block_types, kind)
            before = self._comma()

    def _skip_to_end(self, closing: str) -> bool:
        """Return whether *closing* is at the position, and skip it; empty *closing*: whether the file ends."""
        if self.position >= len(self.text) and not closing:
            return True
        if self.peek() != closing:
            return False
        self.position += 1
        return True

    def _comma(self) -> str:
        """Return the space after an item, and the comma that HCL1 allows there."""
        if self.dialect != "volume":
            return ""
        gap = self.skip()
        if self.position < len(self.text) and self.text[self.position] == ",":
            self.position += 1
            return gap + ","
        return gap

    def _item(self, found: values.Map, block_types: set[str], kind: str) -> None:
        """Read one attribute or block into *found*."""
        start = self.position
        is_quoted = self.text[start] == '"'
        names = [self._name(may_be_quoted=self.dialect == "volume")]
        while True:
            self.skip_to_sign()
            sign = self.peek()
            if sign == "=" and len(names) == 1:
                self.position += 1
                if is_quoted and kind != _MAP:
                    self.notes.append(("quoted-name", self.line(start)))
                self._attribute(found, names[0], start, kind)
                return
            if sign == "{":
                self.position += 1
                self._block(found, names, start, block_types)
                return
            if sign != '"' and not expression.NAME.match(self.text, self.position):
                self.fail(self.position)
            names.append(self._name(may_be_quoted=True))

    def _name(self, *, may_be_quoted: bool) -> str:
        if self.peek() == '"':
            if not may_be_quoted:
                self.fail(self.position, QUOTED_NAME_FIX)
            found = self.string()
            return found if isinstance(found, str) else ""
        pattern = _HCL1_NAME if self.dialect == "volume" else expression.NAME
        return self.take(pattern)

    def _attribute(self, found: values.Map, name: str, start: int, kind: str) -> None:
        if kind == "validation" or (kind == "variable" and name != "default"):
            self.skip_expression()
            return
        self.skip_to_sign()
        value = self.value()
        if name not in found:
            found.put(name, value, self.line(start))
        elif kind == _MAP:
            self.report(start, "each key once", f"{name!a} again")
        else:
            self.report(start, "each name once", f"{name} again")

    def _block(self, found: values.Map, names: list[str], start: int, block_types: set[str]) -> None:
        name, *labels = names
        content = self.nested(lambda: self._body("}", name))
        content.line = self.line(start)
        if labels:
            content[values.LABELS] = labels
        if self.dialect == "job" and name == "dynamic":
            self.evaluated(start)
        if name in found and name not in block_types:
            self.report(start, "each name once", f"{name} again")
            return
        block_types.add(name)
        if name not in found:
            found.put(name, values.Items(self.line(start)), self.line(start))
        found[name].put(content, self.line(start))


# From parser results to plain values.


_PASSES = 3
"""The first pass yields variables, the second locals that use variables, the third locals that use locals."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Content of a text, with its format and notes."""

    content: values.Map
    form: Literal["hcl", "json"]
    notes: tuple[tuple[scan.Note, int], ...] = ()
    """Forms that some HCL parsers refuse, each with its line."""


def read_job(text: str, name: str = "") -> values.Map:
    """
    Return the job file *text*; *name* is the file's, for errors.

    Raises `errors.SpecError` with every problem and its line; reading stops at a syntax error.
    """
    return reading(text, name or "the job file", "job").content


def read_volume(text: str, name: str = "") -> values.Map:
    """Return the volume file *text*, legacy forms (``context { }`` as a block) included; otherwise as `read_job`."""
    return reading(text, name or "the volume file", "volume").content


def reading(text: str, name: str, dialect: scan.Dialect) -> Reading:
    """Return the content of *text*, with its unusual forms. JSON is detected by its first character."""
    source.check(text, name, may_begin_with_mark=dialect == "job")
    text = text.removeprefix(source.BYTE_ORDER_MARK)
    is_json = text.lstrip()[:1] in {"{", "["}
    if is_json:
        _check_json(text, name)
    parser = _parsed(text, "json" if is_json else dialect)
    if parser.problems:
        raise errors.SpecError(tuple(parser.problems), source=name)
    return Reading(content=parser.found, form="json" if is_json else "hcl", notes=tuple(parser.notes))


def _parsed(text: str, dialect: scan.Dialect) -> HclParser:
    scope: dict[str, Any] = {}
    for _ in range(_PASSES if dialect == "job" else 0):
        first = HclParser(text=text, dialect=dialect, scope=scope)
        first.read()
        known = _scope(first.found)
        if known == scope:
            break
        scope = known
    parser = HclParser(text=text, dialect=dialect, scope=scope)
    parser.read()
    return parser


def _scope(found: values.Map) -> dict[str, Any]:
    """Return the values of the file's own variables and locals, by their names in expressions."""
    scope: dict[str, Any] = {}
    for variable in values.blocks(found, "variable"):
        for label in variable.labels:
            scope |= {f"var.{label}": variable["default"]} if "default" in variable else {}
    for block in values.blocks(found, "variables"):
        scope |= {f"var.{name}": value for name, value in block.items()}
    for block in values.blocks(found, "locals"):
        scope |= {f"local.{name}": value for name, value in block.items()}
    return {name: value for name, value in scope.items() if _is_known(value)}


def _is_known(value: Any) -> bool:
    match value:
        case Mapping():
            return all(map(_is_known, value.values()))
        case list():
            return all(map(_is_known, value))
    return value is not expression.UNKNOWN


def _check_json(text: str, name: str) -> None:
    try:
        json.loads(text, strict=False)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        problem = errors.Problem(path=where, got=error.msg[0].lower() + error.msg[1:], allowed="JSON")
        raise errors.SpecError((problem,), source=name) from None
    except RecursionError:
        problem = errors.Problem(path="", got="hundreds of levels", allowed="a file with a few levels of brackets")
        raise errors.SpecError((problem,), source=name) from None
