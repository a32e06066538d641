"""
ACL capabilities that each call needs, in one table, by name. Pure.

Errors take the missing capability from it; `acl_policy` and the checks of ``doctor`` combine calls.
Source: hashicorp/nomad, ``nomad/csi_endpoint.go``, ``nomad/job_endpoint.go``, ``nomad/node_endpoint.go``,
``nomad/alloc_endpoint.go``, ``nomad/variables_endpoint.go``, ``nomad/system_endpoint.go``,
``command/agent/job_endpoint.go``, ``client/fs_endpoint.go`` and ``acl/policy.go``, 2026-08-21; tried with tokens of one
capability each on Nomad 2.0.6-dev, 2026-11.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

Level = Literal["node", "plugin"]

YOUNG = frozenset({"deregister-job", "plan-job", "purge-job", "register-job"})
"""
Capabilities that older releases do not support (``job-capabilities`` in ``releases.yaml``). They refuse a policy that
names one, so this package accepts them on a token, and requires none.
"""


@dataclass(frozen=True, kw_only=True)
class Need:
    """Capabilities that one call needs."""

    any_of: tuple[str, ...] = ()
    """One of these capabilities in the namespace of the object, the dedicated one first."""

    variable: str = ""
    """A capability on the variable of the call: ``read``, ``write`` or ``destroy``."""

    level: Level | Literal[""] = ""
    """``read`` of this policy; ``write`` of ``plugin`` grants nothing."""

    is_management: bool = False
    """Whether it needs a management token."""

    calls: str = ""
    """The calls, as a regular expression of method and path; empty if the body of a call decides."""

    note: str = ""
    """What to add to the error of a refused call."""


_LIST_VOLUMES = ("csi-list-volume", "csi-read-volume", "csi-mount-volume", "list-jobs")

NEEDS: Mapping[str, Need] = {
    "list plugins": Need(level="plugin", calls=r"GET /v1/plugins"),
    "read plugin": Need(level="plugin", calls=r"GET /v1/plugin/.*"),
    "list snapshots": Need(any_of=_LIST_VOLUMES, calls=r"GET /v1/volumes/snapshot"),
    "change snapshots": Need(
        any_of=("csi-write-volume",), level="plugin", calls=r"(PUT|POST|DELETE) /v1/volumes/snapshot"
    ),
    "write volume": Need(any_of=("csi-write-volume",), level="plugin", calls=r"(PUT|POST) /v1/volume.*"),
    "detach volume": Need(any_of=("csi-mount-volume",), level="plugin", calls=r"DELETE /v1/volume/.*/detach"),
    "deregister volume": Need(any_of=("csi-write-volume",), calls=r"DELETE /v1/volume/.*"),
    "read volume": Need(any_of=("csi-read-volume", "csi-mount-volume", "read-job"), calls=r"GET /v1/volume/.*"),
    "list volumes": Need(any_of=_LIST_VOLUMES, calls=r"GET /v1/volumes"),
    "parse job": Need(any_of=("parse-job", "submit-job"), calls=r"\w+ /v1/jobs/parse"),
    "plan job": Need(any_of=("submit-job", "plan-job"), calls=r"\w+ /v1/job/.+/plan"),
    "register job": Need(
        any_of=("submit-job", "register-job"),
        calls=r"(PUT|POST) /v1/job.*",
        note=', and for a plugin job csi-register-plugin, which policy = "write" lacks, for one with volumes '
        "csi-mount-volume",
    ),
    "run plugin": Need(any_of=("csi-register-plugin",)),
    "mount volume": Need(any_of=("csi-mount-volume",), level="plugin"),
    "stop job": Need(any_of=("submit-job", "purge-job", "deregister-job"), calls=r"DELETE /v1/job/.*"),
    "read job": Need(any_of=("read-job",), calls=r"GET /v1/(job/.*|allocations)"),
    "list jobs": Need(any_of=("list-jobs",), calls=r"GET /v1/jobs"),
    "read logs": Need(any_of=("read-logs", "read-fs"), calls=r"GET /v1/client/fs/logs/.*"),
    "read variable": Need(variable="read", calls=r"GET /v1/var/.*"),
    "write variable": Need(variable="write", calls=r"PUT /v1/var/.*"),
    "delete variable": Need(variable="destroy", calls=r"DELETE /v1/var/.*"),
    "read clients": Need(level="node", calls=r"GET /v1/nodes?\b.*"),
    "read servers": Need(level="node", calls=r"GET /v1/agent/members"),
    "collect garbage": Need(is_management=True, calls=r"PUT /v1/system/gc"),
}
"""Name of a call -> what it needs. The first whose ``calls`` match applies."""

_LEVELS: Mapping[str, str] = {
    "plugin": 'plugin { policy = "read" } ("write" grants nothing)',
    "node": 'node { policy = "read" }',
    "": "",
}


def needed(method: str, path: str, namespace: str) -> str | None:
    """Return what a token needs for the call, as a phrase; ``None``: not known here."""
    name = name_of(method, path)
    return _phrase(NEEDS[name], path, namespace) if name else None


def name_of(method: str, path: str) -> str | None:
    """Return the name in `NEEDS` of a call; ``None``: it has none."""
    call = f"{method} {path}"
    return next((name for name, need in NEEDS.items() if need.calls and re.fullmatch(need.calls, call)), None)


def _phrase(need: Need, path: str, namespace: str) -> str:
    if need.is_management:
        return "management rights"
    if need.variable:
        variable = path.removeprefix("/v1/var/")
        granted = f'variables {{ path "{variable}" {{ capabilities = ["{need.variable}"] }} }}'
        return f"{granted} in namespace {namespace}"
    others = ", ".join(name for name in need.any_of[1:] if name not in YOUNG)
    more = f" (or {others})" if others else ""
    capability = f"{need.any_of[0]} in namespace {namespace}{more}{need.note}" if need.any_of else ""
    return ", and ".join(part for part in (capability, _LEVELS[need.level]) if part)


def alternatives(names: Iterable[str]) -> tuple[frozenset[str], ...]:
    """Return, for each of the calls *names*, the capabilities of which one is needed in the namespace."""
    return tuple(frozenset(NEEDS[name].any_of) for name in names)
