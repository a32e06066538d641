"""
Evaluate constraints on a client, as Nomad's scheduler does. Pure.

Source: hashicorp/nomad, ``scheduler/feasible/feasible.go`` (``resolveTarget``, ``checkConstraint``), 2026-08-21.
"""

import functools
import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

import re2

from nomad_csi.nomad.records import nodes
from nomad_csi.plan import model, versions

# Match Go regular expressions, as Nomad's ``regexp`` operator does.
#
# RE2 evaluates them: Go has its syntax, and linear time. Source: golang/go, ``src/regexp/syntax/doc.go``; 200,000
# random expressions gave equal results in Go 1.26 and google-re2 1.1.20251105, except `_UNLIKE_GO` (2026-11-22).


_UNLIKE_GO = re.compile(r"\\C|\{(\d+,)?\d{9}")
"""RE2 reads ``\\C`` as a byte, and a count of more than eight digits as text; Go refuses both."""

_OPTIONS = re2.Options()
_OPTIONS.log_errors = False
_OPTIONS.max_mem = 64 << 20
"""Bytes; RE2's default of 8 MiB is too small for some expressions that Go accepts."""


def regexp_finds(expression: str, text: str) -> bool | None:
    """Return whether Go matches *expression* in *text*; ``None``: Nomad refuses it, or it cannot be evaluated here."""
    try:
        return _compiled(expression).search(text) is not None
    except (re2.error, UnicodeEncodeError):
        return None


@functools.lru_cache
def _compiled(expression: str) -> "re2._Regexp":
    if _UNLIKE_GO.search(expression):
        raise re2.error(expression)
    return re2.compile(expression, _OPTIONS)


# Constraints and their operators.


_INTEGER = re.compile(r"([+-]?)0*(\d{1,19})", re.ASCII)
_FLOAT = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?)|nan", re.ASCII | re.IGNORECASE)
_HEXADECIMAL = re.compile(r"[+-]?0x", re.IGNORECASE)
_LIMIT = 2**63
_AMONG_INSTANCES = frozenset({"distinct_hosts", "distinct_property"})
"""Operators that separate instances of a job; they exclude no client."""

_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def unmet(constraint: model.Constraint, node: nodes.Node) -> str:
    """Return text on an unsatisfied constraint with the value on *node*; empty: it is satisfied, or `unknown`."""
    found = value_of(constraint.attribute, node)
    if holds(constraint.operator, found, constraint.value) is not False:
        return ""
    state = "is not set" if found is None else f"is {found!r}"
    return f"{constraint.attribute} {state}, not {_wanted(constraint)}"


def unknown(constraint: model.Constraint, node: nodes.Node) -> str:
    """Return text on the constraint if only Nomad can evaluate it on *node*; else empty."""
    found = value_of(constraint.attribute, node)
    if holds(constraint.operator, found, constraint.value) is not None:
        return ""
    return f"{constraint.attribute} {_wanted(constraint)}"


def _wanted(constraint: model.Constraint) -> str:
    return " ".join(filter(None, (constraint.operator, constraint.value)))


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


def holds(name: str, found: str | None, wanted: str) -> bool | None:
    """
    Return whether *found* (``None``: not set) satisfies the operator *name* with *wanted*.

    ``None``: it cannot be evaluated here: regular expressions that Nomad refuses, hexadecimal numbers
    with ``<``, and a *wanted* that names another attribute of the client.
    """
    if name in _AMONG_INSTANCES:
        return True
    if name == "is_not_set":
        return found is None
    if name == "is_set":
        return found is not None
    if wanted.startswith("${"):
        return None
    if name in ("!=", "not"):
        return (found or "") != wanted  # an attribute that is not set is an empty string to Nomad
    if found is None:
        return False
    if name in _ORDERS:
        return _compare_ordered(name, found, wanted)
    check = _CHECKS.get(name)
    return False if check is None else check(found, wanted)


def _compare_ordered(name: str, found: str, wanted: str) -> bool | None:
    """Compare as 64-bit integers if both are, else as finite floats if both are, else as strings."""
    integers = [_integer(text) for text in (found, wanted)]
    if None not in integers:
        return _ORDERS[name](*integers)
    if any(_HEXADECIMAL.match(text) for text in (found, wanted)):
        return None
    floats = [_float(text) for text in (found, wanted)]
    if None not in floats:
        return _ORDERS[name](*floats)
    return _ORDERS[name](found.encode(), wanted.encode())


def _integer(text: str) -> int | None:
    matched = _INTEGER.fullmatch(text)
    number = int(matched[1] + matched[2]) if matched else _LIMIT
    return number if -_LIMIT <= number < _LIMIT else None


def _float(text: str) -> float | None:
    """Return *text* as a number. One beyond the range of 64 bits is an error to Go, and so a string."""
    if not _FLOAT.fullmatch(text):
        return None
    number = float(text)
    return None if math.isinf(number) and "n" not in text.lower() else number


def _members(text: str) -> frozenset[str]:
    return frozenset(part.strip() for part in text.split(","))


_CHECKS: Mapping[str, Callable[[str, str], bool | None]] = {
    **dict.fromkeys(("=", "==", "is"), lambda found, wanted: found == wanted),
    "version": lambda found, wanted: versions.fits(found, wanted, "version"),
    "semver": lambda found, wanted: versions.fits(found, wanted, "semver"),
    "regexp": lambda found, wanted: regexp_finds(wanted, found),
    **dict.fromkeys(("set_contains", "set_contains_all"), lambda found, wanted: _members(wanted) <= _members(found)),
    "set_contains_any": lambda found, wanted: not _members(wanted).isdisjoint(_members(found)),
}
