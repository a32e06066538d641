"""
Convert a volume file to the payload of ``nomad volume register FILE``, to compare a file with a payload.

Source: hashicorp/nomad, ``csiDecodeVolume`` in ``command/volume_register_csi.go`` and ``ParseBytes`` of
dustin/go-humanize ``bytes.go``, 2026-08.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from nomad_csi import errors
from nomad_csi.hcl import files, tokens, values
from nomad_csi.plan import registration
from nomad_csi.spec import encrypted, names

_TEXTS = registration.names("file", "api", "text")
_MAPS = registration.names("file", "api", "map")
_CAPACITIES = registration.names("file", "api", "bytes")
_CAPABILITY = registration.capability_names("file", "api")
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
    by_kind = {name.title(): _topologies(block, name) for name in ("required", "preferred")}
    return {name: topologies for name, topologies in by_kind.items() if topologies}


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


# A volume file as a registration; what Nomad would let pass, and could not serve, is refused.


_NEEDS_SECRETS = re.compile(r"^# Its secrets \(([^)]*)\) are sent with the registration", re.MULTILINE)
_LACKS_FLAGS = re.compile(r"^# (\d{1,3}) of its mount flags (?:is|are) encrypted", re.MULTILINE)
"""Comments of a rendered file (``templates/volume.volume.hcl.j2``)."""

_SHARES_STORAGE = re.compile(r"^# .*\(shares_storage\)\.$", re.MULTILINE)
"""Another comment: Nomad's volume file has no key for it."""


@dataclass(frozen=True, kw_only=True)
class VolumeFile:
    """One volume file."""

    path: str
    document: registration.VolumeRegistration

    secret_names: tuple[str, ...] = ()
    """Secrets of the volume that are not in the file."""


def read(path: Path, *, namespace: str) -> tuple[VolumeFile, ...]:
    """
    Return the volumes of the file at *path*; *namespace* is that of a file that names none.

    Raises `errors.SpecError` with all problems: Nomad's server accepts most of them, and cannot serve the volume then.
    """
    text = tokens.read(path)
    file = files.parse(text, str(path))
    if file.kind != "volume":
        fix = "run it with `nomad job run`" if file.kind == "job" else ""
        problem = errors.Problem(path="", got=f"a {file.kind} file", allowed="a volume file", fix=fix)
        raise errors.SpecError((problem,), str(path))
    named = _NEEDS_SECRETS.search(text)
    lacking = _LACKS_FLAGS.search(text)
    hidden = (encrypted.PLACEHOLDER,) * (int(lacking[1]) if lacking else 0)
    shares = _SHARES_STORAGE.search(text) is not None
    documents = [
        replace(_document(volume_payload(item), namespace, hidden), shares_storage=shares) for item in file.volumes
    ]
    if problems := tuple(problem for document in documents for problem in _problems(document)):
        raise errors.SpecError(problems, str(path))
    needed = tuple(name.strip() for name in named[1].split(",")) if named else ()
    return tuple(
        VolumeFile(
            path=str(path),
            document=document,
            secret_names=tuple(name for name in needed if name not in document.secrets),
        )
        for document in documents
    )


def _document(
    payload: Mapping[str, Any], namespace: str, hidden_flags: tuple[str, ...]
) -> registration.VolumeRegistration:
    document = registration.read(payload, "api")
    options = document.mount_options
    return replace(
        document,
        namespace=document.namespace or namespace,
        mount_options=replace(options, mount_flags=(*options.mount_flags, *hidden_flags)),
    )


def _problems(document: registration.VolumeRegistration) -> Iterator[errors.Problem]:
    """Yield what Nomad's server accepts, and cannot serve."""
    for name, value, pattern, allowed in (
        ("id", document.volume_id, names.VOLUME_ID, "letters, digits, '.', '_' and '-', an index such as [0] at most"),
        ("plugin_id", document.plugin_id, names.PLUGIN_ID, "up to 63 letters, digits, '.', '_' and '-'"),
    ):
        if not pattern.fullmatch(value):
            yield errors.Problem(path=name, got=repr(value), allowed=allowed)
    if not document.external_id:
        fix = "a volume that the plugin is to make is created with `nomad-csi apply` and the spec, or `pulumi up`"
        yield errors.Problem(path="external_id", got="nothing", allowed="the id of storage that exists", fix=fix)
    if not document.capabilities:
        fix = "access_mode and attachment_mode belong into a capability block; Nomad drops them outside of one"
        yield errors.Problem(path="capability", got="nothing", allowed="at least one block", fix=fix)
    for item in document.capabilities:
        for name, value, modes in (
            ("access_mode", item.access_mode, names.ACCESS_MODES),
            ("attachment_mode", item.attachment_mode, names.ATTACHMENT_MODES),
        ):
            if value not in modes:
                allowed = f"one of {', '.join(modes)}"
                yield errors.Problem(path=f"capability.{name}", got=repr(value), allowed=allowed)
