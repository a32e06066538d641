"""
Volumes and jobs of a Terraform state, in the shape of files, and its AWS storage.

Input is the output of ``terraform state pull``. For each Nomad object, a remark describes the effect of
``terraform destroy``.

Source: hashicorp/terraform-provider-nomad, ``nomad/resource_csi_volume.go`` (``resourceCSIVolumeDelete`` calls Nomad's
volume delete), ``nomad/resource_csi_volume_registration.go`` (``Deregister(id, true)``: by force),
``nomad/resource_job.go``, 2026-07; hashicorp/terraform, ``internal/states/statefile/version4.go``, 2026-04.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import pydantic

from nomad_csi import errors
from nomad_csi.hcl import files as parsed
from nomad_csi.hcl import values
from nomad_csi.migration import aws_storage, model

SOURCE_SUFFIXES = (".tf", ".tf.json")
NOT_A_STATE = (
    "is Terraform source, which is not evaluated here: run `terraform state pull > state.json` in its folder, and "
    "pass state.json"
)

HEAD_BYTES = 512
"""Bytes at the start of a state that name the version that wrote it."""

REDACTED = "[REDACTED]"
"""Nomad's replacement for a mount flag."""

JOB = "nomad_job"
_DELETING = ("nomad_csi_volume", "nomad_external_volume")
_FORGETTING = ("nomad_csi_volume_registration", "nomad_volume")

_AS_IN_A_FILE = (
    "namespace", "name", "plugin_id", "external_id", "capability", "mount_options", "topology_request", "parameters",
    "context", "secrets", "capacity_min", "capacity_max", "clone_id", "snapshot_id",
)  # fmt: skip
_WRITE_ONLY = {"secrets_wo_version": "secrets", "mount_flags_wo_version": "mount_options.mount_flags"}
_ON_DESTROY = {
    **dict.fromkeys(_DELETING, "would have the plugin delete the storage with its data"),
    **dict.fromkeys(_FORGETTING, "would deregister it by force"),
    JOB: "would stop the job",
}


def is_state(text: str) -> bool:
    """Return whether *text* looks like a Terraform state: JSON that names the version that wrote it."""
    return text.lstrip().startswith("{") and '"terraform_version"' in text[:HEAD_BYTES]


def read(text: str, name: str, remarks: model.Remarks) -> tuple[parsed.File, ...]:
    """
    Return the volumes and plugin jobs of the state *text* as files, named by their addresses in Terraform.

    *name* is the file's. Raises `errors.SpecError` where *text* is not a state of a known version.
    """
    files: list[parsed.File] = []
    for instance in _instances_of(text, name):
        if instance.type not in _ON_DESTROY:
            continue
        file = _job(instance, remarks) if instance.type == JOB else _volume(instance, remarks)
        if file is not None:
            files.append(file)
            _destroyed(instance, remarks)
    return tuple(files)


def read_aws(states: Iterable[tuple[str, str]]) -> aws_storage.AwsStorage:
    """Return the AWS objects of all *states*, each a text and a file name. Raises the errors of `read`."""
    return aws_storage.collect(item for text, name in states for item in _instances_of(text, name))


class _Instance(pydantic.BaseModel):
    """An instance of a resource in a state file."""

    attributes: dict[str, Any] | None = None
    index_key: str | int | float | None = None
    deposed: str | None = None


class _Resource(pydantic.BaseModel):
    """A resource of a state file."""

    mode: str = ""
    type: str
    name: str = ""
    module: str | None = None
    instances: list[_Instance] | None = None


class _State(pydantic.BaseModel):
    """A state file."""

    version: Literal[4]
    """Terraform since 0.12, and OpenTofu."""

    resources: list[_Resource] | None = None


def _instances_of(text: str, name: str) -> Iterator[aws_storage.TerraformObject]:
    """Yield the managed objects of the state *text*. Raises `errors.SpecError` where it is none of a known version."""
    try:
        state = _State.model_validate_json(text, strict=True)
    except pydantic.ValidationError as error:
        details = error.errors(include_input=False, include_url=False)
        paths = dict.fromkeys(".".join(map(str, each["loc"])) for each in details)
        allowed, fix = "a Terraform state of version 4", "write one with `terraform state pull`"
        got = "another value, or none"  # no value is shown: a state has secrets
        raise errors.SpecError(
            tuple(errors.Problem(path=path, got=got, allowed=allowed, fix=fix) for path in paths), name
        ) from None
    for resource in state.resources or ():
        if resource.mode != "managed":
            continue
        inside = f"{resource.module}." if resource.module else ""
        for instance in resource.instances or ():
            index = "" if instance.index_key is None else f"[{json.dumps(instance.index_key)}]"
            address = f"{inside}{resource.type}.{resource.name}{index}"
            if not instance.deposed:
                yield aws_storage.TerraformObject(
                    address=address, type=resource.type, attributes=instance.attributes or {}
                )


def _destroyed(instance: aws_storage.TerraformObject, remarks: model.Remarks) -> None:
    text = f"`terraform destroy` {_ON_DESTROY[instance.type]}; remove it from Terraform's state: "
    remarks.add("note", instance.address, 0, f"{text}terraform state rm '{instance.address}'")


def _job(instance: aws_storage.TerraformObject, remarks: model.Remarks) -> parsed.File | None:
    """Return the job's file; ``None`` where it runs no CSI plugin."""
    text = str(instance.attributes.get("jobspec") or "")
    runs_plugin = "csi_plugin" in text or "CSIPluginConfig" in text
    try:
        file = parsed.parse(text, instance.address)
        why = f"the value of {file.unknown[0].expression} is not known" if file.unknown else ""
    except errors.SpecError as error:
        why = str(error.problems[0])
    if why and runs_plugin:
        reason = f"the job of {instance.address} cannot be read: {why}; read it from the cluster, with --cluster"
        remarks.add("missing", instance.address, 0, reason)
        return parsed.File(name=instance.address, kind="job")
    return file if runs_plugin else None


def _volume(instance: aws_storage.TerraformObject, remarks: model.Remarks) -> parsed.File | None:
    """Return the volume's file; ``None`` where the state has too few of its attributes."""
    given = instance.attributes
    lacking = [name for name in ("volume_id", "plugin_id", "capability") if not given.get(name)]
    if lacking:
        # Source: terraform-provider-nomad issue 390: an import sets few of the attributes.
        text = f"{', '.join(lacking)} of {instance.address}: Terraform does not hold it; read it from the cluster"
        remarks.add("missing", instance.address, 0, f"{text}, with --cluster")
        return None
    shown = {"id": given["volume_id"]} | {name: given[name] for name in _AS_IN_A_FILE if given.get(name)}
    if given.get("topologies") and given.get("external_id"):
        # Computed by the provider from what Nomad holds: where the volume can be attached.
        # Source: terraform-provider-nomad, internal/framework/provider/volumes/helpers.go, 2026-08.
        shown["topology_request"] = {"required": {"topology": given["topologies"]}}
    content = values.without_lines(shown)
    _drop_redacted(content, instance, remarks)
    return parsed.File(name=instance.address, kind="volume", volumes=(content,))


def _drop_redacted(content: values.Map, instance: aws_storage.TerraformObject, remarks: model.Remarks) -> None:
    """Remove redacted values that Terraform read from Nomad, and add a remark on values that it never stores."""
    unknown = [what for name, what in _WRITE_ONLY.items() if instance.attributes.get(name)]
    for options in values.blocks(content, "mount_options"):
        for name in [name for name, value in options.items() if value in (None, "")]:
            del options[name]
        flags = options.get("mount_flags")
        if isinstance(flags, list) and REDACTED in flags:
            del options["mount_flags"]
            unknown.append("mount_options.mount_flags")
        unknown += [what for name, what in _WRITE_ONLY.items() if options.pop(name, None)]
    for what in unknown:
        text = f"{what} of volume {content['id']}: Terraform does not hold the value; fill it in"
        remarks.add("missing", instance.address, 0, text)
    for request in values.blocks(content, "topology_request"):
        for name in [name for name, value in request.items() if not value]:
            del request[name]
