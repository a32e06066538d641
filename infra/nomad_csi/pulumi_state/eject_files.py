"""
The files of what a stack forgets: job files and volume files with concrete external ids, as they are committed.

The paths are those that ``nomad-csi render`` writes to.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from nomad_csi import errors
from nomad_csi.hcl import files as parsed
from nomad_csi.plan import registration
from nomad_csi.pulumi_state import eject
from nomad_csi.render import documents
from nomad_csi.resources import volume_document

JOB = "nomad-csi:index:PluginJob"
REGISTERED = "nomad-csi:index:VolumeRegistration"
CREATED = "nomad-csi:index:CreatedVolume"

_SIGNATURE = "4dabf18193072939515e22adb298388d"
"""Key of a secret in a state. Source: pulumi/pulumi, ``sdk/go/common/resource/sig/sig.go`` (``Key``), 2026-08."""


@dataclass(kw_only=True)
class EjectedFiles:
    """Texts by their path, and what is to be said about them."""

    texts: dict[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    @property
    def jobs(self) -> tuple[str, ...]:
        """Paths of the job files."""
        return tuple(path for path in self.texts if path.startswith("jobs/"))


def holds_secrets(ejection: eject.Ejection) -> bool:
    """Return whether a volume has secrets, whose names only a decrypted export tells."""
    return any(resource.get("inputs", {}).get("secrets") for resource in ejection.forgotten)


def of(ejection: eject.Ejection, secret_names: Mapping[str, tuple[str, ...]]) -> EjectedFiles:
    """
    Return the files of *ejection*; *secret_names* are the names of a volume's secrets, by the resource's URN.

    Raises `errors.RefusedError` for a job whose HCL is secret in the state, and for a volume that was never made.
    """
    found = EjectedFiles()
    for resource in reversed(ejection.forgotten):
        if resource["type"] == JOB:
            _add(found, *_job(resource, found.texts))
        elif resource["type"] in {REGISTERED, CREATED}:
            _add(found, *_volume(resource, secret_names.get(resource["urn"], ()), found.remarks))
    return found


def names_of_secrets(exported: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the names of the secrets of each volume in *exported*, an export with plain secrets, by URN."""
    found = {}
    for resource in exported["deployment"].get("resources") or ():
        secrets = resource.get("inputs", {}).get("secrets")
        if resource["type"] in {REGISTERED, CREATED} and secrets:
            found[resource["urn"]] = tuple(sorted(_opened(secrets)))
    return found


def _add(found: EjectedFiles, path: str, text: str) -> None:
    if found.texts.setdefault(path, text) != text:
        raise errors.RefusedError(f"two resources of the stack have the file {path}; eject them from separate stacks")


def _job(resource: eject.Resource, taken: Mapping[str, str]) -> tuple[str, str]:
    inputs = resource["inputs"]
    hcl = inputs["hcl"]
    if _is_secret(hcl):
        raise errors.RefusedError(
            f"job {inputs['namespace']}/{inputs['jobId']}: its HCL is secret in the state, and is written to no file; "
            "keep its file yourself, and take it out of the stack with `pulumi state delete`"
        )
    path = f"jobs/{_plugin_and_role(hcl) or inputs['jobId']}.nomad.hcl"
    if taken.get(path, hcl) != hcl:
        path = f"jobs/{inputs['namespace']}-{inputs['jobId']}.nomad.hcl"
    return path, hcl


def _plugin_and_role(hcl: str) -> str:
    """Return ``aws-ebs0-controller`` for the job file of one plugin; empty for any other."""
    try:
        found = [plugin for job in parsed.parse(hcl, "").jobs for _, _, plugin in job.plugins()]
    except errors.SpecError:
        return ""  # with functions in it, which are the server's to compute
    return f"{found[0].id}-{found[0].type}" if len(found) == 1 else ""


def _volume(resource: eject.Resource, secret_names: tuple[str, ...], remarks: list[str]) -> tuple[str, str]:
    inputs, hidden = _without_secrets(resource["inputs"])
    key = f"{inputs['namespace']}/{inputs['volumeId']}"
    remarks += [f"{name} of volume {key} is secret and is not in any file: add it, or it is dropped" for name in hidden]
    if resource["type"] == CREATED:
        document = _created(inputs, resource.get("outputs") or {}, key)
    else:
        document = volume_document.from_inputs(inputs)
    document = replace(document, secrets=dict.fromkeys(secret_names, ""))
    return f"volumes/{key}.volume.hcl", documents.volume_file(document)


def _created(inputs: Mapping[str, Any], outputs: Mapping[str, Any], key: str) -> registration.VolumeRegistration:
    """Return the registration of what the plugin made: with the id and the context that it answered."""
    if not outputs.get("externalId"):
        raise errors.RefusedError(f"volume {key}: the state does not hold its external id; run `pulumi up`, then eject")
    return volume_document.from_inputs(
        {**inputs, "externalId": outputs["externalId"], "context": outputs.get("context") or {}}
    )


def _is_secret(value: Any) -> bool:
    return isinstance(value, Mapping) and _SIGNATURE in value


def _opened(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the map of secrets that a plain export holds: one secret as a whole, or a secret for each."""
    if not _is_secret(value):
        return value
    found = json.loads(value.get("plaintext") or "{}")
    return found if isinstance(found, Mapping) else {}


def _without_secrets(inputs: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return *inputs* without what is secret in them, and the names of those, but for ``secrets`` itself."""
    kept, hidden = {}, []
    for name, value in inputs.items():
        if name == "secrets":
            continue
        if _is_secret(value):
            hidden.append(name)
        elif name == "mountOptions":
            inner, wrong = _without_secrets(value)
            kept[name] = inner
            hidden += [f"{name}.{each}" for each in wrong]
        elif _holds_secret(value):
            hidden.append(name)
        else:
            kept[name] = value
    return kept, hidden


def _holds_secret(value: Any) -> bool:
    return any(_found(value))


def _found(value: Any) -> Iterator[bool]:
    if _is_secret(value):
        yield True
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _found(each)
    elif isinstance(value, list):
        for each in value:
            yield from _found(each)
