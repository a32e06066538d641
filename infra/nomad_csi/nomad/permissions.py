"""
What calls, commands and tasks need of a token, from ``permissions.yaml``, and the minimal policy for commands. Pure.

Errors take the missing capability from the table. tests/contract runs each command with its policy, and with each
capability of it removed.
"""

import functools
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Literal

from nomad_csi.spec import yaml_text

DEFAULT_NAMESPACE = "default"
"""Also the namespace of the variable with the id of the cluster (``nomad.cluster_identity``)."""

CAPABILITIES = (
    *("csi-list-volume", "list-jobs", "csi-read-volume", "read-job", "parse-job", "read-logs", "read-fs"),
    *("csi-mount-volume", "csi-write-volume", "csi-register-plugin", "submit-job"),
)
"""Capabilities, the weakest first. If several permit a call, the policy has the first of them."""

YOUNG = frozenset({"deregister-job", "plan-job", "purge-job", "register-job"})
"""
Capabilities that older releases do not support (``job-capabilities`` in ``releases.yaml``). They refuse a policy that
names one, so this package accepts them on a token, and requires none.
"""

OWN_VARIABLES = "nomad-csi/*"
"""Path of all variables that this package reads and writes, for a policy."""


@dataclass(frozen=True, kw_only=True)
class Need:
    """What one call needs of a token; each key is explained in ``permissions.yaml``."""

    any_of: Sequence[str] = ()
    variable: str = ""
    level: Literal["node", "plugin", ""] = ""
    is_management: bool = False
    calls: str = ""
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Rights:
    """The calls of a command or a task; each key is explained in ``permissions.yaml``."""

    jobs: Sequence[str] = ()
    volumes: Sequence[str] = ()
    cluster: Sequence[str] = ()
    identity: Sequence[str] = ()
    remark: str = ""


@dataclass(frozen=True, kw_only=True)
class Table:
    """The table ``permissions.yaml``."""

    calls: Mapping[str, Need]
    commands: Mapping[str, Rights]
    tasks: Mapping[str, Rights]


@functools.cache
def table() -> Table:
    """Return the table."""
    rows = yaml_text.load(resources.files(__package__).joinpath("permissions.yaml").read_text(encoding="utf-8"))
    return Table(
        calls={name: Need(**row) for name, row in rows["calls"].items()},
        commands={name: Rights(**row) for name, row in rows["commands"].items()},
        tasks={name: Rights(**row) for name, row in rows["tasks"].items()},
    )


# What a call needs, for the error of one that was denied.


_LEVELS: Mapping[str, str] = {
    "plugin": 'plugin { policy = "read" } ("write" grants nothing)',
    "node": 'node { policy = "read" }',
    "": "",
}


def needed(method: str, path: str, namespace: str) -> str | None:
    """Return what a token needs for the call, as a phrase; ``None``: not known here."""
    name = name_of(method, path)
    return _phrase(table().calls[name], path, namespace) if name else None


def name_of(method: str, path: str) -> str | None:
    """Return the name of a call in the table; ``None``: it has none."""
    call = f"{method} {path}"
    return next((name for name, need in table().calls.items() if need.calls and re.fullmatch(need.calls, call)), None)


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


# The minimal policy of commands.


def least_policy(commands: Iterable[str], *, jobs: Collection[str], volumes: Collection[str]) -> "AclPolicy":
    """
    Return the minimal policy for *commands*, which are in the table.

    *jobs* and *volumes* are the namespaces of plugin jobs and of volumes; both may be patterns such as ``*``.
    """
    chosen = [table().commands[name] for name in commands]
    calls: dict[str, list[str]] = {namespace: [] for namespace in (*jobs, *volumes)}
    for rights in chosen:
        for names, called in ((jobs, rights.jobs), (volumes, rights.volumes)):
            for namespace in names:
                calls[namespace] += called
    calls = {namespace: called for namespace, called in calls.items() if called}
    identity = [name for rights in chosen for name in rights.identity]
    all_calls = [name for called in (*calls.values(), *(rights.cluster for rights in chosen)) for name in called]
    variables = {namespace: variable_rights(called) for namespace, called in calls.items()}
    variables[DEFAULT_NAMESPACE] = variables.get(DEFAULT_NAMESPACE, frozenset()) | variable_rights(identity)
    return AclPolicy(
        capabilities={namespace: _capabilities(called) for namespace, called in calls.items()},
        variables={namespace: called for namespace, called in variables.items() if called},
        levels=tuple(sorted({level for name in all_calls if (level := table().calls[name].level)})),
    )


def variable_rights(calls: Iterable[str]) -> frozenset[str]:
    """Return the capabilities that *calls* need on their variables."""
    return frozenset(need.variable for name in calls if (need := table().calls[name]).variable)


def alternatives(names: Iterable[str]) -> tuple[frozenset[str], ...]:
    """Return, for each of the calls *names*, the capabilities of which one is needed in the namespace."""
    return tuple(frozenset(table().calls[name].any_of) for name in names)


def _capabilities(calls: Iterable[str]) -> tuple[str, ...]:
    """Return few and weak capabilities that permit all *calls*; calls with one choice choose first."""
    wanted = {each & set(CAPABILITIES) for each in alternatives(calls) if each}
    chosen: set[str] = set()
    for each in sorted(wanted, key=len):
        if not each & chosen:
            chosen.add(min(each, key=CAPABILITIES.index))
    return tuple(name for name in CAPABILITIES if name in chosen)


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
        parts = []
        if capabilities := self.capabilities.get(name):
            parts.append(f"  capabilities = {json.dumps(list(capabilities))}\n")
        if variables := self.variables.get(name):
            granted = json.dumps(sorted(variables, key=("read", "write", "destroy").index))
            block = f'    path "{OWN_VARIABLES}" {{\n      capabilities = {granted}\n    }}\n'
            parts.append(f"  variables {{\n{block}  }}\n")
        inside = "\n".join(parts)
        return f"namespace {json.dumps(name)} {{\n{inside}}}"
