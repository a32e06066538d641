"""
Read job files and volume files as plain Python values, with strings decoded like Nomad.

A file becomes a dict. An attribute is its value: ``str``, ``int``, ``float``, ``bool``, ``None``, list or dict. A block
type is a list with a dict for each block, in order; its labels are under `values.LABELS`. So

    job "mysql" { group "db" { count = 1 } }

reads as ``{"job": [{"__labels__": ["mysql"], "group": [{"__labels__": ["db"], "count": 1}]}]}``. The dicts and lists
know their lines (`values.Map`, `values.Items`).

Volume files are HCL1, with its special forms: quoted names in a block (``segments { "a/b" = "c" }``), several
attributes on a line. Job files are HCL2. Either may be JSON. Stricter than Nomad where Nomad silently loses data:
duplicate names or keys are refused. Variables and locals with a known value are evaluated; functions, operators and
``dynamic`` blocks are not: their values are `values.Unevaluated`.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any, Literal

from nomad_csi import errors
from nomad_csi.hcl import expression, scan, source, values, variables

# One parser for the three formats that Nomad reads: HCL2 (job files), HCL1 (volume files), JSON (both).
#
# Source: hashicorp/hcl ``hcl/parser/parser.go`` (v1.0.1-nomad-1); ``hclsyntax/spec.md`` (v2.20.2-nomad-1), 2026-08.


QUOTED_NAME_FIX = 'write a quoted name inside a map: segments = { "name" = "value" }'

_TWO_VOLUMES = errors.Problem(
    path="", got="two", allowed="one volume in a file", fix="write a file for each: Nomad would keep parts of both"
)

_ONE_BLOCK_FIX = "write a topology block for each place"

_MAP = "="
"""Instead of a block's type: a map, which HCL1 reads like a block."""

_HCL1_NAME = re.compile(r"[^\W\d][\w.-]*")


@dataclass(kw_only=True)
class HclParser(expression.ExpressionReader):
    """Reads one text, and collects its problems and unusual forms."""

    is_twice: bool = False
    """Whether the file names the id of a volume twice."""

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
            self.skip_to_sign()
            begin = self.position
            self.skip_expression()
            if name == "type":
                found.put(name, self.text[begin : self.position].strip(), self.line(start))
            return
        self.skip_to_sign()
        value = self.value()
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
        content = self.nested(lambda: self._body("}", name))
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
        item = self.not_known(start, f'dynamic "{name}"') if is_dynamic else content
        found.written(name).put(item, self.line(start))


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

    unknown: tuple[values.Unevaluated, ...] = ()
    """Values that only Nomad computes."""


def read_job(text: str, name: str = "") -> values.Map:
    """
    Return the job file *text*; *name* is the file's, for errors.

    Raises `errors.SpecError` with every problem and its line, also for a value that only Nomad computes; reading stops
    at a syntax error.
    """
    found = reading(text, name or "the job file", "job")
    allowed = "a text, a number, true, false, null, a list or a map"
    if found.unknown:
        problems = (
            errors.Problem(path=f"line {item.line}", got=item.expression, allowed=allowed) for item in found.unknown
        )
        raise errors.SpecError(tuple(problems), source=name or "the job file")
    return found.content


def read_volume(text: str, name: str = "") -> values.Map:
    """Return the volume file *text*, legacy forms (``context { }`` as a block) included; otherwise as `read_job`."""
    return reading(text, name or "the volume file", "volume").content


def reading(text: str, name: str, dialect: scan.Dialect, given: variables.Given = variables.NONE) -> Reading:
    """
    Return the content of *text*, with its unusual forms. JSON is detected by its first character.

    *given* are values for the variables of a job file. Raises `errors.SpecError`.
    """
    source.check(text, name, may_begin_with_mark=dialect == "job")
    text = text.removeprefix(source.BYTE_ORDER_MARK)
    is_json = text.lstrip()[:1] in {"{", "["}
    if is_json:
        _check_json(text, name)
    parser = _parsed(text, "json" if is_json else dialect, given)
    if dialect == "volume" and parser.is_twice:
        raise errors.SpecError((_TWO_VOLUMES,), source=name)
    if parser.problems:
        raise errors.SpecError(tuple(parser.problems), source=name)
    for item in parser.unknown:
        item.file = name
    return Reading(
        content=parser.found,
        form="json" if is_json else "hcl",
        notes=tuple(parser.notes),
        unknown=tuple(parser.unknown),
    )


def _parsed(text: str, dialect: scan.Dialect, given: variables.Given) -> HclParser:
    scope: dict[str, Any] = {}
    for _ in range(_PASSES if dialect == "job" else 0):
        first = HclParser(text=text, dialect=dialect, scope=scope)
        first.read()
        known = _scope(first.found, given)
        if known == scope:
            break
        scope = known
    parser = HclParser(text=text, dialect=dialect, scope=scope)
    parser.read()
    return parser


def _scope(found: values.Map, given: variables.Given) -> dict[str, Any]:
    """Return the known values of variables and locals, by their names in expressions."""
    scope: dict[str, Any] = {}
    for variable in values.blocks(found, "variable"):
        for label in variable.labels:
            scope[f"var.{label}"] = _variable(label, variable, given)
    for block in values.blocks(found, "variables"):
        scope |= {f"var.{name}": given.values.get(name, given.texts.get(name, block.written(name))) for name in block}
    for block in values.blocks(found, "locals"):
        scope |= {f"local.{name}": block.written(name) for name in block}
    return {name: value for name, value in scope.items() if _is_known(value)}


_NOT_GIVEN = values.Unevaluated("no value")


def _variable(name: str, variable: values.Map, given: variables.Given) -> Any:
    """Return the value of a variable: the given one, else its default."""
    if name in given.values:
        return given.values[name]
    if name not in given.texts:
        return variable.written("default") if "default" in variable else _NOT_GIVEN
    text, kind = given.texts[name], variable.get("type", "string")
    if kind in {"string", "any"}:
        return text
    parser = HclParser(text=f"value = {text}", dialect="job")
    parser.read()
    if parser.problems or "value" not in parser.found:
        problem = errors.Problem(path=f"var.{name}", got=ascii(text), allowed=f"a value of type {kind}")
        raise errors.SpecError((problem,), source="the variables given")
    return parser.found.written("value")


def _is_known(value: Any) -> bool:
    match value:
        case values.Map():
            return all(map(_is_known, map(value.written, value)))
        case list():
            return all(map(_is_known, value))
    return not isinstance(value, values.Unevaluated)


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
