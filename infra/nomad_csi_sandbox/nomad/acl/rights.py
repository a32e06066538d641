"""
Which call needs which rights, by its path. Part of the emulator of Nomad.

What depends on the body of a call (registering jobs and volumes) is asked where the body is read. Source:
hashicorp/nomad, the ``Allow...`` calls of ``nomad/csi_endpoint.go``, ``nomad/job_endpoint.go``,
``nomad/alloc_endpoint.go``, ``nomad/node_endpoint.go``, ``nomad/namespace_endpoint.go``,
``command/agent/job_endpoint.go`` and ``client/fs_endpoint.go``, 2026-08-21; held against a real agent by
tests/contract.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from nomad_csi_sandbox.nomad import refusals
from nomad_csi_sandbox.nomad.acl import acl_rules

VOLUME_LIST = ("csi-list-volume", "csi-read-volume", "csi-mount-volume", "list-jobs")


@dataclass(frozen=True, kw_only=True)
class Call:
    """A call, as far as rights go."""

    words: str
    """Method and path: ``GET /v1/nodes``."""

    namespace: str
    of_allocation: str = ""
    """Namespace of the allocation that the path names; empty: there is none."""

    is_purge: bool = False
    """Whether a job is to be forgotten, too."""


Check = Callable[[acl_rules.Rights, Call], bool]


def _in_namespace(*capabilities: str) -> Check:
    return lambda rights, call: rights.allows(call.namespace, *capabilities)


def _level(kind: str, *levels: str) -> Check:
    return lambda rights, _: rights.has_level(kind, *levels)


def _both(*checks: Check) -> Check:
    return lambda rights, call: all(check(rights, call) for check in checks)


def _anyone(_rights: acl_rules.Rights, _call: Call) -> bool:
    return True


def _management(rights: acl_rules.Rights, _call: Call) -> bool:
    return rights.is_management


def _namespace_known(rights: acl_rules.Rights, call: Call) -> bool:
    return rights.knows(call.words.rpartition("/")[2])


def _logs(rights: acl_rules.Rights, call: Call) -> bool:
    return not call.of_allocation or rights.allows(call.of_allocation, "read-logs", "read-fs")


def _deregister(rights: acl_rules.Rights, call: Call) -> bool:
    more = () if call.is_purge else ("deregister-job",)
    return rights.allows(call.namespace, "submit-job", "purge-job", *more)


_PLUGIN = _level("plugin", "read")
_NODE = _level("node", "read", "write")

CALLS: tuple[tuple[str, Check], ...] = (
    (r"GET /v1/(regions|acl/token/self|acl/policies|acl/policy/.+|namespaces|node/pools)", _anyone),
    (r"GET /v1/namespace/[^/]+", _namespace_known),
    (r"GET /v1/(nodes|node/[^/]+|agent/members)", _NODE),
    (r"GET /v1/agent/self", _level("agent", "read", "write")),
    (r"GET /v1/plugins", _level("plugin", "read", "list")),
    (r"GET /v1/plugin/csi/.+", _PLUGIN),
    (r"GET /v1/volumes(/snapshot)?", _in_namespace(*VOLUME_LIST)),
    (r"(PUT|POST|DELETE) /v1/volumes/snapshot", _both(_in_namespace("csi-write-volume"), _PLUGIN)),
    (r"(PUT|POST) /v1/(volumes|volume/csi/.+)", _PLUGIN),
    (r"GET /v1/volume/csi/.+", _in_namespace("csi-read-volume", "csi-mount-volume", "read-job")),
    (r"DELETE /v1/volume/csi/[^/]+/detach", _both(_in_namespace("csi-mount-volume"), _PLUGIN)),
    (r"DELETE /v1/volume/csi/.+", _in_namespace("csi-write-volume")),
    (r"(PUT|POST) /v1/jobs/parse", _in_namespace("parse-job", "submit-job")),
    (r"(PUT|POST) /v1/job/.+/plan", _in_namespace("submit-job", "plan-job")),
    (r"(PUT|POST) /v1/(jobs|job/.+)", _in_namespace("submit-job", "register-job")),
    (r"DELETE /v1/job/.+", _deregister),
    (r"GET /v1/jobs", _in_namespace("list-jobs")),
    (r"GET /v1/(job/.+|allocations)", _in_namespace("read-job")),
    (r"GET /v1/(allocation/[^/]+|evaluation/[^/]+(/allocations)?)", _anyone),
    (r"GET /v1/client/fs/logs/.+", _logs),
    (r"(\w+ /v1/var/.+|GET /v1/vars)", _anyone),
)
"""Call -> what it needs, by its path; the first that fits counts. What is not here needs management."""


def refuse(rights: acl_rules.Rights, call: Call) -> None:
    """Raise `RefusalError` where a token with *rights* may not make *call*, in Nomad's words."""
    if rights.is_management:
        return
    check = next((found for pattern, found in CALLS if re.fullmatch(pattern, call.words)), _management)
    if not check(rights, call):
        raise refusals.RefusalError(refusals.FORBIDDEN, "Permission denied")
    found = re.fullmatch(r"GET /v1/allocation/([^/]+)", call.words)
    if found and call.of_allocation and not rights.allows(call.of_allocation, "read-job"):
        raise refusals.RefusalError(refusals.SERVER_ERROR, f'Unknown allocation "{found[1]}"')


def refuse_job(rights: acl_rules.Rights, job: acl_rules.Json) -> None:
    """Raise `RefusalError` where the job runs a plugin or uses a volume, and the token may not do that."""
    namespace = job.get("Namespace") or "default"
    groups = job.get("TaskGroups") or ()
    needs = []
    if any((volume or {}).get("Type") == "csi" for group in groups for volume in (group.get("Volumes") or {}).values()):
        needs.append(rights.allows(namespace, "csi-mount-volume") and rights.has_level("plugin", "read"))
    if any(task.get("CSIPluginConfig") for group in groups for task in group.get("Tasks") or ()):
        needs.append(rights.allows(namespace, "csi-register-plugin"))
    if not all([rights.allows(namespace, "submit-job", "register-job"), *needs]):
        raise refusals.RefusalError(refusals.FORBIDDEN, "Permission denied")


def refuse_volumes(rights: acl_rules.Rights, namespaces: Collection[str]) -> None:
    """Raise `RefusalError` where volumes may not be written in one of *namespaces*."""
    if not all(rights.allows(namespace, "csi-write-volume") for namespace in namespaces):
        raise refusals.RefusalError(refusals.FORBIDDEN, "Permission denied")
