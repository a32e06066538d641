"""
The names that a resource may have had before.

Source: pulumi/pulumi, ``generateAliases`` in ``pkg/resource/deploy/step_generator.go``.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from nomad_csi_sandbox.engine import plugins, report

STACK_TYPE = "pulumi:pulumi:Stack"


def candidates(
    target: plugins.Target, parent: str, given: Iterable[Any], renamed: Mapping[str, str]
) -> tuple[str, ...]:
    """
    Return the URNs under which the state may know *target*, but for its own.

    *given* are the alias messages of the registration, *parent* is the URN of the parent now, and *renamed* has the old
    URN by the new one of what was found by an alias in this run: children of those had another URN too.
    """
    own = [_urn(target, parent, alias, renamed) for alias in given]
    inherited = []
    if parent in renamed:
        named = [(target.type, target.name), *(report.kind_and_name(urn) for urn in own)]
        inherited = [_inherited(kind, name, parent, renamed[parent]) for kind, name in named]
    return tuple(dict.fromkeys([*own, *inherited]))


def _urn(target: plugins.Target, parent: str, alias: Any, renamed: Mapping[str, str]) -> str:
    if alias.urn:
        return str(alias.urn)
    spec = alias.spec
    above = renamed.get(spec.parentUrn, spec.parentUrn) or parent
    if spec.noParent:
        above = ""
    _, stack, project = _head(target.urn)
    return _make(
        spec.stack or stack, spec.project or project, above, spec.type or target.type, spec.name or target.name
    )


def _inherited(kind: str, name: str, parent: str, former_parent: str) -> str:
    """Return the URN of a child of *former_parent*; a name that begins with its parent's name changed with it."""
    _, parent_name = report.kind_and_name(parent)
    _, former_name = report.kind_and_name(former_parent)
    former = former_name + name.removeprefix(parent_name) if name.startswith(parent_name) else name
    _, stack, project = _head(former_parent)
    return _make(stack, project, former_parent, kind, former)


def _make(stack: str, project: str, parent: str, kind: str, name: str) -> str:
    chain = parent.split("::")[2] if parent else ""
    qualified = kind if chain in ("", STACK_TYPE) else f"{chain}${kind}"
    return f"urn:pulumi:{stack}::{project}::{qualified}::{name}"


def _head(urn: str) -> tuple[str, str, str]:
    scheme, project = urn.split("::")[:2]
    return scheme, scheme.removeprefix("urn:pulumi:"), project
