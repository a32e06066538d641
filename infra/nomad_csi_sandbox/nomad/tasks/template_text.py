"""
The part of consul-template that our job files use: Nomad variables in a file. Pure. Part of the Nomad emulator.

Played: ``{{ with nomadVar "PATH" }}``, ``{{ if [not] .ITEM.Value }}``, ``{{ else }}``, ``{{ end }}``,
``{{ .ITEM.Value }}``, ``{{ .ITEM }}``, ``| toJSON``, ``{{ env "NAME" }}``, and dashes that take the space beside them.
A variable that does not exist holds the whole file back, as in Nomad; an item that does not exist is empty.
Source: hashicorp/consul-template v0.42.1, ``template/funcs.go``; tried on Nomad 2.0.6-dev, 2026-11.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Items = Mapping[str, str]
Lookup = Callable[[str], Items | None]

_ACTION = re.compile(r"\{\{(- )?(.*?)( -)?\}\}", re.DOTALL)
_WITH = re.compile(r'with nomadVar "([^"]+)"')
_IF = re.compile(r"if (not )?(\.\w+)(\.Value)?")
_ITEM = re.compile(r"(\.\w+)(\.Value)?(\s*\|\s*toJSON)?")
_VARIABLE = re.compile(r'nomadVar "([^"]+)"')
_ENVIRONMENT = re.compile(r'env "(\w+)"')


class MissingError(Exception):
    """Variables that do not exist: ``paths``."""

    def __init__(self, paths: tuple[str, ...]) -> None:
        super().__init__(", ".join(paths))
        self.paths = paths


class UnplayedError(Exception):
    """An action that the emulator does not know; reads as a sentence."""


@dataclass(kw_only=True)
class _Block:
    """An open ``with`` or ``if``."""

    items: Items | None
    """What a dot means in it; ``None``: it is left out."""

    kind: str
    outer: "_Block | None" = None
    done: bool = False
    """Whether a branch of it was written."""


@dataclass(kw_only=True)
class _Rendering:
    lookup: Lookup
    environment: Mapping[str, str]
    block: _Block = field(default_factory=lambda: _Block(items={}, kind=""))
    parts: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


def render(text: str, lookup: Lookup, environment: Mapping[str, str]) -> str:
    """Return *text* filled in. Raises `MissingError` for variables that do not exist, `UnplayedError`."""
    work = _Rendering(lookup=lookup, environment=environment)
    end, trims = 0, False
    for action in _ACTION.finditer(text):
        before = text[end : action.start()]
        before = before.lstrip() if trims else before
        _write(work, before.rstrip() if action[1] else before)
        _act(work, action[2].strip())
        end, trims = action.end(), bool(action[3])
    _write(work, text[end:].lstrip() if trims else text[end:])
    if work.block.outer is not None:
        raise UnplayedError(f"{{{{ {work.block.kind} }}}} has no end")
    if work.missing:
        raise MissingError(tuple(dict.fromkeys(work.missing)))
    return "".join(work.parts)


def _write(work: _Rendering, text: str) -> None:
    if work.block.items is not None:
        work.parts.append(text)


def _act(work: _Rendering, words: str) -> None:
    if words == "end":
        if work.block.outer is None:
            raise UnplayedError("{{ end }} without a beginning")
        work.block = work.block.outer
    elif words == "else":
        outer = work.block.outer
        work.block.items = None if outer is None or work.block.done else outer.items
    elif match := _WITH.fullmatch(words):
        _open(work, "with", _found(work, match[1]))
    elif match := _IF.fullmatch(words):
        holds = bool((work.block.items or {}).get(match[2][1:])) != bool(match[1])
        _open(work, "if", work.block.items if holds else None)
    else:
        _write(work, _value(work, words))


def _open(work: _Rendering, kind: str, items: Items | None) -> None:
    inside = items if work.block.items is not None else None
    work.block = _Block(items=inside, kind=kind, outer=work.block, done=inside is not None)


def _value(work: _Rendering, words: str) -> str:
    if match := _ITEM.fullmatch(words):
        value = (work.block.items or {}).get(match[1][1:], "")
        return _json(value) if match[3] else value
    if match := _VARIABLE.fullmatch(words):
        _found(work, match[1])
        return ""
    if match := _ENVIRONMENT.fullmatch(words):
        return work.environment.get(match[1], "")
    raise UnplayedError(f"the sandbox's Nomad emulator does not emulate {{{{ {words} }}}} in a template")


def _found(work: _Rendering, path: str) -> Items | None:
    """Return a variable where it is read at all; one that does not exist is noted."""
    if work.block.items is None:
        return None
    found = work.lookup(path)
    if found is None:
        work.missing.append(path)
    return found


def _json(text: str) -> str:
    """Return *text* as Go's ``encoding/json`` writes it."""
    quoted = json.dumps(text, ensure_ascii=False)
    for plain in "<>&":
        quoted = quoted.replace(plain, f"\\u{ord(plain):04x}")
    return quoted


def environment_of(text: str) -> dict[str, str]:
    """Return the variables of ``NAME=value`` lines, quoted or not. Raises `UnplayedError` for any other line."""
    found = {}
    for line in text.splitlines():
        name, equals, value = line.strip().partition("=")
        if not name or name.startswith("#"):
            continue
        if not equals:
            raise UnplayedError(f"error parsing env template: invalid line: {name}")
        found[name.strip()] = json.loads(value) if value.startswith('"') else value
    return found
