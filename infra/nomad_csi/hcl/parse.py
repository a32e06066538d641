"""
One parser for the three kinds of text that Nomad reads: HCL2 (job files), HCL1 (volume files), JSON (both).

Source: hashicorp/hcl ``hcl/parser/parser.go`` (v1.0.1-nomad-1); ``hclsyntax/spec.md`` (v2.20.2-nomad-1), 2026-08.
"""

import re
from dataclasses import dataclass, field

from nomad_csi.hcl import expression, scan, values

QUOTED_NAME_FIX = 'write a quoted name inside a map: segments = { "name" = "value" }'

_MAP = "="
"""In place of a block's type: a map, which HCL1 reads as it does a block."""

_HCL1_NAME = re.compile(r"[^\W\d][\w.-]*")


@dataclass(kw_only=True)
class HclParser(expression.ExpressionReader):
    """Reads one text, and collects what is wrong with it and which odd forms it has."""

    found: values.Map = field(default_factory=values.Map)
    """The whole text, after `read`, as far as it could be read."""

    def read(self) -> None:
        """Read the text into ``found``; what is wrong is in ``problems``."""
        try:
            self.found = self._json() if self.dialect.name == "json" else self._body("", "")
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
        """Return a map of HCL1, behind its opening brace: it is read as a block is."""
        return self._body("}", _MAP)

    def _body(self, closing: str, kind: str) -> values.Map:
        """Return the attributes and blocks up to *closing*; *kind* is the type of the block, or `_MAP`."""
        found = values.Map(self.line(self.position))
        block_types: set[str] = set()
        before = "\n"
        while True:
            gap = self.skip()
            if self._at_end(closing):
                return found
            if "\n" not in before + gap:
                self.not_apart(has_comma=kind == _MAP and "," in before)
            self._item(found, block_types, kind)
            before = self._comma()

    def _at_end(self, closing: str) -> bool:
        """Go behind *closing*, or to the end of the file where there is none; return whether it is here."""
        if self.position >= len(self.text) and not closing:
            return True
        if self.peek() != closing:
            return False
        self.position += 1
        return True

    def _comma(self) -> str:
        """Return the space behind an item, and the comma that HCL1 allows there."""
        if self.dialect.name != "volume":
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
        names = [self._name(may_be_quoted=self.dialect.name == "volume")]
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
        pattern = _HCL1_NAME if self.dialect.name == "volume" else expression.NAME
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
        if self.dialect.name == "job" and name == "dynamic":
            self.evaluated(start)
        if name in found and name not in block_types:
            self.report(start, "each name once", f"{name} again")
            return
        block_types.add(name)
        if name not in found:
            found.put(name, values.Items(self.line(start)), self.line(start))
        found[name].put(content, self.line(start))
