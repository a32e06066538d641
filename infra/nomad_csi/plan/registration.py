"""
The document of a volume: rendered as a volume file, and sent as the HTTP payload.

Field names are those of a Nomad volume specification. The formats of the document derive theirs by
spelling; another name of a form is declared with the field, with a dot between nested names.
Source: hashicorp/nomad, ``api/csi.go`` (``CSIVolume``) and ``command/volume_register_csi.go``, 2026-08-21.
"""

import functools
import re
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, dataclass, field, fields
from operator import attrgetter
from typing import Any, Literal

from nomad_csi.drivers import storage_identity
from nomad_csi.spec import encrypted
from nomad_csi.spec.names import UNKNOWN

IS_OWN = {"is_own": True}
"""Metadata of a field that is specific to this package and has no form."""

ORIGINS = ("clone_id", "snapshot_id")
"""Fields that say what the storage is made from: Nomad never changes them, and keeps them where none is sent."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Capability:
    """A pair of modes in which allocations may use the volume."""

    access_mode: str
    """One of Nomad's five, such as ``single-node-writer`` (`spec.names.ACCESS_MODES`)."""

    attachment_mode: str
    """``file-system`` or ``block-device``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MountOptions:
    """Mount options of a file system. Nomad redacts the flags in every response."""

    fs_type: str = ""
    mount_flags: tuple[str, ...] = field(default=(), repr=False)
    """Each a string, or `encrypted.PLACEHOLDER` for one that only Pulumi can decrypt."""

    @property
    def clear_flags(self) -> tuple[str, ...]:
        """The flags that may be written to a file."""
        return tuple(flag for flag in self.mount_flags if flag != encrypted.PLACEHOLDER)


@dataclass(frozen=True, kw_only=True, slots=True)
class VolumeRegistration:
    """The desired registration of a volume in Nomad, without server-managed fields."""

    volume_id: str = field(metadata={"file": "id", "api": "ID"})
    """Nomad's id of the volume, unique in its namespace."""

    namespace: str = "default"

    name: str
    """Shown by Nomad, and fixed after the first registration."""

    external_id: str = ""
    """The storage provider's id: ``vol-...``, ``fs-...[:path][::fsap-...]``; empty: unknown, or not created yet."""

    plugin_id: str
    capabilities: tuple[Capability, ...] = field(metadata={"file": "capability", "api": "RequestedCapabilities"})
    mount_options: MountOptions = MountOptions()
    required_topologies: tuple[Mapping[str, str], ...] = field(
        default=(), metadata={"file": "topology_request.required", "api": "RequestedTopologies.Required"}
    )
    """Segments of each acceptable topology; empty: anywhere. They become the volume's at its registration."""

    preferred_topologies: tuple[Mapping[str, str], ...] = field(
        default=(), metadata={"file": "topology_request.preferred", "api": "RequestedTopologies.Preferred"}
    )
    """Segments of the topologies that a plugin prefers when it creates the storage, best first; of no use later."""

    parameters: Mapping[str, str] = field(default_factory=dict)
    """Parameters for creating and validating the storage. Fixed after the first registration."""

    context: Mapping[str, str] = field(default_factory=dict)
    """``volume_context`` of every CSI call."""

    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """CSI secrets. Sent with every registration (omitting them erases them), never written to a file."""

    shares_storage: bool = field(default=False, metadata=IS_OWN)
    """Whether another volume may refer to the same storage (`sharing_refusal`). It is not sent to Nomad."""

    clone_id: str = ""
    snapshot_id: str = ""
    """
    External id of the volume to clone, or id of the snapshot to restore; empty: new, empty storage.

    A registration creates no storage and only records it. Fixed after the first registration.
    """

    capacity_min_bytes: int = field(default=0, metadata={"file": "capacity_min", "api": "RequestedCapacityMin"})
    capacity_max_bytes: int = field(default=0, metadata={"file": "capacity_max", "api": "RequestedCapacityMax"})
    """
    Requested size; 0: none, the driver's default at creation.

    When a later registration changes it, the controller plugin expands the storage.
    """

    @property
    def key(self) -> str:
        """``namespace/volume_id``."""
        return f"{self.namespace}/{self.volume_id}"


# The name of a volume in a cluster: base of requests, statuses and outcomes of single volumes.


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedVolume:
    """A statement about one volume."""

    namespace: str
    volume_id: str

    @property
    def key(self) -> str:
        """``namespace/volume_id``."""
        return f"{self.namespace}/{self.volume_id}"


# Names of storage that a plugin creates: a readable part and a unique nonce.
#
# CSI's ``CreateVolume`` is idempotent by name: two volumes of the same name share storage, across namespaces, stacks
# and clusters. A nonce keeps them apart. Every driver of the catalogue accepts the alphabet and the length: GCE PD has
# the narrowest rule, ``[a-z]([-a-z0-9]*[a-z0-9])?`` and 63 characters (Compute Engine API reference, ``disks.insert``,
# 2026-11); DigitalOcean accepts 64 of the same alphabet (API reference, ``POST /v2/volumes``, 2026-11).


MAXIMUM_LENGTH = 63
NONCE = re.compile(r"[0-9a-f]{12}")
_SUFFIX = re.compile(rf"(.+)-{NONCE.pattern}")


def creation_name(name: str, nonce: str) -> str:
    """Return the name for creating storage: ``creation_name("Web[0]", "5e884898da28")`` is ``web-0-5e884898da28``."""
    return f"{_readable(name)}-{nonce}"


def readable_part(stored: str) -> str:
    """Return *stored* without the nonce."""
    match = _SUFFIX.fullmatch(stored)
    return match[1] if match else stored


def _readable(name: str) -> str:
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    safe = plain if plain[:1].isalpha() else f"v-{plain}".rstrip("-")
    return safe[: MAXIMUM_LENGTH - 13].rstrip("-")


# Whether two volumes may refer to the same storage: one rule for the volumes of a spec and of a cluster.
#
# Nomad counts claims by volume id. With two ids, two jobs can mount the same storage without any conflict check.


SINGLE = "single-node"
"""Prefix of the access modes for a single client."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StorageUser:
    """A volume that refers to some storage."""

    name: str
    """``volumes[2]`` or ``prod/mysql``."""

    access_modes: tuple[str, ...] = ()
    """Access modes that claims may use; empty: unknown."""

    shares: bool = False
    """Whether the spec allows other volumes to refer to it."""


def sharing_refusal(wanted: StorageUser, other: StorageUser, relation: storage_identity.Relation = "same") -> str:
    """
    Return why *wanted* may not refer to its storage beside *other*, as a fix; empty where it may.

    *relation* is that of the storage of *other*. Where one contains the other, the single client is the one that has
    all of it: a part is written by whoever mounts what is around it, as its administrator means.
    """
    users = {"same": (wanted, other), "around": (other,), "within": (wanted,)}[relation]
    for user in users:
        single = next((mode for mode in user.access_modes if mode.startswith(SINGLE)), "")
        if single:
            return f"{user.name} is {single}, and by two ids two jobs would mount it as if they were alone"
    if relation != "same" or wanted.shares:
        return ""
    return "set shares_storage: true on it, if both are meant to be the same data"


def is_shareable(access_modes: Iterable[str]) -> bool:
    """Return whether a volume with *access_modes* may share its storage."""
    return not any(mode.startswith(SINGLE) for mode in access_modes)


# The formats of the document: a volume file, Nomad's JSON, and the inputs of a Pulumi resource.


Form = Literal["file", "api", "property"]
Kind = Literal["text", "texts", "map", "bytes", "topologies", "capabilities"]

_KINDS: Mapping[Any, Kind] = {
    str: "text",
    tuple[str, ...]: "texts",
    Mapping[str, str]: "map",
    int: "bytes",
    tuple[Mapping[str, str], ...]: "topologies",
    tuple[Capability, ...]: "capabilities",
}
_SEGMENTS = {"api": "Segments", "property": "segments"}
_WORDS = {"fs": "FS", "id": "ID"}
"""Words that Nomad's API spells in capitals."""


def _names(item: Field[Any]) -> dict[str, str]:
    """Return the names of the field *item* by form."""
    first, *rest = item.name.split("_")
    spelled = {
        "file": item.name,
        "api": "".join(_WORDS.get(word, word.title()) for word in (first, *rest)),
        "property": "".join([first, *map(str.title, rest)]),
    }
    return spelled | dict(item.metadata)


_CAPABILITY = {item.name: _names(item) for item in fields(Capability)}


@dataclass(frozen=True, kw_only=True)
class DocumentField:
    """A field of the document, and its name in each form; a dot separates nested names."""

    attribute: str
    """Such as ``mount_options.fs_type``."""

    kind: Kind
    file: str
    api: str
    property: str

    @functools.cached_property
    def value(self) -> Callable[[VolumeRegistration], Any]:
        """The function that returns the field's value of a document."""
        return attrgetter(self.attribute)

    @functools.cached_property
    def paths(self) -> Mapping[str, tuple[list[str], str]]:
        """The path of objects to the field, and its key in the last of them, by form."""
        split = {form: getattr(self, form).split(".") for form in typing.get_args(Form)}
        return {form: (way[:-1], way[-1]) for form, way in split.items()}


def _declared(kind: type, names: Mapping[str, str], attribute: str = "") -> Iterable[DocumentField]:
    hints = typing.get_type_hints(kind)
    for item in fields(kind):
        if item.metadata == IS_OWN:
            continue
        path = {form: f"{names[form]}{name}" for form, name in _names(item).items()}
        if hints[item.name] is MountOptions:
            inner = {form: f"{name}." for form, name in path.items()}
            yield from _declared(MountOptions, inner, f"{item.name}.")
        else:
            yield DocumentField(attribute=f"{attribute}{item.name}", kind=_KINDS[hints[item.name]], **path)


FIELDS = tuple(_declared(VolumeRegistration, {"file": "", "api": "", "property": ""}))
"""All fields that have a form; the others are specific to this package."""


def names(source: Form, target: Form, *kinds: Kind) -> dict[str, str]:
    """Return the names in *target* of the top-level fields of these *kinds*, by their names in *source*."""
    return {
        getattr(item, source): getattr(item, target)
        for item in FIELDS
        if item.kind in kinds and "." not in item.attribute
    }


def capability_names(source: Form, target: Form) -> dict[str, str]:
    """Return the names in *target* of a capability's fields, by their names in *source*."""
    return {item[source]: item[target] for item in _CAPABILITY.values()}


def read(tree: Any, form: Form) -> VolumeRegistration:
    """
    Return the document in *tree*, which is in *form* and was validated; an absent value is the empty one of its type.

    ``UNKNOWN`` becomes a text of its own in the shape of its field.
    """
    attributes: dict[str, Any] = {}
    mount: dict[str, Any] = {}
    for item in FIELDS:
        way, key = item.paths[form]
        inside, _, attribute = item.attribute.rpartition(".")
        value = functools.reduce(_inside, [*way, key], tree)
        (mount if inside else attributes)[attribute] = _read(item.kind, value, form)
    return VolumeRegistration(**attributes, mount_options=MountOptions(**mount))


def write(document: VolumeRegistration, form: Form) -> dict[str, Any]:
    """Return *document* in *form*, without empty values."""
    tree: dict[str, Any] = {}
    for item in FIELDS:
        if value := item.value(document):
            way, key = item.paths[form]
            node = functools.reduce(lambda inside, name: inside.setdefault(name, {}), way, tree)
            node[key] = _written(item.kind, value, form)
    return tree


def _inside(node: Any, key: str) -> Any:
    return node if node in (None, UNKNOWN) else node.get(key)


def _read(kind: Kind, value: Any, form: Form) -> Any:  # a line for each kind
    rows = (UNKNOWN,) if value == UNKNOWN else tuple(value or ()) if kind not in ("text", "bytes") else ()
    match kind:
        case "text":
            return str(value or "")
        case "texts":
            return rows
        case "map":
            return {UNKNOWN: UNKNOWN} if value == UNKNOWN else value or {}
        case "bytes":
            return -1 if value == UNKNOWN else int(value or 0)
        case "topologies":
            return tuple(_read("map", _inside(row, _SEGMENTS[form]), form) for row in rows)
        case "capabilities":
            names = {name: of[form] for name, of in _CAPABILITY.items()}
            return tuple(
                Capability(**{name: str(_inside(row, key) or "") for name, key in names.items()}) for row in rows
            )


def _written(kind: Kind, value: Any, form: Form) -> Any:
    match kind:
        case "texts":
            return list(value)
        case "map":
            return dict(value)
        case "topologies":
            return [{_SEGMENTS[form]: dict(segments)} for segments in value]
        case "capabilities":
            return [{of[form]: getattr(item, name) for name, of in _CAPABILITY.items()} for item in value]
        case _:
            return value
