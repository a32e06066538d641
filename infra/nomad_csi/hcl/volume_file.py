"""Read a volume file as ``nomad volume register FILE`` does, and refuse the errors that it would let pass."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nomad_csi import errors
from nomad_csi.hcl import files, source, volume
from nomad_csi.plan import registration, volume_forms
from nomad_csi.spec import encrypted, names

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
    text = source.read(path)
    found = files.parse(text, str(path))
    if found.kind != "volume":
        fix = "run it with `nomad job run`" if found.kind == "job" else ""
        problem = errors.Problem(path="", got=f"a {found.kind} file", allowed="a volume file", fix=fix)
        raise errors.SpecError((problem,), str(path))
    named = _NEEDS_SECRETS.search(text)
    lacking = _LACKS_FLAGS.search(text)
    hidden = (encrypted.PLACEHOLDER,) * (int(lacking[1]) if lacking else 0)
    shares = _SHARES_STORAGE.search(text) is not None
    documents = [
        replace(_document(volume.volume_payload(item), namespace, hidden), shares_storage=shares)
        for item in found.volumes
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
    document = volume_forms.read(payload, "api")
    options = document.mount_options
    return replace(
        document,
        namespace=document.namespace or namespace,
        mount_options=replace(options, mount_flags=(*options.mount_flags, *hidden_flags)),
    )


def _problems(document: registration.VolumeRegistration) -> Iterator[errors.Problem]:
    for name, value, pattern, allowed in (
        ("id", document.volume_id, names.VOLUME_ID, "letters, digits, '.', '_' and '-', an index such as [0] at most"),
        ("namespace", document.namespace, names.NAMESPACE, "up to 128 letters, digits and '-'"),
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
        yield from _mode_problems(item)
    if 0 < document.capacity_max_bytes < document.capacity_min_bytes:
        got = str(document.capacity_max_bytes)
        yield errors.Problem(
            path="capacity_max", got=got, allowed=f"at least {document.capacity_min_bytes}, the minimum"
        )
    if document.clone_id and document.snapshot_id:
        yield errors.Problem(path="snapshot_id", got="clone_id as well", allowed="one of the two")


def _mode_problems(item: registration.Capability) -> Iterator[errors.Problem]:
    for name, value, allowed in (
        ("access_mode", item.access_mode, names.ACCESS_MODES),
        ("attachment_mode", item.attachment_mode, names.ATTACHMENT_MODES),
    ):
        if value not in allowed:
            yield errors.Problem(path=f"capability.{name}", got=repr(value), allowed=f"one of {', '.join(allowed)}")
