"""
Remove what nomad-csi manages from a Pulumi stack's state: back up the state, write the files, delete the URNs.

Removed from the state: plugins, volumes, files, their components, and the AWS resources below them. The objects
themselves are not changed or deleted. Only Pulumi is queried. A resource has the form of ``pulumi stack export``.
Source: pulumi/pulumi, ``ResourceV3`` in ``sdk/go/common/apitype/core.go``, 2026-08.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nomad_csi import errors
from nomad_csi.hcl import disk, documents
from nomad_csi.pulumi_state.stack_cli import PulumiStack
from nomad_csi.spec import names
from nomad_csi.volumes import desired

PACKAGE = "nomad-csi"
_PROVIDERS = "pulumi:providers:"

_VOLUMES = {names.VOLUME_REGISTRATION_TYPE, names.CREATED_VOLUME_TYPE}

_SIGNATURE = "4dabf18193072939515e22adb298388d"
"""Key of a secret in a state. Source: pulumi/pulumi, ``sdk/go/common/resource/sig/sig.go`` (``Key``), 2026-08."""

Resource = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Ejection:
    """What is removed from a stack's state."""

    exported: Mapping[str, Any]
    """The present state, secrets encrypted."""

    forgotten: tuple[Resource, ...]
    """The resources to remove, dependents before what they depend on."""

    kept: tuple[str, ...]
    """URNs that the stack continues to manage."""

    left: tuple[Mapping[str, Any], ...]
    """Resources that remain in AWS, unmanaged: type, id and tags of each."""

    files: Mapping[str, str]
    """Texts of job files and volume files by their path."""

    remarks: tuple[str, ...]
    """Notes on the files."""

    @property
    def urns(self) -> tuple[str, ...]:
        """URNs to remove, in order."""
        return tuple(resource["urn"] for resource in self.forgotten)

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        document = {"forgotten": list(self.urns), "kept": list(self.kept), "left_in_aws": list(self.left)}
        return document | {"files": list(self.files), "remarks": list(self.remarks)}


def plan_ejection(stack: PulumiStack, source: str) -> Ejection:
    """
    Return what ejecting *stack* would do; *source* names it in errors. Changes nothing.

    Raises `errors.RefusedError` if it cannot be done now: an operation was interrupted, the HCL of a job is secret in
    the state, or a volume was never created.
    """
    exported = stack.export()
    deployment = exported.get("deployment") or {}
    resources = tuple(deployment.get("resources") or ())
    _refuse_unfinished(resources, deployment.get("pending_operations") or (), source)
    ours: set[str] = set()
    for resource in resources:  # parents precede their children
        if _is_of_package(resource["type"]) or resource.get("parent") in ours:
            ours.add(resource["urn"])
    own = [resource for resource in resources if resource["urn"] in ours]
    texts, remarks = _files_of(own)
    return Ejection(
        exported=exported,
        forgotten=tuple(reversed(own)),
        kept=tuple(resource["urn"] for resource in resources if resource["urn"] not in ours),
        left=tuple(map(_left, filter(_is_elsewhere, own))),
        files=texts,
        remarks=tuple(remarks),
    )


def run(stack: PulumiStack, ejection: Ejection, *, folder: Path, backup: Path, report: Callable[[str], None]) -> None:
    """
    Eject as *ejection* describes: back up the whole state in *backup*, write the files below *folder*, remove the URNs.

    An interrupted run is safe to repeat: it continues with the rest. Raises `errors.RefusedError` if a file is in the
    way, or if the state changed meanwhile, before any URN is removed.
    """
    if stack.export()["deployment"].get("resources") != ejection.exported["deployment"].get("resources"):
        raise errors.RefusedError("the stack changed meanwhile; nothing was removed: check it, then eject again")
    _back_up(backup, ejection.exported)
    report(f"state kept in {backup}: `pulumi stack import --file {backup}` brings it back")
    changed = disk.write_all(folder, ejection.files)
    report(f"{len(changed)} of {len(ejection.files)} files written below {folder}")
    stack.forget(ejection.urns, protected=any(resource.get("protect") for resource in ejection.forgotten))


def _back_up(path: Path, exported: Mapping[str, Any]) -> None:
    """Write the state to *path*, readable by its owner only, and never over another file."""
    text = json.dumps(exported, indent=2) + "\n"
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise errors.RefusedError(f"{path} is there already; name another file with --backup") from None
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _is_of_package(kind: str) -> bool:
    return kind.startswith(f"{PACKAGE}:") or kind == f"{_PROVIDERS}{PACKAGE}"


def _is_elsewhere(resource: Resource) -> bool:
    """Return whether *resource* is an object of another provider."""
    return bool(resource.get("id")) and not _is_of_package(resource["type"])


def _left(resource: Resource) -> Mapping[str, Any]:
    tags = (resource.get("outputs") or {}).get("tags") or {}
    shown = {key: value for key, value in tags.items() if isinstance(value, str)}  # and no secret
    return {"type": resource["type"], "id": str(resource["id"]), "tags": shown}


def _refuse_unfinished(resources: Sequence[Resource], pending: Sequence[Mapping[str, Any]], source: str) -> None:
    unfinished = [operation["resource"]["urn"] for operation in pending]
    unfinished += [resource["urn"] for resource in resources if resource.get("delete")]
    if unfinished:
        raise errors.RefusedError(
            f"{source}: an operation was interrupted, and its end is not known: {', '.join(unfinished)}; "
            "run `pulumi refresh` or `pulumi up`, then eject"
        )


# The files of the removed resources: job files and volume files with concrete external ids, ready to commit.
#
# The paths are those that ``nomad-csi render`` writes to: components name a job by its plugin and role.


def _files_of(resources: Sequence[Resource]) -> tuple[dict[str, str], list[str]]:
    """Return the files of *resources* and notes on them."""
    texts: dict[str, str] = {}
    remarks: list[str] = []
    for resource in resources:
        if resource["type"] == names.PLUGIN_JOB_TYPE:
            path, text = _job(resource)
        elif resource["type"] in _VOLUMES:
            path, text = _volume(resource, remarks)
        else:
            continue
        if texts.setdefault(path, text) != text:
            raise errors.RefusedError(
                f"two resources of the stack have the file {path}; eject them from separate stacks"
            )
    return texts, remarks


def _job(resource: Resource) -> tuple[str, str]:
    inputs = resource["inputs"]
    if _is_secret(inputs["hcl"]):
        raise errors.RefusedError(
            f"job {inputs['namespace']}/{inputs['jobId']}: its HCL is secret in the state, and is written to no file; "
            "keep its file yourself, and take it out of the stack with `pulumi state delete`"
        )
    return f"jobs/{names.read_urn(resource['urn']).name}.nomad.hcl", inputs["hcl"]


def _volume(resource: Resource, remarks: list[str]) -> tuple[str, str]:
    inputs, hidden = _drop_secrets(resource["inputs"])
    key = f"{inputs['namespace']}/{inputs['volumeId']}"
    remarks += [f"{name} of volume {key} is secret and is not in any file: add it, or it is dropped" for name in hidden]
    if resource["type"] == names.CREATED_VOLUME_TYPE:
        # With the id and the context that the plugin returned.
        outputs = resource.get("outputs") or {}
        if not outputs.get("externalId"):
            raise errors.RefusedError(
                f"volume {key}: the state does not hold its external id; run `pulumi up`, then eject"
            )
        inputs |= {"externalId": outputs["externalId"], "context": outputs.get("context")}
    return f"volumes/{key}.volume.hcl", documents.volume_file(desired.parse_inputs(inputs))


def _is_secret(value: Any) -> bool:
    return isinstance(value, Mapping) and _SIGNATURE in value


def _drop_secrets(inputs: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return *inputs* without those that hold a secret value, and the names of these."""
    hidden = [name for name, value in inputs.items() if _holds_secret(value)]
    return {name: value for name, value in inputs.items() if name not in hidden}, hidden


def _holds_secret(value: Any) -> bool:
    if isinstance(value, Mapping):
        return _is_secret(value) or any(map(_holds_secret, value.values()))
    return isinstance(value, list) and any(map(_holds_secret, value))
