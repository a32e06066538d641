"""
To let a Pulumi stack forget what nomad-csi manages in it: which resources, in which order, and what hinders. Pure.

What is forgotten: plugins, volumes, files, their components, and whatever lies below those in AWS. Nothing of it is
changed or removed where it is. The shape of a resource is that of ``pulumi stack export``.
Source: pulumi/pulumi, ``ResourceV3`` in ``sdk/go/common/apitype/core.go``, 2026-08.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nomad_csi import errors

PACKAGE = "nomad-csi"
_PROVIDERS = "pulumi:providers:"
_DEFAULT = "::default"

Resource = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Left:
    """A resource in AWS that no stack knows any more."""

    type: str
    """Pulumi's type, such as ``aws:ebs/volume:Volume``."""

    id: str
    tags: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Ejection:
    """What a stack is to forget."""

    forgotten: tuple[Resource, ...]
    """Dependents before what they depend on."""

    kept: tuple[str, ...]
    """URNs of what the stack goes on to manage."""

    left: tuple[Left, ...]
    """What stays in AWS on its own."""

    @property
    def urns(self) -> tuple[str, ...]:
        """URNs of what is forgotten, in order."""
        return tuple(resource["urn"] for resource in self.forgotten)

    @property
    def has_protected(self) -> bool:
        """Whether Pulumi protects one of them."""
        return any(resource.get("protect") for resource in self.forgotten)

    def as_json(self) -> dict[str, Any]:
        """Return it as data."""
        shown = [{"type": item.type, "id": item.id, "tags": dict(item.tags)} for item in self.left]
        return {"forgotten": list(self.urns), "kept": list(self.kept), "left_in_aws": shown}


def plan(exported: Mapping[str, Any], source: str) -> Ejection:
    """
    Return what the stack whose export is *exported* forgets; *source* names the stack in errors.

    Raises `errors.RefusedError` where an operation was interrupted, and where something that stays needs what goes.
    """
    deployment = exported.get("deployment") or {}
    resources = tuple(deployment.get("resources") or ())
    _refuse_unfinished(resources, deployment.get("pending_operations") or (), source)
    ours: set[str] = set()
    for resource in resources:  # parents stand before their children
        if _is_of_package(resource["type"]) or resource.get("parent") in ours:
            ours.add(resource["urn"])
    _refuse_needed(resources, ours, source)
    ours |= _idle_providers(resources, ours)
    return Ejection(
        forgotten=tuple(resource for resource in reversed(resources) if resource["urn"] in ours),
        kept=tuple(resource["urn"] for resource in resources if resource["urn"] not in ours),
        left=tuple(_left(resource) for resource in resources if resource["urn"] in ours and _is_elsewhere(resource)),
    )


def _is_of_package(kind: str) -> bool:
    return kind.startswith(f"{PACKAGE}:") or kind == f"{_PROVIDERS}{PACKAGE}"


def _is_elsewhere(resource: Resource) -> bool:
    """Return whether *resource* is an object of another provider."""
    kind = resource["type"]
    return bool(resource.get("id")) and not _is_of_package(kind) and not kind.startswith("pulumi:")


def _left(resource: Resource) -> Left:
    tags = (resource.get("outputs") or {}).get("tags") or (resource.get("inputs") or {}).get("tags") or {}
    return Left(
        type=resource["type"],
        id=str(resource["id"]),
        tags={key: value for key, value in tags.items() if isinstance(value, str)} if isinstance(tags, Mapping) else {},
    )


def _refuse_unfinished(resources: Sequence[Resource], pending: Sequence[Mapping[str, Any]], source: str) -> None:
    unfinished = [operation["resource"]["urn"] for operation in pending]
    unfinished += [resource["urn"] for resource in resources if resource.get("delete")]
    if unfinished:
        raise errors.RefusedError(
            f"{source}: an operation was interrupted, and its end is not known: {', '.join(unfinished)}; "
            "run `pulumi refresh` or `pulumi up`, then eject"
        )


def _needed_by(resource: Resource) -> Iterator[str]:
    """Yield URNs that *resource* needs."""
    yield from resource.get("dependencies") or ()
    for urns in (resource.get("propertyDependencies") or {}).values():
        yield from urns or ()
    yield from resource.get("replaceWith") or ()
    for name in ("parent", "deletedWith"):
        if resource.get(name):
            yield resource[name]
    if resource.get("provider"):
        yield resource["provider"].rpartition("::")[0]


def _refuse_needed(resources: Sequence[Resource], ours: set[str], source: str) -> None:
    """Refuse where a resource that stays depends on one that goes: Pulumi would not let the state be like that."""
    wrong = [
        f"{resource['urn']} needs {needed}"
        for resource in resources
        if resource["urn"] not in ours
        for needed in sorted(ours.intersection(_needed_by(resource)))
    ]
    if wrong:
        raise errors.RefusedError(
            f"{source}: something that stays needs what would be forgotten: {'; '.join(wrong)}; "
            "take that dependency out of the program and run `pulumi up`, then eject"
        )


def _idle_providers(resources: Sequence[Resource], ours: set[str]) -> set[str]:
    """Return default providers that nothing uses but what goes."""
    used = {
        resource["provider"].rpartition("::")[0]
        for resource in resources
        if resource.get("provider") and resource["urn"] not in ours
    }
    return {
        resource["urn"]
        for resource in resources
        if resource["type"].startswith(_PROVIDERS) and _DEFAULT in resource["urn"] and resource["urn"] not in used
    }
