"""
The rules of registering a volume, and how the API shows one. Pure. Part of the Nomad emulator.

Source: hashicorp/nomad, ``nomad/structs/csi.go`` (``Validate``, ``Merge``), ``nomad/csi_endpoint.go``
(``createVolume``, ``expandVolume``), 2026-08-21; measured on a 2.0.6-dev agent. Unlike there, what only the server
manages (claims, topologies, health) is never taken from a request.
"""

from collections.abc import Mapping
from typing import Any

from nomad_csi_sandbox.nomad.jobs import validate

Json = dict[str, Any]

_TEXTS = ("ID", "Name", "ExternalID", "PluginID", "CloneID", "SnapshotID", "Namespace")
_MAPS = ("Secrets", "Parameters", "Context")
_NUMBERS = ("RequestedCapacityMin", "RequestedCapacityMax")
NO_MODES = {"AccessMode": "", "AttachmentMode": ""}
NO_OPTIONS = {"FSType": "", "MountFlags": None}
_GO_TYPES = {str: "string", bool: "bool", int: "number", float: "number", list: "array", dict: "object"}


class VolumeError(Exception):
    """The volume cannot be registered like this; reads as Nomad's sentence."""


class DecodeError(Exception):
    """A field has the wrong type; reads as Go's sentence."""


def decode(body: Mapping[str, Any]) -> Json:
    """Return what the server takes of a `CSIVolume`. Keys match in any case; unknown ones are ignored."""
    given = {name.lower(): value for name, value in body.items()}
    found: Json = {name: _typed(given, name, str, "string") or "" for name in _TEXTS}
    found |= {name: _texts(given, name) for name in _MAPS}
    found |= {name: _typed(given, name, int, "int64") or 0 for name in _NUMBERS}
    asked = given.get("requestedcapabilities") or []
    where = "CSIVolume.Volumes.RequestedCapabilities"
    kind = "structs.CSIVolumeCapability"
    found["RequestedCapabilities"] = [_taken(item, NO_MODES) for item in of_objects(asked, where, kind, f"[]*{kind}")]
    mount = _typed(given, "MountOptions", dict, "structs.CSIMountOptions")
    found["MountOptions"] = mount if mount is None else _taken(mount, NO_OPTIONS)
    places = _typed(given, "RequestedTopologies", dict, "structs.CSITopologyRequest")
    found["RequestedTopologies"] = places if places is None else _taken(places, {"Preferred": None, "Required": None})
    return found


def of_objects(value: Any, field: str, kind: str, list_kind: str) -> list[Json]:
    """Return *value*, which must be a list of objects. Raises `DecodeError`; *field* and kinds are Go's words."""
    if not isinstance(value, list):
        raise _mismatch(value, field, list_kind)
    for item in value:
        if not isinstance(item, dict):
            raise _mismatch(item, field, kind)
    return value


def _texts(given: Mapping[str, Any], name: str) -> Json:
    found: Json = _typed(given, name, dict, "map[string]string") or {}
    for value in found.values():
        if not isinstance(value, str | None):
            raise _mismatch(value, f"CSIVolume.Volumes.{name}", "string")
    return {key: value or "" for key, value in found.items()}


def _typed(given: Mapping[str, Any], name: str, kind: type, go_kind: str) -> Any:
    value = given.get(name.lower())
    if value is None or (isinstance(value, kind) and not isinstance(value, bool)):
        return value
    raise _mismatch(value, f"CSIVolume.Volumes.{name}", go_kind)


def _mismatch(value: Any, field: str, go_kind: str) -> DecodeError:
    return DecodeError(
        f"json: cannot unmarshal {_GO_TYPES[type(value)]} into Go struct field {field} of type {go_kind}"
    )


def _taken(item: Json, empty: Json) -> Json:
    """Return what *item* says of the fields of *empty*, and *empty* for what it does not."""
    given = {name.lower(): value for name, value in item.items()}
    return {name: given.get(name.lower()) or value for name, value in empty.items()}


def check(volume: Json) -> None:
    """Raise `VolumeError` when *volume* lacks what every volume needs."""
    found = [f"missing {what}" for what, name in (("volume id", "ID"), ("plugin id", "PluginID")) if not volume[name]]
    if volume["SnapshotID"] and volume["CloneID"]:
        found.append("only one of snapshot_id and clone_id is allowed")
    if not volume["RequestedCapabilities"]:
        found.append("must include at least one capability block")
    asked = volume["RequestedTopologies"] or {}
    for name in ("Required", "Preferred"):
        empty = [item for item in asked.get(name) or [] if item is not None and not item.get("Segments")]
        found += [f"{name.lower()} topology is missing segments field"] * len(empty)
    if found:
        raise VolumeError(f"validation: {', '.join(found)}")


def first(volume: Json) -> Json:
    """Return the stored form of a volume that is registered for the first time: the asked topologies become its own."""
    asked = volume["RequestedTopologies"] or {}
    own = NO_MODES | {"Capacity": 0, "Topologies": asked.get("Required") or []}
    return volume | own | {"MountOptions": volume["MountOptions"] or dict(NO_OPTIONS)}


def merge(stored: Json, update: Json, *, in_use: bool) -> Json:
    """Return *stored* with what may change. Raises `VolumeError` with every field that may not."""
    problems = [f"volume {word} cannot be updated" for word, name in _FIXED if _differs(stored, update, name)]
    merged = dict(stored)
    modes = {"AccessMode": stored["AccessMode"], "AttachmentMode": stored["AttachmentMode"]}
    if any(modes.values()) and modes not in update["RequestedCapabilities"]:
        problems.append("volume requested capabilities update was not compatible with existing capability in use")
    if stored["Topologies"] and stored["RequestedTopologies"] != update["RequestedTopologies"]:
        problems.append("volume topology request update was not compatible with existing topology")
    if in_use and stored["MountOptions"] != update["MountOptions"]:
        problems.append("can not update mount options while volume is in use")
    if update["Parameters"] and stored["Parameters"] != update["Parameters"]:
        problems.append("volume parameters cannot be updated")
    if problems:
        raise VolumeError(validate.multi_error(problems))
    merged |= {name: update[name] for name in ("RequestedCapabilities", "Secrets")}
    merged["MountOptions"] = stored["MountOptions"] if in_use else update["MountOptions"] or dict(NO_OPTIONS)
    merged["Context"] = update["Context"] or stored["Context"]
    return merged


_FIXED = (
    ("name", "Name"),
    ("external ID", "ExternalID"),
    ("plugin ID", "PluginID"),
    ("clone ID", "CloneID"),
    ("snapshot ID", "SnapshotID"),
)


def _differs(stored: Json, update: Json, name: str) -> bool:
    return bool(stored[name] != update[name] and update[name])


def resize(stored: Json, update: Json) -> Json:
    """Return *stored* with the capacity that is asked for, which is not what it has. Raises `VolumeError`."""
    low, high = update["RequestedCapacityMin"], update["RequestedCapacityMax"]
    if not (low or high):
        return stored
    text = f"max requested capacity ({bytes_text(high)}) less than or equal to"
    is_new = (low, high) != (stored["RequestedCapacityMin"], stored["RequestedCapacityMax"])
    if is_new and high and high < low:
        raise VolumeError(f"{text} min ({bytes_text(low)})")
    if is_new and high and high < stored["Capacity"]:
        raise VolumeError(f"{text} current ({bytes_text(stored['Capacity'])})")
    return stored | {"RequestedCapacityMin": low, "RequestedCapacityMax": high}


def must_grow(before: Json, after: Json) -> bool:
    """Return whether a volume that was asked for more than it has is larger in *after* than what *before* asked for."""
    names = ("RequestedCapacityMin", "RequestedCapacityMax")
    return any(before[name] != after[name] for name in names) and after[names[0]] > before["Capacity"]


def created(volume: Json, answered: Json) -> Json:
    """
    Return the stored form of a volume that a plugin made: what it *answered* counts.

    The list of places begins with as many nulls as there are places. Source: hashicorp/nomad,
    ``client/csi_endpoint.go`` (``ControllerCreateVolume``, a slice made with a length and appended to), 2026-08-21.
    """
    places = answered["Topologies"]
    own = {"MountOptions": volume["MountOptions"] or dict(NO_OPTIONS), "Topologies": [None] * len(places) + places}
    return volume | NO_MODES | answered | own


def bytes_text(size: int) -> str:
    """Return a size as go-humanize does: ``bytes_text(1048576)`` is ``"1.0 MB"``."""
    units = ("B", "kB", "MB", "GB", "TB", "PB", "EB")
    power = 0
    value = float(size)
    while value >= 1000 and power < len(units) - 1:  # noqa: PLR2004  # decimal units
        value /= 1000
        power += 1
    if power == 0:
        return f"{size} B"
    return f"{value:.1f} {units[power]}" if value < 10 else f"{value:.0f} {units[power]}"  # noqa: PLR2004  # as there


def remote_id(volume: Json) -> str:
    """Return the id that the storage provider knows."""
    return str(volume["ExternalID"] or volume["ID"])


def redacted(volume: Json) -> Json:
    """Return *volume* as every reader sees it: without secrets, and with the fact of mount flags only."""
    mount = volume["MountOptions"]
    shown = mount and {"FSType": mount["FSType"], "MountFlags": ["[REDACTED]"] if mount["MountFlags"] else None}
    return volume | {"MountOptions": shown, "Secrets": None}
