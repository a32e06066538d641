"""
Job files and volume files as plain Python values, with every string as Nomad would decode it.

A file becomes a dict. An attribute is its value: ``str``, ``int``, ``float``, ``bool``, ``None``, list or dict. A block
type is a list with a dict for each block, in order; a block's labels stand in it under `values.LABELS`. So

    job "mysql" { group "db" { count = 1 } }

reads as ``{"job": [{"__labels__": ["mysql"], "group": [{"__labels__": ["db"], "count": 1}]}]}``. The dicts and lists
know their lines (`values.Map`, `values.Items`).

Volume files are HCL1, with what only HCL1 has: quoted names in a block (``segments { "a/b" = "c" }``), several
attributes on a line. Job files are HCL2. Either may be JSON. Stricter than Nomad where Nomad loses something silently:
a name or key that stands twice is refused. Functions and operators are not computed; they are refused too, but for
variables and locals that the file itself gives a value.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from nomad_csi import errors
from nomad_csi.hcl import expression, literals, parse, scan, source, values

LABELS = values.LABELS

JOB = scan.Dialect(name="job", literal=literals.hcl2, heredoc=literals.hcl2_heredoc)
VOLUME = scan.Dialect(
    name="volume",
    literal=lambda text, _: literals.hcl1(text),
    heredoc=lambda text, _: literals.hcl1_heredoc(text),
)
JSON = scan.Dialect(name="json", literal=JOB.literal, heredoc=JOB.heredoc)

_PASSES = 3
"""Variables are known after the first, locals that use them after the second, those that use locals after the third."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What a text holds."""

    content: values.Map
    form: Literal["hcl", "json"]
    notes: tuple[tuple[scan.Note, int], ...] = ()
    """Forms that not every reader of HCL takes, each with its line."""


def read_job(text: str, name: str = "") -> values.Map:
    """
    Return the job file *text*; *name* is the file's, for errors.

    Raises `errors.SpecError` with every problem and its line; a syntax error ends the reading.
    """
    return reading(text, name or "the job file", JOB).content


def read_volume(text: str, name: str = "") -> values.Map:
    """Return the volume file *text* as `read_job` does, legacy forms (``context { }`` as a block) included."""
    return reading(text, name or "the volume file", VOLUME).content


def reading(text: str, name: str, dialect: scan.Dialect) -> Reading:
    """Return what *text* holds, with its odd forms. JSON is found out by its first character."""
    source.check(text, name, may_begin_with_mark=dialect is JOB)
    text = text.removeprefix(source.BYTE_ORDER_MARK)
    is_json = text.lstrip()[:1] in {"{", "["}
    if is_json:
        _check_json(text, name)
    parser = _parsed(text, JSON if is_json else dialect)
    if parser.problems:
        raise errors.SpecError(tuple(parser.problems), source=name)
    return Reading(content=parser.found, form="json" if is_json else "hcl", notes=tuple(parser.notes))


def _parsed(text: str, dialect: scan.Dialect) -> parse.HclParser:
    scope: dict[str, Any] = {}
    for _ in range(_PASSES if dialect is JOB else 0):
        first = parse.HclParser(text=text, dialect=dialect, scope=scope)
        first.read()
        known = _scope(first.found)
        if known == scope:
            break
        scope = known
    parser = parse.HclParser(text=text, dialect=dialect, scope=scope)
    parser.read()
    return parser


def _scope(found: values.Map) -> dict[str, Any]:
    """Return what the file's own variables and locals are, by the names under which expressions ask for them."""
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
