"""
Whether a client satisfies a constraint, as Nomad's scheduler decides it. Pure.

Source: hashicorp/nomad, ``scheduler/feasible/feasible.go`` (``resolveTarget``, ``checkConstraint``), 2026-08-21.
"""

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from nomad_csi.nomad import nodes
from nomad_csi.plan import model, versions

_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
_FLOAT = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_LIMIT = 2**63
_AMONG_INSTANCES = frozenset({"distinct_hosts", "distinct_property"})
"""Operators that keep instances of a job apart, and no client out."""

_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def unmet(constraint: model.Constraint, node: nodes.Node) -> str:
    """Return the constraint in words if *node* does not satisfy it, with what it has; empty: it does."""
    found = value_of(constraint.attribute, node)
    if holds(constraint.operator, found, constraint.value):
        return ""
    said = "is not set" if found is None else f"is {found!r}"
    wanted = " ".join(filter(None, (constraint.operator, constraint.value)))
    return f"{constraint.attribute} {said}, not {wanted}"


def value_of(attribute: str, node: nodes.Node) -> str | None:
    """Return what *attribute*, such as ``${meta.rack}``, is on *node*; ``None``: the client has no such thing."""
    name = attribute.removeprefix("${").removesuffix("}")
    kind, _, key = name.partition(".")
    if kind == "attr":
        return node.attributes.get(key)
    if kind == "meta":
        return node.meta.get(key)
    own = {
        "node.unique.id": node.node_id,
        "node.unique.name": node.name,
        "node.datacenter": node.datacenter,
        "node.class": node.node_class,
        "node.pool": node.node_pool,
    }
    return own.get(name)


def holds(name: str, found: str | None, wanted: str) -> bool:
    """Return whether *found* (``None``: not set) satisfies the operator *name* with *wanted*."""
    if name in _AMONG_INSTANCES:
        return True
    if name in ("!=", "not"):
        return found != wanted
    if name == "is_not_set":
        return found is None
    if found is None:
        return False
    if name in _ORDERS:
        return _in_order(name, found, wanted)
    check = _CHECKS.get(name)
    return check is not None and check(found, wanted)


def _in_order(name: str, found: str, wanted: str) -> bool:
    """Compare as integers where both are, as other numbers where both are, as text otherwise."""
    if all(_INTEGER.fullmatch(text) and -_LIMIT <= int(text) < _LIMIT for text in (found, wanted)):
        return _ORDERS[name](int(found), int(wanted))
    if all(_FLOAT.fullmatch(text) for text in (found, wanted)):
        return _ORDERS[name](float(found), float(wanted))
    return _ORDERS[name](found.encode(), wanted.encode())


def _members(text: str) -> frozenset[str]:
    return frozenset(part.strip() for part in text.split(","))


_CHECKS: Mapping[str, Callable[[str, str], bool]] = {
    **dict.fromkeys(("=", "==", "is"), lambda found, wanted: found == wanted),
    "is_set": lambda _found, _wanted: True,
    "version": lambda found, wanted: versions.fits(found, wanted, "version"),
    "semver": lambda found, wanted: versions.fits(found, wanted, "semver"),
    "regexp": lambda found, wanted: re.search(wanted, found) is not None,
    **dict.fromkeys(("set_contains", "set_contains_all"), lambda found, wanted: _members(wanted) <= _members(found)),
    "set_contains_any": lambda found, wanted: not _members(wanted).isdisjoint(_members(found)),
}
