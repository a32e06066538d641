"""
Read job files and volume files as plain Python values, with strings decoded like Nomad.

A file becomes a dict. An attribute is its value: ``str``, ``int``, ``float``, ``bool``, ``None``, list or dict. A block
type is a list with a dict for each block, in order; its labels are under `values.LABELS`. So

    job "mysql" { group "db" { count = 1 } }

reads as ``{"job": [{"__labels__": ["mysql"], "group": [{"__labels__": ["db"], "count": 1}]}]}``. The dicts know the
lines of their entries (`values.Map`), except those of JSON.

Volume files are HCL1, with its special forms: quoted names in a block (``segments { "a/b" = "c" }``), several
attributes on a line. Job files are HCL2. Either may be JSON. Stricter than Nomad where Nomad silently loses data:
duplicate names or keys are refused. Variables and locals with a known value are evaluated; functions, operators and
``dynamic`` blocks are not: their values are `values.Unevaluated`.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nomad_csi import errors
from nomad_csi.hcl import parser, tokens, values

_PASSES = 4
"""The first pass yields variables, the second locals that use variables, the third locals that use locals."""

_VARIABLE_PREFIX = "NOMAD_VAR_"


@dataclass(frozen=True, kw_only=True)
class Given:
    """
    Values for the variables of job files, by name.

    As ``nomad job run`` takes them: ``NOMAD_VAR_name``, ``-var-file``, ``-var``; a later source wins. Source:
    hashicorp/nomad, ``jobspec2/parse.go`` (``ParseWithConfig``) and ``jobspec2/types.variables.go``
    (``collectInputVariableValues``), 2026-08-21.
    """

    texts: Mapping[str, str] = field(default_factory=dict)
    """As text: a string, or JSON for another type; those of *values* go first."""

    values: Mapping[str, Any] = field(default_factory=dict)
    """From files of variables."""


NOTHING_GIVEN = Given()


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Content of a text."""

    content: values.Map
    unknown: tuple[values.Unevaluated, ...] = ()
    """Values that only Nomad computes."""


def read_job(text: str, name: str = "the job file") -> values.Map:
    """
    Return the job file *text*; *name* is the file's, for errors.

    Raises `errors.SpecError` with every problem and its line, also for a value that only Nomad computes; reading stops
    at a syntax error.
    """
    parsed = reading(text, name, "job")
    allowed = "a text, a number, true, false, null, a list or a map"
    problems = [
        errors.Problem(path=f"line {item.line}", got=item.expression, allowed=allowed) for item in parsed.unknown
    ]
    if problems:
        raise errors.SpecError(tuple(problems), source=name)
    return parsed.content


def read_volume(text: str, name: str = "the volume file") -> values.Map:
    """Return the volume file *text*, legacy forms (``context { }`` as a block) included; otherwise as `read_job`."""
    return reading(text, name, "volume").content


def reading(text: str, name: str, dialect: tokens.Dialect, given: Given = NOTHING_GIVEN) -> Reading:
    """
    Return the content of *text*. JSON is detected by its first character.

    *given* are values for the variables of a job file. Raises `errors.SpecError`.
    """
    tokens.check(text, name, may_begin_with_mark=dialect == "job")
    text = text.removeprefix(tokens.BYTE_ORDER_MARK)
    if text.lstrip()[:1] in {"{", "["}:
        tokens.check_depth(text, name)
        return Reading(content=_json(text, name))
    parsed = _parsed(text, name, dialect, given)
    if parsed.problems:
        raise errors.SpecError(tuple(parsed.problems), source=name)
    for item in parsed.unknown:
        item.file = name
    return Reading(content=parsed.content, unknown=tuple(parsed.unknown))


def given_variables(environment: Mapping[str, str], files: Iterable[Path], options: Iterable[str]) -> Given:
    """
    Return the values for variables from all sources; *options* are ``name=value``.

    Raises `errors.SpecError` for a file that cannot be read and an option of another form.
    """
    named = {name: value for name, value in environment.items() if name.startswith(_VARIABLE_PREFIX)}
    texts = {name.removeprefix(_VARIABLE_PREFIX): value for name, value in named.items()}
    from_files: dict[str, Any] = {}
    for path in files:
        content = reading(tokens.read(path), str(path), "job").content
        from_files |= {name: content.written(name) for name in content}
    for option in options:
        name, sign, value = option.partition("=")
        if not sign or not name:
            problem = errors.Problem(path="--var", got=repr(option), allowed="NAME=VALUE")
            raise errors.SpecError((problem,), source="the command line")
        texts[name] = value
        from_files.pop(name, None)
    return Given(texts=texts, values=from_files)


def _parsed(text: str, name: str, dialect: tokens.Dialect, given: Given) -> parser.Parser:
    stream = [token for token in tokens.tokenize(text, dialect, name) if token.kind not in {"comment", "newline"}]
    tokens.check_depth((token.kind for token in stream), name)
    scope: dict[str, Any] = {}
    for _ in range(_PASSES):
        reader = parser.Parser(text=text, dialect=dialect, stream=stream, scope=scope)
        reader.parse()
        known = _scope(reader.content, given) if dialect == "job" else scope
        if known == scope:
            break
        scope = known
    return reader


def _scope(content: values.Map, given: Given) -> dict[str, Any]:
    """Return the known values of variables and locals, by their names in expressions."""
    scope: dict[str, Any] = {}
    for variable in values.blocks(content, "variable"):
        for label in variable.labels:
            scope[f"var.{label}"] = _variable(label, variable, given)
    for block in values.blocks(content, "variables"):
        scope |= {f"var.{name}": given.values.get(name, given.texts.get(name, block.written(name))) for name in block}
    for block in values.blocks(content, "locals"):
        scope |= {f"local.{name}": block.written(name) for name in block}
    return {name: value for name, value in scope.items() if _is_known(value)}


_NOT_GIVEN = values.Unevaluated("no value")


def _variable(name: str, variable: values.Map, given: Given) -> Any:
    """Return the value of a variable: the given one, else its default."""
    if name in given.values:
        return given.values[name]
    if name not in given.texts:
        return variable.written("default") if "default" in variable else _NOT_GIVEN
    text, kind = given.texts[name], variable.written("type") or "string"
    if kind in {"string", "any"}:
        return text
    try:
        return values.without_lines(json.loads(text))
    except ValueError:
        problem = errors.Problem(path=f"var.{name}", got=ascii(text), allowed=f"a value of type {kind}, as in JSON")
        raise errors.SpecError((problem,), source="the variables given") from None


def _is_known(value: Any) -> bool:
    match value:
        case values.Map():
            return all(map(_is_known, map(value.written, value)))
        case list():
            return all(map(_is_known, value))
    return not isinstance(value, values.Unevaluated)


def _json(text: str, name: str) -> values.Map:
    try:
        document = json.loads(text, strict=False, object_pairs_hook=_json_object, parse_constant=str)
        if isinstance(document, values.Map):
            return document
        problem = errors.Problem(path="", got="a list", allowed="a JSON object")
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        problem = errors.Problem(path=where, got=error.msg[0].lower() + error.msg[1:], allowed="JSON")
    except ValueError as error:
        problem = errors.Problem(path="", got=f"{error} again", allowed="each key once")
    raise errors.SpecError((problem,), source=name)


def _json_object(pairs: Sequence[tuple[str, Any]]) -> values.Map:
    """Return an object of JSON, which has no lines. Raises `ValueError` with a key that occurs twice."""
    members = values.Map(0)
    for key, value in pairs:
        if key in members:
            raise ValueError(ascii(key))
        members.put(key, value, 0)
    return members
