"""Does a node satisfy a job: datacenters, pool, constraints, drivers. Pure. Part of the Nomad emulator.

Source: hashicorp/nomad, ``scheduler/feasible/feasible.go`` and ``nomad/structs/constraint.go``, 2026-08-21.
"""

import fnmatch
import re
from collections.abc import Callable, Mapping
from typing import Any

Json = dict[str, Any]

MISSING_DRIVERS = "missing drivers"

_TARGET = re.compile(r"\$\{([^}]*)\}")


def in_datacenters(node: Json, job: Json) -> bool:
    """Return whether *node* lies in one of the job's datacenters (none named: every one) and in its node pool."""
    pool = job["NodePool"]
    patterns = job["Datacenters"] or ["*"]
    return pool in {"all", node["NodePool"]} and any(fnmatch.fnmatchcase(node["Datacenter"], one) for one in patterns)


def targets(node: Json) -> dict[str, str]:
    """Return what ``${...}`` of a constraint may name: ``node.*``, ``attr.*``, ``meta.*``."""
    found = {
        "node.unique.id": node["ID"],
        "node.unique.name": node["Name"],
        "node.datacenter": node["Datacenter"],
        "node.class": node["NodeClass"],
        "node.pool": node["NodePool"],
        "node.region": "global",
    }
    found |= {f"attr.{name}": value for name, value in node["Attributes"].items()}
    return found | {f"meta.{name}": value for name, value in node["Meta"].items()}


def violation(node: Json, job: Json, group: Json) -> str:
    """Return why *node* cannot run *group*, in the scheduler's words; empty when it can."""
    for constraint in _constraints(job, group):
        if constraint["Operand"] not in {"distinct_hosts", "distinct_property"} and not _holds(constraint, node):
            return " ".join((constraint["LTarget"], constraint["Operand"], constraint["RTarget"]))
    drivers = {task["Driver"] for task in group["Tasks"] or []}
    healthy = {name for name, driver in node["Drivers"].items() if driver["Detected"] and driver["Healthy"]}
    return "" if drivers <= healthy else MISSING_DRIVERS


def distinct_hosts(job: Json, group: Json) -> bool:
    """Return whether no two allocations may share a node."""
    wanted = [*(job["Constraints"] or []), *(group["Constraints"] or [])]
    return any(item["Operand"] == "distinct_hosts" and item["RTarget"] != "false" for item in wanted)


def _constraints(job: Json, group: Json) -> list[Json]:
    own = [constraint for task in group["Tasks"] or [] for constraint in task["Constraints"] or []]
    return [*(job["Constraints"] or []), *(group["Constraints"] or []), *own]


def _holds(constraint: Json, node: Json) -> bool:
    known = targets(node)
    left = _resolve(constraint["LTarget"], known)
    right = _resolve(constraint["RTarget"], known)
    check = _OPERANDS.get(constraint["Operand"])
    return check is not None and check(left, right)


def _resolve(target: str, known: Mapping[str, str]) -> str | None:
    match = _TARGET.fullmatch(target)
    return known.get(match[1]) if match else target


def _both(check: Callable[[str, str], bool]) -> Callable[[str | None, str | None], bool]:
    return lambda left, right: left is not None and right is not None and check(left, right)


def _members(text: str) -> set[str]:
    return {part.strip() for part in text.split(",")}


_OPERANDS: Mapping[str, Callable[[str | None, str | None], bool]] = {
    **dict.fromkeys(("=", "==", "is"), _both(lambda left, right: left == right)),
    **dict.fromkeys(("!=", "not"), lambda left, right: left != right),
    "<": _both(lambda left, right: left < right),
    "<=": _both(lambda left, right: left <= right),
    ">": _both(lambda left, right: left > right),
    ">=": _both(lambda left, right: left >= right),
    "regexp": _both(lambda left, right: re.search(right, left) is not None),
    "set_contains": _both(lambda left, right: _members(right) <= _members(left)),
    "is_set": lambda left, _: left is not None,
    "is_not_set": lambda left, _: left is None,
}
