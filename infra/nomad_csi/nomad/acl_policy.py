"""
The minimal ACL policy for given commands, from one table of the calls of each command. Pure.

Commands are named as they are typed, with options if these need more; ``up``, ``preview``, ``refresh`` and
``destroy`` are Pulumi's, and ``job`` is ``nomad job run`` of jobs that use volumes. tests/contract runs each command
with its policy, and with each capability of it removed.
"""

import itertools
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from nomad_csi.nomad import permissions

DEFAULT_NAMESPACE = "default"
"""Also the namespace of the variable with the id of the cluster (``nomad.cluster_identity``)."""

CAPABILITIES = (
    *("csi-list-volume", "list-jobs", "csi-read-volume", "read-job", "parse-job", "read-logs", "read-fs"),
    *("csi-mount-volume", "csi-write-volume", "csi-register-plugin", "submit-job"),
)
"""Capabilities, the weakest first. If several permit a call, the policy has the first of them."""

OWN_VARIABLES = "nomad-csi/*"
"""Path of all variables that this package reads and writes, for a policy."""


@dataclass(frozen=True, kw_only=True)
class Rights:
    """The calls of a command, as `permissions.NEEDS` names them."""

    jobs: tuple[str, ...] = ()
    """Those in the namespaces of plugin jobs, where probe jobs run, too."""

    volumes: tuple[str, ...] = ()
    """Those in the namespaces of volumes."""

    cluster: tuple[str, ...] = ()
    """Those outside of namespaces."""

    identity: tuple[str, ...] = ()
    """Those on the variable with the id of the cluster."""

    remark: str = ""
    """Requirements that no policy can grant."""

    def with_(self, other: "Rights") -> "Rights":
        """Return the union of both."""
        return Rights(**{name: found + getattr(other, name) for name, found in vars(self).items()})


_TOUCH_RECORDS = ("read variable", "write variable", "delete variable")
_READ_VOLUMES = ("list volumes", "read volume")
_PROBE_JOB = Rights(
    jobs=("list jobs", "parse job", "register job", "read job", "read logs", "stop job"),
    volumes=_READ_VOLUMES,
    cluster=("read plugin", "read clients"),
)
_VERIFY = Rights(
    jobs=("read job", "read logs"),
    volumes=("read volume", "read job"),
    cluster=("read plugin", "read clients", "read servers"),
)
_DOCTOR = Rights(
    jobs=("read job",),
    volumes=(*_READ_VOLUMES, "read variable"),
    cluster=("list plugins", "read plugin", "read clients", "read servers"),
)
_REFRESH = Rights(
    jobs=("parse job", "plan job", "read job", "read variable"),
    volumes=("read volume", "read variable"),
    cluster=("read plugin", "read clients"),
    identity=("read variable",),
)
_PREVIEW = _REFRESH.with_(Rights(volumes=("list volumes",), cluster=("list plugins",)))
_DESTROY = Rights(
    jobs=("parse job", "read job", "stop job", "read variable", "delete variable"),
    # The record of storage that a plugin created stays, and is completed.
    volumes=(*_READ_VOLUMES, "deregister volume", *_TOUCH_RECORDS),
    identity=("read variable",),
)

_UP = Rights(
    jobs=("register job", "run plugin", "read logs", "write variable"),
    volumes=("write volume", "write variable"),
    identity=("write variable",),
)

COMMANDS: Mapping[str, Rights] = {
    "apply FILE": Rights(
        volumes=(*_READ_VOLUMES, "write volume", "read variable", "write variable"), cluster=("read servers",)
    ),
    "plan": Rights(
        jobs=("parse job", "plan job", "read job", "read variable"),
        volumes=(*_READ_VOLUMES, "read variable"),
        cluster=("list plugins", "read plugin", "read clients"),
    ),
    "apply": _PREVIEW.with_(_UP).with_(Rights(jobs=_TOUCH_RECORDS, volumes=_TOUCH_RECORDS, cluster=("read servers",))),
    "remove": Rights(volumes=(*_READ_VOLUMES, "deregister volume", *_TOUCH_RECORDS)),
    "remove --delete-data": Rights(
        volumes=(*_READ_VOLUMES, "deregister volume", *_TOUCH_RECORDS),
        cluster=("read plugin",),
        identity=("read variable",),
    ),
    "snapshot create": Rights(volumes=("change snapshots",)),
    "snapshot list": Rights(volumes=(*_READ_VOLUMES, "list snapshots")),
    "snapshot delete": Rights(volumes=("list volumes", "list snapshots", "change snapshots")),
    "claims": Rights(volumes=(*_READ_VOLUMES, "read job"), cluster=("read plugin", "read clients", "read servers")),
    "claims repair": Rights(
        volumes=(*_READ_VOLUMES, "detach volume", "deregister volume", "write volume", *_TOUCH_RECORDS),
        cluster=("read plugin", "read clients"),
        remark="garbage is collected for management tokens only; without one, that step is passed over",
    ),
    "smoke": Rights(
        volumes=(*_READ_VOLUMES, "parse job", "plan job", "register job", "mount volume", "read job", "stop job"),
        cluster=("read plugin", "read clients"),
    ),
    "verify": _VERIFY,
    "verify --on-nodes": _VERIFY.with_(
        Rights(jobs=_PROBE_JOB.jobs, volumes=("read volume",), cluster=_PROBE_JOB.cluster)
    ),
    "doctor": _DOCTOR,
    "verify --html": _DOCTOR.with_(_VERIFY),
    "csi probe --volumes-of": Rights(volumes=_READ_VOLUMES, cluster=("read plugin", "read clients")),
    "csi probe --on-nodes": _PROBE_JOB,
    "import --cluster": Rights(jobs=("read job",), volumes=_READ_VOLUMES, cluster=("list plugins", "read plugin")),
    "job": Rights(volumes=("parse job", "plan job", "register job", "mount volume", "read job")),
    "up": _PREVIEW.with_(_DESTROY).with_(_UP),
    "preview": _PREVIEW,
    "refresh": _REFRESH,
    "destroy": _DESTROY,
}
"""Command -> its calls to Nomad. Commands that are not here make no calls."""


def least_policy(commands: Iterable[str], *, jobs: Collection[str], volumes: Collection[str]) -> "AclPolicy":
    """
    Return the minimal policy for *commands*, which are in `COMMANDS`.

    *jobs* and *volumes* are the namespaces of plugin jobs and of volumes; both may be patterns such as ``*``.
    """
    chosen = [COMMANDS[name] for name in commands]
    calls: dict[str, list[str]] = {namespace: [] for namespace in (*jobs, *volumes)}
    for rights in chosen:
        for names, found in ((jobs, rights.jobs), (volumes, rights.volumes)):
            for namespace in names:
                calls[namespace] += found
    calls = {namespace: found for namespace, found in calls.items() if found}
    identity = [name for rights in chosen for name in rights.identity]
    all_calls = [name for found in (*calls.values(), *(rights.cluster for rights in chosen)) for name in found]
    variables = {namespace: variable_rights(found) for namespace, found in calls.items()}
    variables[DEFAULT_NAMESPACE] = variables.get(DEFAULT_NAMESPACE, frozenset()) | variable_rights(identity)
    return AclPolicy(
        capabilities={namespace: _capabilities(found) for namespace, found in calls.items()},
        variables={namespace: found for namespace, found in variables.items() if found},
        levels=tuple(sorted({level for name in all_calls if (level := permissions.NEEDS[name].level)})),
    )


def variable_rights(calls: Iterable[str]) -> frozenset[str]:
    """Return the capabilities that *calls* need on their variables."""
    return frozenset(need.variable for name in calls if (need := permissions.NEEDS[name]).variable)


def _capabilities(calls: Iterable[str]) -> tuple[str, ...]:
    """Return the weakest set of capabilities that permits all *calls*: its strongest one is as weak as possible."""
    wanted = {each & set(CAPABILITIES) for each in permissions.alternatives(calls) if each}
    useful = [name for name in CAPABILITIES if any(name in each for each in wanted)]
    ranks = range(len(useful))
    sets = itertools.chain.from_iterable(
        itertools.combinations(reversed(ranks), count) for count in range(len(useful) + 1)
    )
    best = min(found for found in sets if all(any(useful[rank] in each for rank in found) for each in wanted))
    return tuple(useful[rank] for rank in reversed(best))


@dataclass(frozen=True, kw_only=True)
class AclPolicy:
    """An ACL policy."""

    capabilities: Mapping[str, Sequence[str]]
    """By namespace."""

    variables: Mapping[str, Collection[str]]
    """On `OWN_VARIABLES`, by namespace."""

    levels: Sequence[str]
    """Those of ``node`` and ``plugin`` with level read."""

    def as_hcl(self) -> str:
        """Return the policy as HCL for ``nomad acl policy apply``."""
        blocks = [*map(self._namespace, sorted({*self.capabilities, *self.variables}))]
        blocks += [f'{level} {{\n  policy = "read"\n}}' for level in self.levels]
        return "\n\n".join(blocks)

    def _namespace(self, name: str) -> str:
        return "\n".join([f"namespace {json.dumps(name)} {{", *self._inside(name), "}"])

    def _inside(self, name: str) -> Iterator[str]:
        capabilities, variables = self.capabilities.get(name, ()), self.variables.get(name, ())
        if capabilities:
            yield f"  capabilities = {json.dumps(list(capabilities))}"
        if capabilities and variables:
            yield ""
        if variables:
            found = json.dumps(sorted(variables, key=("read", "write", "destroy").index))
            yield from (
                "  variables {",
                f'    path "{OWN_VARIABLES}" {{',
                f"      capabilities = {found}",
                "    }",
                "  }",
            )
