"""
Evaluate constraints on a client, as Nomad's scheduler does. Pure: regular expressions were evaluated by Nomad.

Source: hashicorp/nomad, ``scheduler/feasible/feasible.go`` (``resolveTarget``, ``checkConstraint``), 2026-08-21.
"""

import operator
from collections.abc import Callable, Mapping
from typing import Any

from nomad_csi.nomad import nodes
from nomad_csi.plan import model, versions

_AMONG_INSTANCES = frozenset({"distinct_hosts", "distinct_property"})
"""Operators that separate instances of a job; they exclude no client."""

_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def value_of(attribute: str, node: nodes.Node) -> str | None:
    """Return the value of *attribute*, such as ``${meta.rack}``, on *node*; ``None``: it is not set there."""
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


def holds(constraint: model.Constraint, node: nodes.Node) -> bool:
    """Return whether *node* satisfies *constraint*; no client satisfies a regular expression that Nomad refuses."""
    name = constraint.operator
    actual = value_of(constraint.attribute, node)
    wanted: str | None = constraint.value
    if constraint.value.startswith("${"):
        wanted = value_of(constraint.value, node)
    if name in _AMONG_INSTANCES:
        return True
    if name in ("is_set", "is_not_set"):
        return (actual is not None) == (name == "is_set")
    if name in ("!=", "not"):
        return (actual or "") != (wanted or "")  # an attribute that is not set is an empty string to Nomad
    if actual is None or wanted is None:
        return False
    if name == "regexp":
        return node.matches.get((constraint.attribute, constraint.value), False)
    if name in _ORDERS:
        return _compare_ordered(name, actual, wanted)
    check = _CHECKS.get(name)
    return check is not None and check(actual, wanted)


def _compare_ordered(name: str, actual: str, wanted: str) -> bool:
    """Compare as numbers if both are, else as strings."""
    try:
        return _ORDERS[name](float(actual), float(wanted))
    except ValueError:
        return _ORDERS[name](actual.encode(), wanted.encode())


def _members(text: str) -> frozenset[str]:
    return frozenset(part.strip() for part in text.split(","))


_CHECKS: Mapping[str, Callable[[str, str], bool]] = {
    **dict.fromkeys(("=", "==", "is"), operator.eq),
    "version": lambda actual, wanted: versions.fits(actual, wanted, "version"),
    "semver": lambda actual, wanted: versions.fits(actual, wanted, "semver"),
    **dict.fromkeys(("set_contains", "set_contains_all"), lambda actual, wanted: _members(wanted) <= _members(actual)),
    "set_contains_any": lambda actual, wanted: not _members(wanted).isdisjoint(_members(actual)),
}
