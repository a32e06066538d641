"""What the token may not do of what this package does. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nomad_csi.doctor import model
from nomad_csi.findings import finding
from nomad_csi.nomad import permissions
from nomad_csi.nomad.records import tokens


@dataclass(frozen=True, kw_only=True)
class _Operation:
    """Something that this package does."""

    name: str
    in_jobs: tuple[frozenset[str], ...] = ()
    """One capability of each set, in the namespaces of plugin jobs."""

    in_volumes: tuple[frozenset[str], ...] = ()
    """The same in the namespaces of volumes."""

    on_marks: frozenset[str] = frozenset()
    """All of these on the variables with the owner marks, in the namespaces of volumes."""

    levels: tuple[tuple[str, frozenset[str]], ...] = ()
    """``node``, ``plugin`` or ``agent``, and which levels will do."""


MARKS = "nomad-csi/volumes/0"
"""One of the variables with owner marks (``ownership.owner_records``)."""


def _any(*names: str) -> frozenset[str]:
    return frozenset(names)


_PLUGIN = ("plugin", _any("read"))
_NODE = ("node", _any("read", "write"))

_IN = permissions.alternatives

OPERATIONS = (
    _Operation(
        name="read (verify, plan, claims, doctor)",
        in_jobs=_IN(("read job", "list jobs")),
        in_volumes=_IN(("read volume", "list volumes")),
        levels=(_PLUGIN, _NODE),
    ),
    _Operation(
        name="run plugin jobs (pulumi up)",
        in_jobs=_IN(("register job", "parse job", "plan job", "run plugin")),
        levels=(_PLUGIN,),
    ),
    _Operation(name="stop plugin jobs (pulumi destroy)", in_jobs=_IN(("stop job",))),
    _Operation(name="register volumes (pulumi up, register)", in_volumes=_IN(("write volume",)), levels=(_PLUGIN,)),
    _Operation(name="write owner records of volumes", on_marks=frozenset({"destroy", "read", "write"})),
    _Operation(name="deregister volumes (pulumi destroy, deregister)", in_volumes=_IN(("deregister volume",))),
    _Operation(name="detach volumes (claims --repair)", in_volumes=_IN(("detach volume",)), levels=(_PLUGIN,)),
)


def check(found: model.ObservedCluster) -> Iterator[model.Outcome]:
    """Yield what will end with 403."""
    token, unchecked = model.known(found.token, "what the token may do")
    yield from unchecked
    if token is None or token.is_unlimited:
        return
    subject = f"token {token.name}"
    for policy in token.missing:
        yield finding(
            "token-policy-missing", subject, found=f"/v1/acl/token/self names policy {policy}; /v1/acl/policy: 404"
        )
    if token.unread:
        reason = f"Nomad does not show the rules of {model.named(list(token.unread))}"
        yield model.Unchecked(check=f"what {subject} may do", reason=reason)
        return
    writers = [name for name, rules in token.policies.items() if rules.plugin == "write"]
    if writers:
        evidence = f'/v1/acl/policy: plugin {{ policy = "write" }} in {model.named(writers)}'
        yield finding("plugin-write-grants-nothing", subject, found=evidence)
    for operation in OPERATIONS:
        yield from _lacking(found, token, operation)


def _lacking(found: model.ObservedCluster, token: tokens.AclToken, operation: _Operation) -> Iterator[model.Outcome]:
    lacking = [
        *_in_namespaces(token, _job_namespaces(found), operation.in_jobs),
        *_in_namespaces(token, _volume_namespaces(found), operation.in_volumes),
        *_on_marks(token, _volume_namespaces(found), operation.on_marks),
        *(f'{kind} {{ policy = "read" }}' for kind, levels in operation.levels if token.level(kind) not in levels),
    ]
    if lacking:
        told = "; ".join(dict.fromkeys(lacking))
        evidence = f"/v1/acl/policy ({model.named(list(token.policies)) or 'it has none'}): not allowed: {told}"
        yield finding("token-cannot", f"token {token.name}: {operation.name}", found=evidence)


def _in_namespaces(
    token: tokens.AclToken, namespaces: Iterable[str], needed: tuple[frozenset[str], ...]
) -> Iterator[str]:
    places = sorted(namespaces)
    for one_of in needed:
        without = [name for name in places if not one_of & token.capabilities(name)]
        if without:
            yield f"{' or '.join(sorted(one_of))} in namespace {model.named(without)}"


def _on_marks(token: tokens.AclToken, namespaces: Iterable[str], needed: frozenset[str]) -> Iterator[str]:
    without = [name for name in sorted(namespaces) if not needed <= token.of_variables(name, MARKS)]
    if needed and without:
        yield f"{', '.join(sorted(needed))} on variables nomad-csi/* in namespace {model.named(without)}"


def _job_namespaces(found: model.ObservedCluster) -> frozenset[str]:
    return frozenset(task.namespace for task in found.known_tasks) or frozenset({found.namespace})


def _volume_namespaces(found: model.ObservedCluster) -> frozenset[str]:
    return frozenset(_namespace(volume.key) for volume in found.known_volumes) or frozenset({found.namespace})


def _namespace(key: str) -> str:
    return key.partition("/")[0]
