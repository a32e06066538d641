"""
Convert a volume file to the payload of ``nomad volume register FILE``, to compare a file with a payload.

Source: hashicorp/nomad, ``csiDecodeVolume`` in ``command/volume_register_csi.go`` and ``ParseBytes`` of
dustin/go-humanize ``bytes.go``, 2026-08.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from nomad_csi import errors
from nomad_csi.hcl import values
from nomad_csi.plan import volume_forms

_TEXTS = volume_forms.names("file", "api", "text")
_MAPS = volume_forms.names("file", "api", "map")
_CAPACITIES = volume_forms.names("file", "api", "bytes")
_CAPABILITY = volume_forms.capability_names("file", "api")
_SIZE = re.compile(r"(?P<number>[0-9.,]+)\s*(?:(?P<prefix>[kmgtpe])(?P<binary>i?))?b?\s*", re.IGNORECASE)
_PREFIXES = "kmgtpe"
_CAPACITY_LIMIT = 2**63


def volume_payload(document: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return the ``CSIVolume`` that Nomad's command line sends for *document*, as `read.read_volume` gives it.

    Values that the file omits are absent, where the command line sends null, zero or an empty string. Like the command
    line, it drops unknown top-level names (such as ``access_mode`` of old files), and uses the first of several
    ``mount_options`` and the first ``required`` with segments. Raises `errors.SpecError` for what the command line
    refuses.
    """
    payload: dict[str, Any] = {
        _TEXTS[name]: weak_text(value, name) for name, value in document.items() if name in _TEXTS
    }
    payload |= {_MAPS[name]: _map(value, name) for name, value in document.items() if name in _MAPS}
    payload |= {_CAPACITIES[name]: _bytes(value, name) for name, value in document.items() if name in _CAPACITIES}
    if "capability" in document:
        payload["RequestedCapabilities"] = [_capability(block) for block in _blocks(document, "capability")]
    for block in _blocks(document, "mount_options")[:1]:
        payload["MountOptions"] = _mount_options(block)
    for block in _blocks(document, "topology_request"):
        payload["RequestedTopologies"] = _topology_request(block)
    return payload


def _capability(block: Mapping[str, Any]) -> dict[str, str]:
    _refuse_unknown(block, "capability", _CAPABILITY)
    return {_CAPABILITY[name]: weak_text(value, f"capability.{name}") for name, value in block.items()}


def _mount_options(block: Mapping[str, Any]) -> dict[str, Any]:
    _refuse_unknown(block, "mount_options", {"fs_type", "mount_flags"})
    options: dict[str, Any] = {}
    if "fs_type" in block:
        options["FSType"] = _source_text(block["fs_type"], "mount_options.fs_type")
    if "mount_flags" in block:
        options["MountFlags"] = _texts(block["mount_flags"], "mount_options.mount_flags")
    return options


def _topology_request(block: Mapping[str, Any]) -> dict[str, Any]:
    _refuse_unknown(block, "topology_request", {"required", "preferred"})
    found = {name.title(): _topologies(block, name) for name in ("required", "preferred")}
    return {name: topologies for name, topologies in found.items() if topologies}


def _topologies(request: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    for block in _blocks(request, name):
        segments = [segment for topology in _blocks(block, "topology") for segment in _segments(topology)]
        if segments:
            return [{"Segments": segment} for segment in segments]
    return []


def _segments(topology: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    for segments in _blocks(topology, "segments"):
        if segments:
            yield {key: _source_text(value, f"segments.{key}") for key, value in segments.items()}


def _blocks(document: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """Return the blocks called *name*; a map counts as one block, as in HCL1."""
    value = document.get(name, [])
    blocks = value if isinstance(value, list) else [value]
    if not all(isinstance(block, Mapping) for block in blocks):
        raise _refusal(name, "a block")
    if any(values.LABELS in block for block in blocks):
        raise _refusal(name, "a block without a label")
    return blocks


def _map(value: Any, name: str) -> dict[str, str]:
    """Return a map of strings; the last of several blocks wins, key by key."""
    merged: dict[str, str] = {}
    for block in _blocks({name: value}, name):
        merged |= {key: weak_text(item, f"{name}.{key}") for key, item in block.items()}
    return merged


def _texts(value: Any, name: str) -> list[str]:
    if not isinstance(value, list):
        raise _refusal(name, "a list of texts")
    return [_source_text(item, name) for item in value]


def weak_text(value: Any, name: str) -> str:
    """Return *value* as a string by Nomad's weak decoding: ``true`` becomes "1", a number its digits."""
    match value:
        case str():
            return value
        case bool():
            return str(int(value))
        case int():
            return str(value)
        case float():
            return _decimal(value)
    raise _refusal(name, "a text")


def _source_text(value: Any, name: str) -> str:
    """Return *value* where Nomad decodes directly into a string and keeps the source text: ``true`` stays "true"."""
    match value:
        case bool():
            return str(value).lower()
        case str() | int():
            return str(value)
    raise _refusal(name, "a text")


def _decimal(value: float) -> str:
    return f"{Decimal(repr(value)):f}".removesuffix(".0")


def _bytes(value: Any, name: str) -> int:
    """Return a size in bytes: ``"10GiB"`` is 10 * 2**30, ``"10GB"`` and ``"10G"`` are 10 * 10**9."""
    text = weak_text(value, name)
    if text == "":
        return 0
    match = _SIZE.fullmatch(text)
    try:
        size = float(match["number"].replace(",", "")) * _unit(match) if match else _CAPACITY_LIMIT
    except ValueError:
        size = _CAPACITY_LIMIT
    if size >= _CAPACITY_LIMIT:
        raise _refusal(name, "a size below 8 EiB such as 10GiB", text)
    return int(size)


def _unit(match: re.Match[str]) -> int:
    base = 1024 if match["binary"] else 1000
    return base ** (_PREFIXES.index(match["prefix"].lower()) + 1) if match["prefix"] else 1


def _refuse_unknown(block: Mapping[str, Any], name: str, known: Iterable[str]) -> None:
    unknown = sorted(set(block) - set(known))
    if unknown:
        raise _refusal(name, f"only {' and '.join(sorted(known))}", ", ".join(unknown))


def _refusal(name: str, allowed: str, got: str = "") -> errors.SpecError:
    return errors.SpecError((errors.Problem(path=name, got=got, allowed=allowed),), source="the volume file")
