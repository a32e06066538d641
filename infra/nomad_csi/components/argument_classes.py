"""
The classes of the components' arguments: the fields of the spec's models, and what a component has beside them.

A model below has what a component has instead of fields of the spec, or in addition to them. Type checkers and editors
read ``argument_classes.pyi``, which ``python -m tests.schema`` writes from these classes. Each is made on first use.
"""

import enum
import inspect
import re
import sys
import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

import pulumi
import pydantic

from nomad_csi.components.arguments import PLAIN
from nomad_csi.spec import model as spec


class _WithFiles(spec.Model):
    render_to: str | None = None
    """Folder, below the provider's root, for the rendered files. Absent: no files are written."""

    templates: str | None = None
    """Folder with your own templates, which override the built-in ones."""


class _CsiPlugin(_WithFiles):
    """A CSI plugin; the fields are those of a plugin in the spec, and the id is the component's name."""

    driver: Any
    """Name in the driver catalogue, or the description of a driver that is not in it, as in the spec."""


class _Volume(_WithFiles):
    plugin_id: str
    """The plugin that serves the volume. Pass ``plugin_id`` of a `CsiPlugin`: known once the plugin is healthy."""

    volume_id: str | None = None
    """Nomad's id of the volume. Default: the component's name."""

    protect: bool = True
    """Whether the storage is neither deleted nor replaced, and the volume not pointed at other data."""


class _EbsVolume(_Volume):
    """An EBS volume to create and register; the fields are those of a volume in the spec."""

    snapshots: tuple[str, ...] = ()
    """Snapshot schedules of the volume. Pass ``schedule`` of each `EbsSnapshots` of this stack."""


class _EfsVolume(_Volume):
    """
    An EFS volume to create and register; the fields are those of a volume in the spec.

    With ``mount_targets`` and ``clients`` its file system is created; with ``file_system_id`` it exists already.
    """

    file_system_id: str | None = None
    """File system of the access point: ``file_system_id`` of an `EfsFileSystem`, or one created elsewhere."""


class _EfsFileSystem(spec.Model):
    """An EFS file system that several volumes share; the fields are those of a file system in the spec."""

    mount_targets: tuple[spec.MountTargetSpec, ...]
    """One for each zone whose clients mount the volumes."""

    clients: spec.EfsClientsSpec
    protect: bool = True
    """Whether Pulumi refuses to delete or replace it."""


class _ExistingVolume(_Volume):
    """A volume that is only registered; the fields are those of a volume in the spec."""

    driver: str
    """Name in the driver catalogue."""


class _CsiVolume(_Volume):
    """A volume that the plugin creates; the fields are those of a volume in the spec."""

    driver: Any
    """Name in the driver catalogue, or the description of a driver that is not in it."""


class _EbsSnapshots(spec.Model):
    """When snapshots of EBS volumes are taken, and how many are kept; fields as in a schedule of the spec."""

    kms_key_arns: tuple[str, ...] = ()
    """Customer keys of the volumes, which the role is allowed to use."""


class _EfsBackups(spec.Model):
    """When EFS file systems are backed up, and how long the backups are kept."""

    file_system_arns: tuple[str, ...]
    """File systems to back up, at most 500: ``file_system_arn`` of each `EfsVolume`."""

    keep_days: int
    """Days after which a backup is deleted, 1 to 36,500."""

    kms_key_arn: str | None = None
    """Customer key of the vault. Default: the account's key for AWS Backup."""

    protect: bool = True
    """Whether Pulumi refuses to delete the vault, which AWS also refuses while backups are in it."""


# The classes, derived from these models and the spec's.


CLASSES: dict[str, Any] = {}
"""The classes by name, each after those of its fields."""

_NAMES = {"Resources": "PluginResources", "OnNodes": "VerifyOnNodes", "EfsClients": "Clients"}
"""Models -> classes with another name."""

_ENUM_NAMES = {"name": "TaskDriverName", "operator": "ConstraintOperator"}
"""Keys -> enumerations with another name: the key says too little."""

_OPERATORS = {
    "=": "Equal",
    "!=": "NotEqual",
    ">": "Greater",
    ">=": "GreaterOrEqual",
    "<": "Less",
    "<=": "LessOrEqual",
}
"""Values -> the names of members whose value is no word."""

_OF_A_SPEC = frozenset({"id", *spec.SOURCES, "file_system", "snapshots", "moved_from"})
"""Fields that name something else in the same spec, or are its name there; in a program, resources are given."""


Fields = Mapping[str, tuple[pydantic.fields.FieldInfo, type[pydantic.BaseModel]]]
"""Fields of a class, each with the model that declares it."""

FIELDS: dict[str, tuple[str, Fields]] = {}
"""By the name of a class: the path of its values in the arguments, empty or such as ``iam.``, and its fields."""


def _fields(model: type[pydantic.BaseModel], without: Collection[str] = ()) -> Fields:
    return {key: (item, model) for key, item in model.model_fields.items() if key not in without}


def _arguments(own: type[spec.Model], *of_spec: type[spec.Model], without: Sequence[str] = ()) -> Any:
    """Return the class with the fields of models *of_spec*, and those of a component's *own* model."""
    declared: Fields = {}
    for model in of_spec:
        declared = {**declared, **_fields(model, {*_OF_A_SPEC, *without})}
    return _class(f"{own.__name__.lstrip('_')}Args", own, {**declared, **_fields(own)}, "")


def _class(name: str, model: type[pydantic.BaseModel], declared: Fields, path: str) -> Any:
    """Return the class *name* with the fields *declared*, whose values are at *path* of the arguments."""
    kinds = {key: (_type(item.annotation, f"{path}{key}"), item.is_required()) for key, (item, _) in declared.items()}
    keys = {key: kind if is_required else NotRequired[kind] for key, (kind, is_required) in kinds.items()}
    created: Any = TypedDict(name, keys)  # type: ignore[misc]  # the stub says what it has
    created.__doc__ = inspect.getdoc(model)
    FIELDS[name] = path, declared
    return CLASSES.setdefault(name, created)


def _type(annotation: Any, path: str) -> Any:
    """Return the type of a program's value at *path*, where the spec has a value of *annotation*."""
    kind = _plain(annotation, path)
    may_be_output: Any = pulumi.Input
    return kind if path in PLAIN else may_be_output[kind]


def _plain(annotation: Any, path: str) -> Any:
    origin, of = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Literal:
        return _enumeration(re.split(r"\W", path)[-1], of) if isinstance(of[0], str) else type(of[0])
    if origin is tuple:
        return Sequence[_type(of[0], f"{path}[]")]  # type: ignore[misc]  # a type that is made here
    if origin is dict:
        return Mapping[str, _type(of[1], f"{path}.*")]  # type: ignore[misc]  # as above
    if of:  # with constraints, or with None for what may be absent
        return _plain(of[0], path)
    if annotation is pydantic.SecretStr:
        return str
    if isinstance(annotation, type) and issubclass(annotation, pydantic.BaseModel):
        name = annotation.__name__.removesuffix("Spec")
        return _class(_NAMES.get(name, name), annotation, _fields(annotation), f"{path}.")
    return annotation


_ENUMERATIONS: dict[str, type[enum.Enum]] = {}


def _enumeration(key: str, values: Sequence[str]) -> type[enum.Enum]:
    """Return the enumeration of the *values* of an argument *key*. It is a type only: a program has the strings."""
    name = _ENUM_NAMES.get(key) or _words(key)
    members = {_OPERATORS.get(value) or _words(value): value for value in values}
    made = enum.Enum(name, members, type=str)  # type: ignore[misc]  # made of the spec's values
    made.__doc__ = f"Values of ``{key}``."
    known = _ENUMERATIONS.setdefault(name, made)
    if [item.value for item in known] != list(values):
        raise ValueError(f"two enumerations are called {name}")
    return known


def _words(text: str) -> str:
    """Return *text* in CamelCase."""
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"[-_]", text))


_DERIVED: Mapping[str, Callable[[], Any]] = {
    "CsiPluginArgs": lambda: _arguments(_CsiPlugin, spec.PluginSpec),
    "CsiVolumeArgs": lambda: _arguments(_CsiVolume, spec.VolumeSpec, spec.CreateSpec),
    "EbsSnapshotsArgs": lambda: _arguments(_EbsSnapshots, spec.SnapshotScheduleSpec),
    "EbsVolumeArgs": lambda: _arguments(_EbsVolume, spec.VolumeSpec, spec.EbsSpec),
    "EfsBackupsArgs": lambda: _arguments(_EfsBackups, spec.SnapshotScheduleSpec, without=("keep",)),
    "EfsFileSystemArgs": lambda: _arguments(_EfsFileSystem, spec.FileSystemSpec),
    "EfsVolumeArgs": lambda: _arguments(_EfsVolume, spec.VolumeSpec, spec.EfsSpec),
    "ExistingVolumeArgs": lambda: _arguments(_ExistingVolume, spec.VolumeSpec, spec.ExistingSpec),
}


def __getattr__(name: str) -> Any:
    """Return the class *name*; those of a component and of its fields are made on first use of one of them."""
    if name in _DERIVED:
        return globals().setdefault(name, _DERIVED[name]())
    if name.startswith("_") or name not in classes():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return CLASSES[name]


def classes() -> Mapping[str, Any]:
    """Return all classes by name."""
    for name in _DERIVED:
        getattr(sys.modules[__name__], name)
    return dict(sorted(CLASSES.items()))
