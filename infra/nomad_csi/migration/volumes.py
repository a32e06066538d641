"""Convert the content of a volume file to a volume of a spec."""

from collections.abc import Mapping
from typing import Any

from nomad_csi import errors
from nomad_csi.drivers import catalogue, recognise
from nomad_csi.hcl import job as jobs
from nomad_csi.hcl import values
from nomad_csi.hcl import volume as payloads
from nomad_csi.migration import model
from nomad_csi.plan import registration
from nomad_csi.spec import model as spec
from nomad_csi.spec import volume as volumes
from nomad_csi.text import secrets

KNOWN = frozenset({*(item.file.partition(".")[0] for item in registration.FIELDS), "type", values.LABELS})
"""Top-level names of a volume file that Nomad reads."""

LEGACY = tuple(registration.capability_names("file", "file"))
"""Top-level names of old files that belong to a capability today; Nomad drops them."""

SIZES = tuple(registration.names("file", "file", "bytes"))
SOURCES = (*SIZES, "clone_id", "snapshot_id")
"""Names with which a file requests new storage."""

_MAPS = ("context", "parameters", "secrets")
_INSTEAD = "rotate it, and pass it by `apply --secrets`, or as a Pulumi config secret, under secrets of this volume"


def adopt(content: values.Map, driver: spec.DriverSpec | None, file: str, remarks: model.Remarks) -> dict[str, Any]:
    """
    Return the volume in the form of a spec, without secrets and values that its driver no longer accepts.

    Raises `errors.SpecError` for values that Nomad's command line refuses.
    """
    try:
        document, notes = write_volume(content, driver)
    except errors.SpecError as error:
        raise errors.SpecError(error.problems, source=file) from None
    remarks.take(file, notes)
    flags = document["mount_options"].get("mount_flags", ())
    shown = [flag for flag in flags if not secrets.flag_has_secret(flag)]
    document["mount_options"] = model.filled(document["mount_options"] | {"mount_flags": shown})
    for name in ("context", "parameters"):
        for key in secrets.keys_of(document[name]):
            del document[name][key]
    return model.filled(document)


def write_volume(content: values.Map, driver: spec.DriverSpec | None) -> tuple[dict[str, Any], list[model.Remark]]:
    """
    Return the volume in the form of a spec, and notes on what the file has otherwise.

    Raises `errors.SpecError` for values that Nomad's CLI refuses.
    """
    payload = payloads.volume_payload(content)
    notes: list[model.Remark] = []
    document: dict[str, Any] = {
        name: content[name] for name in ("id", "namespace", "name", "plugin_id") if isinstance(content.get(name), str)
    }
    if document.get("name") == document.get("id"):
        document.pop("name", None)
    document |= _source(content, payload, driver, notes)
    document["capabilities"] = _capabilities(content, notes)
    options = payload.get("MountOptions", {})
    flags = list(options.get("MountFlags", ()))
    if any(map(secrets.flag_has_secret, flags)):
        text = "a secret in clear under mount_flags; encrypt it in the stack's config, under mount_options.mount_flags"
        line = values.block(content, "mount_options").at("mount_flags")
        notes.append(model.Remark("left out", line, text, "secret-in-file"))
    document["mount_options"] = model.filled({"fs_type": options.get("FSType"), "mount_flags": flags})
    document |= {name: _map(name, content, notes) for name in _MAPS}
    del document["secrets"]
    _note_dropped(content, notes)
    return document, notes


def _source(
    content: values.Map, payload: Mapping[str, Any], driver: spec.DriverSpec | None, notes: list[model.Remark]
) -> dict[str, Any]:
    """Return the source of the storage, and the topologies where it can be attached."""
    topologies = _topologies(content, payload, notes)
    zone = ""
    if driver is not None and len(topologies) == 1 and set(topologies[0]) == {driver.topology_key}:
        zone = next(iter(topologies[0].values()))
    external_id = jobs.text(content, "external_id")
    if not external_id and omits_external_id(content, driver):
        external_id = jobs.text(content, "id")
        text = "a context, and no external_id; Nomad registers the volume under its id"
        notes.append(model.Remark("changed", content.at("context"), text, "external-id-omitted"))
    if external_id:
        fields: dict[str, Any] = {"external_id": external_id}
        given = [name for name in SOURCES if name in content]
        notes += [model.Remark("left out", content.at(name), f"{name}: the volume exists already") for name in given]
    else:
        fields = {name: content.get(name) for name in ("clone_id", "snapshot_id")}
        for name, field in (("capacity_min", "RequestedCapacityMin"), ("capacity_max", "RequestedCapacityMax")):
            if size := payload.get(field, 0):
                count, rest = divmod(size, volumes.GIB)
                fields |= {f"{name}_bytes": size} if rest else {f"{name}_gib": count}
    source = {"existing" if external_id else "create": model.filled(fields | {"availability_zone": zone})}
    return source | ({"topologies": topologies} if topologies and not zone else {})


def omits_external_id(content: values.Map, driver: spec.DriverSpec | None) -> bool:
    """Return whether the file is for a registration under the volume's own id: a creation takes no context."""
    is_for_registration = any(values.blocks(content, "context")) and content.keys().isdisjoint(
        {*SOURCES, "external_id", "parameters"}
    )
    return is_for_registration and (driver is None or driver.external_id.fits(jobs.text(content, "id")))


def _topologies(content: values.Map, payload: Mapping[str, Any], notes: list[model.Remark]) -> list[dict[str, str]]:
    """Return the segments of each topology where the volume can be attached."""
    request = payload.get("RequestedTopologies", {})
    required, preferred = (
        [dict(topology["Segments"]) for topology in request.get(name, ())] for name in ("Required", "Preferred")
    )
    line = values.block(content, "topology_request").at("preferred")
    if preferred and jobs.text(content, "external_id"):
        text = "preferred topologies, which have no effect on a registration"
        notes.append(model.Remark("left out", line, text, "" if required else "topology-preferred"))
    elif preferred:
        # Source: aws-ebs-csi-driver v1.64.0, pkg/driver/controller.go (pickAvailabilityZone).
        text = "preferred topologies become required ones, in front of the others: the driver takes the first"
        notes.append(model.Remark("changed", line, text))
        required = [*preferred, *(item for item in required if item not in preferred)]
    return required


def _capabilities(content: values.Map, notes: list[model.Remark]) -> list[dict[str, str]]:
    legacy = {name: jobs.text(content, name) for name in LEGACY if name in content}
    if legacy:
        text = f"{' and '.join(legacy)} at the top of the file, which current Nomad drops; move them into a capability"
        notes.append(model.Remark("changed", content.at(next(iter(legacy))), text, "legacy-modes"))
    capabilities = [{name: jobs.text(block, name) for name in LEGACY} for block in values.blocks(content, "capability")]
    return [model.filled(item) for item in (capabilities or ([legacy] if legacy else []))]


def _map(name: str, content: values.Map, notes: list[model.Remark]) -> dict[str, str]:
    """Return the strings of a map; ``true`` is the word, not the string "1" that Nomad makes of it."""
    strings: dict[str, str] = {}
    for block in values.blocks(content, name):
        if isinstance(content[name], list):
            notes.append(
                model.Remark("changed", block.line, f"{name} as a block; write {name} = {{ ... }}", "block-map")
            )
        for key, value in block.items():
            strings[key] = payloads.weak_text(value, f"{name}.{key}")
            if isinstance(value, bool):
                strings[key] = str(value).lower()
                text = f'{name}.{key}, of which Nomad makes the string "{int(value)}"; write "{strings[key]}"'
                notes.append(model.Remark("changed", block.at(key), text, "value-weak"))
        hidden = list(block) if name == "secrets" else secrets.keys_of(block)
        if hidden:
            text = f"a secret in clear under {name}: {', '.join(sorted(hidden))}; {_INSTEAD}"
            notes.append(model.Remark("left out", block.at(hidden[0]), text, "secret-in-file"))
    return strings


def _note_dropped(content: values.Map, notes: list[model.Remark]) -> None:
    """Add a note on each name and block that Nomad drops."""
    notes += [
        model.Remark("left out", content.at(name), f"{name!a}, which Nomad drops", "name-unknown")
        for name in content
        if name not in KNOWN and name not in LEGACY
    ]
    for name in ("mount_options", "topology_request"):
        blocks = values.blocks(content, name)
        if len(blocks) > 1:
            text = f"{len(blocks)} {name} blocks, of which Nomad reads one"
            notes.append(model.Remark("left out", blocks[1].line, text, "block-twice"))


# Paths of a volume of a spec and its file.


_WRITTEN = {
    "capabilities": "capability",
    "create": "capacity_min",
    "existing": "external_id",
    "topologies": "topology_request",
}
"""Keys of a volume of the spec with another name in a volume file."""


def written(path: str) -> str:
    """Return the name in a volume file for *path* of a volume in a spec."""
    head, _, rest = path.partition(".")
    name = head.partition("[")[0]
    if rest == "availability_zone":
        return "topology_request"
    if name in ("existing", "create"):
        return rest or _WRITTEN[name]
    return ".".join(filter(None, (_WRITTEN.get(name, name), rest)))


def line_of(content: values.Map, path: str) -> int:
    """Return the line of *content*, a volume file's, of the top-level name for *path* of the volume in a spec."""
    return content.at(written(path).partition(".")[0].partition("[")[0])


def _segments(content: values.Map) -> list[values.Map]:
    """Return the segments of each topology of a volume file."""
    return [
        segments
        for request in values.blocks(content, "topology_request")
        for kind in ("required", "preferred")
        for requested in values.blocks(request, kind)
        for topology in values.blocks(requested, "topology")
        for segments in values.blocks(topology, "segments")
    ]


def driver_of(content: values.Map) -> catalogue.Driver | None:
    """Return the driver of a volume file, from its content alone."""
    return recognise.recognise_volume(
        plugin_id=jobs.text(content, "plugin_id"),
        external_id=jobs.text(content, "external_id"),
        context={key: value for block in values.blocks(content, "context") for key, value in block.items()},
        topology_keys=[key for block in _segments(content) for key in block],
    )
