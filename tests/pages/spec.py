"""
The page of the spec: examples from ``spec.md`` beside this file, and every key with its type, default and meaning.

Each table has the path of its keys as its heading, and tables stand in the order in which a reader of a spec meets them.
"""

import json
from pathlib import Path

from nomad_csi.spec import schema
from tests.pages import spec_keys, table

_PARTS = frozenset({"VolumePreset", "VolumePart"})
"""Models with the keys of a volume, all optional: they have no table of their own."""

_WORDS = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}


def page():
    """Return the page."""
    return "\n".join(
        [
            Path(__file__).with_name("spec.md").read_text(encoding="utf-8"),
            "## Every key\n",
            "`-`: optional, no default. `[]` stands for each item of a list, `{}` for each name of a mapping.\n",
            *_Tables(schema.document()).lines(),
        ]
    )


class _Tables:
    def __init__(self, document):
        self.document, self.parts = document, document["$defs"]
        self.paths = {}
        """The path at which a model is met first, by its name."""
        self._find(document, "")

    def _find(self, part, path):
        found = []
        for key, value in part.get("properties", {}).items():
            for name, suffix in _models(value):
                if name not in self.paths and name not in _PARTS:
                    self.paths[name] = f"{path}.{key}{suffix}".lstrip(".")
                    found.append(name)
        for name in found:
            self._find(self.parts[name], self.paths[name])

    def lines(self):
        yield "### The spec\n"
        yield from self._table(self.document)
        for name, path in sorted(self.paths.items(), key=lambda item: self._order(item[1])):
            yield f"### `{path}`\n"
            yield f"{self.parts[name]['description']}\n"
            yield from self._table(self.parts[name])

    def _order(self, path):
        """Plugins and volumes first; what is inside of a table follows it."""
        head = path.partition("[")[0].partition("{")[0].partition(".")[0]
        return (["plugins", "volumes"].index(head) if head in ("plugins", "volumes") else 2, path.split("."))

    def _table(self, part):
        required = part.get("required", ())
        rows = (
            (
                f"`{key}`",
                self._type(value),
                "required" if key in required else _default(value),
                spec_keys.meaning(value, self.parts),
            )
            for key, value in part["properties"].items()
        )
        return table(("key", "type", "default", "meaning"), rows)

    def _type(self, value):
        """Return the type as text: ``list of text``, ``whole number, 1 to 100``, a link to the table of a mapping."""
        if "$ref" in value:
            return self._link(value["$ref"].rpartition("/")[2])
        choices = [item for item in value.get("anyOf", value.get("oneOf", ())) if item.get("type") != "null"]
        if choices:
            return " or ".join(map(self._type, choices))
        if "enum" in value or "const" in value:
            return ", ".join(f"`{item}`" for item in value.get("enum", [value.get("const")]))
        if value.get("type") == "array":
            return f"list of {self._type(value['items'])}"
        if value.get("type") == "object":
            inner = _inner(value)
            return "mapping" if isinstance(inner, bool) else f"mapping of names to {self._type(inner)}"
        return _WORDS.get(value.get("type", ""), "anything") + spec_keys.bounds(value)

    def _link(self, name):
        path = self.paths["VolumeSpec"] if name in _PARTS else self.paths[name]
        text = f"[`{path}`](#{''.join(each for each in path.lower() if each.isalnum() or each == '_')})"
        return f"parts of {text}" if name in _PARTS else text


def _inner(value):
    named = value.get("patternProperties", {})
    return next(iter(named.values()), value.get("additionalProperties", True))


def _models(value, suffix=""):
    """Yield the names of the models of *value*, each with ``[]`` for a list and ``{}`` for a mapping around it."""
    if "$ref" in value:
        yield value["$ref"].rpartition("/")[2], suffix
    for item in value.get("anyOf", value.get("oneOf", ())):
        yield from _models(item, suffix)
    if value.get("type") == "array":
        yield from _models(value["items"], f"{suffix}[]")
    if value.get("type") == "object" and not isinstance(_inner(value), bool):
        yield from _models(_inner(value), f"{suffix}{{}}")


def _default(value):
    default = value.get("default")
    if default is None or default in ([], {}, "") or isinstance(default, dict):
        return "-"
    return f"`{json.dumps(default)}`"
