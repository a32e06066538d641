"""
``POST /v1/jobs/parse`` without its default values: HCL2 text to `api.Job` JSON. Part of the stand-in for Nomad.

Source: hashicorp/nomad, ``jobspec2/parse.go``, ``jobspec2/hcl_conversions.go``, 2026-08-21.
"""

import copy
from typing import Any

from nomad_csi_sandbox.nomad import hcl_reader as reader
from nomad_csi_sandbox.nomad import hcl_values as values
from nomad_csi_sandbox.nomad import schema

Json = dict[str, Any]

_START = reader.Span(line=1, start=1, end=1)


def parse(source: str, variables: str = "") -> Json:
    """
    Return the job of *source* as Nomad's parser gives it, fields not written are null.

    *variables* is the content of a variable file (``name = value`` lines). Raises `hcl_reader.HclError`.
    """
    tree = reader.parse_tree(source)
    scope = reader.Scope(source=source, variables=_variables(tree, source, variables))
    blocks = [reader.read_block(node, scope) for node in reader.block_trees(tree, "job")]
    if len(blocks) != 1 or len(blocks[0].labels) != 1:
        raise reader.HclError(_START, "Missing job block", 'A "job" block with one label is required.')
    [block] = blocks
    job = _fill(schema.JOB, block.body)
    job["ID"] = job["ID"] or block.labels[0]
    job["Name"] = job["Name"] or block.labels[0]
    return job


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
            raise reader.HclError(block.span, f'Unset variable "{name}"', f"{detail}.")
        found[name] = known["default"]
    return found


def _fill(kind: schema.Schema, body: reader.Body) -> Json:
    found: Json = {name: copy.deepcopy(value) for name, value in kind.empty.items()}
    for attribute in body.attributes:
        field, value = _attribute(kind, attribute)
        found[field] = value
    for block in body.blocks:
        _nest(kind, found, block)
    if kind is schema.CONSTRAINT:
        return _constraint(found)
    if kind is schema.TASK and found["CSIPluginConfig"] is None:
        del found["CSIPluginConfig"]  # `omitempty` in Nomad's api.Task
    if kind is schema.GROUP and not found["Volumes"]:
        found["Volumes"] = None
    return found


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
        raise reader.HclError(attribute.span, "Unsuitable value type", f"{error}.") from error


def _nest(kind: schema.Schema, found: Json, block: reader.Block) -> None:
    nested = kind.blocks.get(block.type)
    if nested is None:
        detail = f'Blocks of type "{block.type}" are not expected here.'
        raise reader.HclError(block.span, "Unsupported block type", detail)
    _check_labels(nested, block)
    match nested.shape:
        case "map":
            found[nested.field] = {item.name: _convert(values.text, item) for item in block.body.attributes}
        case "free":
            found[nested.field] = _free(block.body)
        case "one":
            _refuse_second(found[nested.field], block)
            found[nested.field] = _object(nested, block)
        case "many":
            found[nested.field] = [*(found[nested.field] or []), _object(nested, block)]
        case "by label":
            found[nested.field] = (found[nested.field] or {}) | {block.labels[0]: _object(nested, block)}


def _refuse_second(existing: Any, block: reader.Block) -> None:
    if existing is not None:
        detail = f"Only one {block.type} block is allowed."
        raise reader.HclError(block.span, f"Duplicate {block.type} block", detail)


def _check_labels(nested: schema.Nested, block: reader.Block) -> None:
    wanted = 1 if nested.label else 0
    if len(block.labels) < wanted:
        detail = f"All {block.type} blocks must have {wanted} labels (name)."
        raise reader.HclError(block.span, f"Missing name for {block.type}", detail)
    if len(block.labels) > wanted:
        detail = f"No labels are expected for {block.type} blocks."
        raise reader.HclError(block.span, f"Extraneous label for {block.type}", detail)


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
