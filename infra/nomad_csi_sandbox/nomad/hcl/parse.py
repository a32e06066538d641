"""
``POST /v1/jobs/parse`` without its default values: HCL2 text to `api.Job` JSON. Part of the Nomad emulator.

Source: hashicorp/nomad, ``jobspec2/parse.go``, ``jobspec2/hcl_conversions.go``, 2026-08-21.
"""

import copy
from typing import Any

from nomad_csi_sandbox.nomad.hcl import hcl_reader as reader
from nomad_csi_sandbox.nomad.hcl import hcl_values as values
from nomad_csi_sandbox.nomad.hcl import schema

Json = dict[str, Any]

_OUTERMOST = frozenset({"job", "variable", "variables", "locals"})
"""Blocks of a job file. Locals are not read: what names one stays as it is written."""

_HELP = "see https://developer.hashicorp.com/nomad/docs/reference/hcl2/variables  for details."


def parse(source: str, variables: str = "") -> Json:
    """
    Return the job of *source* as Nomad's parser gives it, fields not written are null.

    *variables* is the content of a variable file (``name = value`` lines). Raises `hcl_reader.HclError`.
    """
    source = source.removeprefix("\ufeff")
    tree = reader.parse_tree(source)
    _refuse_strangers(tree)
    scope = reader.Scope(source=source, variables=_variables(tree, source, variables))
    blocks = [reader.read_block(node, scope) for node in reader.block_trees(tree, "job")]
    if not blocks:
        raise reader.HclError(None, "Missing job block", "A job block is required")
    block = blocks[0]
    for other in blocks[1:]:
        before = 'Only one block of type "job" is allowed. Previous definition was at'
        raise reader.HclError(other.head, "Duplicate job block", f"{before} {block.head}.")
    _check_labels(1, block)
    job = _fill(schema.JOB, block.body)
    job["ID"] = job["ID"] or block.labels[0]
    job["Name"] = job["Name"] or block.labels[0]
    return job


def _refuse_strangers(tree: reader.Node) -> None:
    """Refuse what may not stand outside of the job."""
    for name, span, node in reader.outermost(tree):
        if node.data == "attribute":
            detail = f'An argument named "{name}" is not expected here.'
            raise reader.HclError(span, "Unsupported argument", detail)
        if name not in _OUTERMOST:
            raise reader.HclError(span, "Unsupported block type", f'Blocks of type "{name}" are not expected here.')


def _variables(tree: reader.Node, source: str, given: str) -> Json:
    """Return the value of each declared variable: as given, else its default."""
    plain = reader.Scope(source=given)
    set_values = {item.name: item.value for item in reader.read_body(reader.parse_tree(given), plain).attributes}
    found: Json = {}
    for node in reader.block_trees(tree, "variable"):
        block = reader.read_block(node, reader.Scope(source=source), skip="type")  # a type is no value
        name = block.labels[0]
        known = {item.name: item.value for item in block.body.attributes if item.name == "default"}
        known |= {"default": set_values[name]} if name in set_values else {}
        if not known:
            detail = "A used variable must be set or have a default value"
            raise reader.HclError(None, f'Unset variable "{name}"', f"{detail}; {_HELP}")
        found[name] = known["default"]
    return found


def _fill(kind: schema.Schema, body: reader.Body) -> Json:
    found: Json = {name: copy.deepcopy(value) for name, value in kind.empty.items()}
    for attribute in body.attributes:
        field, value = _attribute(kind, attribute)
        found[field] = value
    for block in body.blocks:
        _nest(kind, found, block, body.blocks)
    if kind is schema.CONSTRAINT:
        return _constraint(found)
    if kind is schema.TASK and found["CSIPluginConfig"] is None:
        del found["CSIPluginConfig"]  # `omitempty` in Nomad's api.Task
    if kind is schema.TASK and found["Identities"]:
        _take_default_identity(found)
    if kind is schema.GROUP and not found["Volumes"]:
        found["Volumes"] = None
    return found


def _take_default_identity(task: Json) -> None:
    """Move the first identity without a name of its own to where Nomad before 1.7 had it."""
    own = next((item for item in task["Identities"] if item["Name"] in {"", "default"}), None)
    if own is not None:
        task["Identity"] = own
        task["Identities"] = [item for item in task["Identities"] if item is not own]


def _attribute(kind: schema.Schema, attribute: reader.Attribute) -> tuple[str, Any]:
    nested = kind.blocks.get(attribute.name)
    if nested is not None and nested.shape == "map":
        return nested.field, _convert(values.mapping, attribute)
    if attribute.name not in kind.attributes:
        detail = f'An argument named "{attribute.name}" is not expected here.'
        raise reader.HclError(attribute.span, "Unsupported argument", detail)
    field, convert = kind.attributes[attribute.name]
    return field, _convert(convert, attribute)


def _convert(convert: values.Convert, attribute: reader.Attribute) -> Any:
    try:
        return convert(attribute.value)
    except ValueError as error:
        raise reader.HclError(attribute.value_span, "Unsuitable value type", str(error)) from error


def _nest(kind: schema.Schema, found: Json, block: reader.Block, siblings: tuple[reader.Block, ...]) -> None:
    nested = kind.blocks.get(block.type)
    if nested is None:
        detail = f'Blocks of type "{block.type}" are not expected here.'
        raise reader.HclError(block.span, "Unsupported block type", detail)
    _check_labels(1 if nested.label else 0, block)
    match nested.shape:
        case "map":
            found[nested.field] = {item.name: _convert(values.text, item) for item in block.body.attributes}
        case "free":
            found[nested.field] = _free(block.body)
        case "one":
            _refuse_second(siblings, block)
            found[nested.field] = _object(nested, block)
        case "many":
            found[nested.field] = [*(found[nested.field] or []), _object(nested, block)]
        case "by label":
            found[nested.field] = (found[nested.field] or {}) | {block.labels[0]: _object(nested, block)}


def _refuse_second(siblings: tuple[reader.Block, ...], block: reader.Block) -> None:
    first = next(item for item in siblings if item.type == block.type)
    if first is not block:
        detail = f"Only one {block.type} block is allowed. Another was defined at {first.head}."
        raise reader.HclError(block.head, f"Duplicate {block.type} block", detail)


def _check_labels(wanted: int, block: reader.Block) -> None:
    if len(block.labels) < wanted:
        detail = f"All {block.type} blocks must have {wanted} labels (name)."
        raise reader.HclError(block.brace, f"Missing name for {block.type}", detail)
    if len(block.labels) > wanted:
        none = f"No labels are expected for {block.type} blocks."
        some = f"Only {wanted} labels (name) are expected for {block.type} blocks."
        raise reader.HclError(block.label_spans[wanted], f"Extraneous label for {block.type}", some if wanted else none)


def _object(nested: schema.Nested, block: reader.Block) -> Json:
    assert nested.schema is not None, "only maps and free blocks have no schema"  # noqa: S101  # a fact of schema.py
    found = _fill(nested.schema, block.body)
    return found | {nested.label: block.labels[0]} if nested.label else found


def _free(body: reader.Body) -> Json:
    """Return the ``config`` of a driver: nothing is checked, repeated blocks become lists."""
    found: Json = {item.name: item.value for item in body.attributes}
    for block in body.blocks:
        found[block.type] = [*found.get(block.type, []), _free(block.body)]
    return found


def _constraint(found: Json) -> Json:
    """Return a constraint after its short forms, such as ``distinct_hosts = true``, are written out."""
    left, right, operand = found["LTarget"] or "", found["RTarget"] or "", found["Operand"] or ""
    for short in ("version", "semver", "regexp", "set_contains", "distinct_hosts"):
        if found[short]:
            operand, right = short, found[short]
    if found["distinct_property"]:
        operand, left = "distinct_property", found["distinct_property"]
    return {"LTarget": left, "RTarget": right, "Operand": operand or "="}
