"""Convert the content of a volume file to a volume of a spec."""

from collections.abc import Mapping
from typing import Any

from nomad_csi import errors
from nomad_csi.drivers import model as drivers
from nomad_csi.drivers import recognise
from nomad_csi.hcl import job as jobs
from nomad_csi.hcl import values
from nomad_csi.hcl import volume as payloads
from nomad_csi.migration import model
from nomad_csi.plan import volume_forms
from nomad_csi.spec import model as spec
from nomad_csi.spec import volume as volumes
from nomad_csi.text import secrets

KNOWN = frozenset({*(item.file.partition(".")[0] for item in volume_forms.FIELDS), "type", values.LABELS})
"""Top-level names of a volume file that Nomad reads."""

LEGACY = tuple(volume_forms.capability_names("file", "file"))
"""Top-level names of old files that belong to a capability today; Nomad drops them."""

SIZES = tuple(volume_forms.names("file", "file", "bytes"))
SOURCES = (*SIZES, "clone_id", "snapshot_id")
"""Names with which a file requests new storage."""


def adopt(content: values.Map, driver: spec.DriverSpec | None, file: str, remarks: model.Remarks) -> dict[str, Any]:
    """
    Return the volume in the form of a spec, without secrets and values that its driver no longer accepts.

    Raises `errors.SpecError` for values that Nomad's command line refuses.
    """
    document = write_volume(content, driver, file, remarks)
    _hide(document, content, file, remarks)
    _move_path(document, driver, content, file, remarks)
    _left_out(content, file, remarks)
    return model.filled(document)


def write_volume(
    content: values.Map, driver: spec.DriverSpec | None, file: str, remarks: model.Remarks
) -> dict[str, Any]:
    """Return the volume in the form of a spec. Raises `errors.SpecError` for values that Nomad's CLI refuses."""
    try:
        payload = payloads.volume_payload(content)
    except errors.SpecError as error:
        raise errors.SpecError(error.problems, source=file) from None
    document: dict[str, Any] = {
        name: content[name] for name in ("id", "namespace", "name", "plugin_id") if isinstance(content.get(name), str)
    }
    if document.get("name") == document.get("id"):
        document.pop("name", None)
    document |= _source(content, payload, driver, file, remarks)
    document["capabilities"] = _capabilities(content, file, remarks)
    options = payload.get("MountOptions", {})
    flags = list(options.get("MountFlags", ()))
    document["mount_options"] = model.filled({"fs_type": options.get("FSType"), "mount_flags": flags})
    for name in ("context", "parameters"):
        document[name] = _map(name, content, file, remarks)
    return document


_WRITTEN = {"capabilities": "capability", "create": "capacity_min", "existing": "external_id", "topologies": "segments"}
"""Keys of a volume of the spec with another name in a volume file."""


def written(path: str) -> str:
    """Return the name in a volume file for *path* of a volume in a spec."""
    head, _, rest = path.partition(".")
    name = head.partition("[")[0]
    if rest == "availability_zone":
        return "topology_request"
    if name in ("existing", "create"):
        return _WRITTEN[name] if rest in ("", "external_id") else rest
    return ".".join(filter(None, (_WRITTEN.get(name, name), rest)))


def line_of(content: values.Map, path: str) -> int:
    """Return the line of *content*, a volume file's, for *path* of the volume in a spec."""
    head, _, rest = path.partition(".")
    name, _, index = head.removesuffix("]").partition("[")
    if rest == "availability_zone":
        return next((block.at(key) for block in segments(content) for key in block), content.line)
    if name in ("existing", "create"):
        return content.at(written(path))
    blocks = segments(content) if name == "topologies" else values.blocks(content, _WRITTEN.get(name, name))
    if index and int(index) < len(blocks):
        return blocks[int(index)].at(rest)
    if name == "capabilities":
        return content.at("access_mode")
    keys = (rest, rest.partition("[")[0])
    lines = (block.at(key) for block in blocks for key in keys if key in block)
    return next(lines, content.at(_WRITTEN.get(name, name)))


def segments(content: values.Map, *kinds: str) -> list[values.Map]:
    """Return the segments of each required topology of a volume file, or of its topologies of these *kinds*."""
    return [
        found
        for request in values.blocks(content, "topology_request")
        for kind in kinds or ("required",)
        for places in values.blocks(request, kind)
        for topology in values.blocks(places, "topology")
        for found in values.blocks(topology, "segments")
    ]


def driver_of(content: values.Map) -> drivers.Driver | None:
    """Return the driver of a volume file, from its content alone."""
    return recognise.recognise_volume(
        plugin_id=jobs.text(content, "plugin_id"),
        external_id=jobs.text(content, "external_id"),
        context={key: value for block in values.blocks(content, "context") for key, value in block.items()},
        topology_keys=[key for block in segments(content, "required", "preferred") for key in block],
    )


def _capabilities(content: values.Map, file: str, remarks: model.Remarks) -> list[dict[str, str]]:
    blocks = values.blocks(content, "capability")
    legacy = {name: jobs.text(content, name) for name in LEGACY if name in content}
    if legacy:
        text = f"{' and '.join(legacy)} at the top of the file, which current Nomad drops, become a capability"
        remarks.add("changed", file, content.at(next(iter(legacy))), text, code="legacy-modes")
    found = [{name: jobs.text(block, name) for name in LEGACY} for block in blocks]
    return [model.filled(item) for item in (found or ([legacy] if legacy else []))]


def _source(
    content: values.Map,
    payload: Mapping[str, Any],
    driver: spec.DriverSpec | None,
    file: str,
    remarks: model.Remarks,
) -> dict[str, Any]:
    """Return the source of the storage, and the places where it can be attached."""
    zone, topologies = _places(content, payload, driver, file, remarks)
    external_id = jobs.text(content, "external_id")
    if not external_id and omits_external_id(content, driver):
        external_id = jobs.text(content, "id")
        text = "external_id is written out: Nomad registers a volume without one under its id"
        remarks.add("changed", file, content.at("context"), text, code="external-id-omitted")
    if external_id:
        for name in SOURCES:
            if name in content:
                remarks.add("left out", file, content.at(name), f"{name}: the volume exists already")
        source = {"existing": model.filled({"external_id": external_id, "availability_zone": zone})}
    else:
        source = {"create": model.filled(_created(content, payload) | {"availability_zone": zone})}
    return source | ({"topologies": topologies} if topologies else {})


def omits_external_id(content: values.Map, driver: spec.DriverSpec | None) -> bool:
    """Return whether the file is for a registration under the volume's own id: a creation takes no context."""
    is_for_registration = any(values.blocks(content, "context")) and content.keys().isdisjoint(
        {*SOURCES, "external_id", "parameters"}
    )
    return is_for_registration and (driver is None or driver.external_id.fits(jobs.text(content, "id")))


def _places(
    content: values.Map,
    payload: Mapping[str, Any],
    driver: spec.DriverSpec | None,
    file: str,
    remarks: model.Remarks,
) -> tuple[str, list[dict[str, str]]]:
    """Return the zone if that is enough, else the segments of each place."""
    request = payload.get("RequestedTopologies", {})
    found, preferred = (
        [dict(topology["Segments"]) for topology in request.get(name, ())] for name in ("Required", "Preferred")
    )
    if preferred and jobs.text(content, "external_id"):
        text = "preferred topologies: they have no effect on a registration"
        remarks.add("left out", file, content.at("topology_request"), text)
    elif preferred:
        # Source: aws-ebs-csi-driver v1.64.0, pkg/driver/controller.go (pickAvailabilityZone).
        text = "preferred topologies become required ones, in front of the others: the driver takes the first"
        remarks.add("changed", file, content.at("topology_request"), text)
        found = [*preferred, *(item for item in found if item not in preferred)]
    if driver is not None and len(found) == 1 and set(found[0]) == {driver.topology_key} and all(found[0].values()):
        return next(iter(found[0].values())), []
    return "", found


def _created(content: values.Map, payload: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {name: content.get(name) for name in ("clone_id", "snapshot_id")}
    for name, field in (("capacity_min", "RequestedCapacityMin"), ("capacity_max", "RequestedCapacityMax")):
        if size := payload.get(field, 0):
            count, rest = divmod(size, volumes.GIB)
            found |= {f"{name}_bytes": size} if rest else {f"{name}_gib": count}
    return found


def _hide(document: dict[str, Any], content: values.Map, file: str, remarks: model.Remarks) -> None:
    """Remove values that look like secrets from *document*."""
    flags = document["mount_options"].get("mount_flags", ())
    if any(map(secrets.flag_has_secret, flags)):
        text = "mount flags that look like secrets: encrypt them in the stack's config, under mount_options.mount_flags"
        remarks.add("left out", file, content.at("mount_options"), text)
        shown = [flag for flag in flags if not secrets.flag_has_secret(flag)]
        document["mount_options"] = model.filled(document["mount_options"] | {"mount_flags": shown})
    for name in ("context", "parameters"):
        for block in values.blocks(content, name):
            for key in secrets.keys_of(block):
                text = f"{name}.{key} looks like a secret: pass it by `apply --secrets`, or as a Pulumi config secret"
                remarks.add("left out", file, block.at(key), text)
                document[name].pop(key, None)


def _map(name: str, content: values.Map, file: str, remarks: model.Remarks) -> dict[str, str]:
    found: dict[str, str] = {}
    for block in values.blocks(content, name):
        if isinstance(content[name], list):
            remarks.add("changed", file, block.line, f"{name} as a block becomes a map", code="block-map")
        for key, value in block.items():
            found[key] = payloads.weak_text(value, f"{name}.{key}")
            if isinstance(value, bool):
                found[key] = str(value).lower()
                text = f"{name}.{key} is now the string {found[key]}; Nomad converted it to {int(value)}"
                remarks.add("changed", file, block.at(key), text, code="value-weak")
    return found


def _move_path(
    document: dict[str, Any], driver: spec.DriverSpec | None, content: values.Map, file: str, remarks: model.Remarks
) -> None:
    """Move EFS's context key ``path``, which the driver refuses since v3.0.0, into the external id."""
    context, existing = document["context"], document.get("existing", {})
    external_id = existing.get("external_id", "")
    if driver is None or driver.name != "aws-efs" or "path" not in context or ":" in external_id:
        return
    existing["external_id"] = f"{external_id}:{context.pop('path')}"
    text = "context.path is now part of the external id: the driver refuses the key since v3.0.0"
    remarks.add("changed", file, content.at("context"), text)


def _left_out(content: values.Map, file: str, remarks: model.Remarks) -> None:
    keys = sorted(key for block in values.blocks(content, "secrets") for key in block)
    if keys:
        how = "pass them by `apply --secrets`, or as Pulumi config secrets, under secrets of this volume"
        text = f"the secrets {', '.join(keys)}: {how}"
        remarks.add("left out", file, content.at("secrets"), text)
    for name in content:
        if name not in KNOWN and name not in LEGACY:
            remarks.add("left out", file, content.at(name), f"{name}, which Nomad drops too", code="name-unknown")
    for name in ("mount_options", "topology_request"):
        if len(values.blocks(content, name)) > 1:
            text = f"all {name} blocks except the one that Nomad reads"
            remarks.add("left out", file, content.at(name), text)
