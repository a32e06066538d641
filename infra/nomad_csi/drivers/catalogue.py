"""All drivers by name, the YAML documents of this package, read on first use; and how their arguments are read."""

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from importlib.resources import abc
from typing import Any, Literal, TypeVar

import pydantic

from nomad_csi import errors
from nomad_csi.spec import base, yaml_text
from nomad_csi.spec import driver as drivers

# A row of the catalogue: a driver, with date, sources, known issues, and how far it is verified.


RoleName = base.PluginRole
EvidenceTier = Literal["run", "parsed", "none"]
"""``run``: the driver itself ran; ``parsed``: only its files went through the real parser; ``none``: neither."""


class RoleEvidence(base.Model):
    """How far one role of a driver was verified, on a machine without an AWS account."""

    tier: EvidenceTier
    as_of: str = ""
    """Date of the last verification; empty for ``none``."""

    versions: tuple[str, ...] = ()
    """Programs used, each with its version."""

    verified: tuple[str, ...] = ()
    not_verified: tuple[str, ...]
    """What an operator must still verify."""


class FlagVersions(base.Model):
    """The versions of a driver that have a flag."""

    since: base.Text = ""
    """The first version that has it; empty: the oldest known version."""

    until: base.Text = ""
    """The last version that has it; empty: that of the row."""


class DriverRole(drivers.RoleSpec):
    """One kind of process of a driver in the catalogue."""

    flag_versions: dict[base.Word, FlagVersions] = pydantic.Field(default_factory=dict)
    """Flags that some known versions lack; flags with ``until`` are not among ``flags``."""

    evidence: RoleEvidence


class KnownIssue(base.Model):
    """A surprising behaviour of this driver on Nomad."""

    text: str
    source: str

    signs: tuple[base.Expression, ...] = ()
    """Regular expressions that match its tasks' events and logs in that case, anywhere in a line."""


class DriverDeletion(base.Model):
    """What the driver's controller can report about deleted storage and its final snapshot."""

    refuses_in_use: bool = False
    """Whether the storage itself refuses deletion while it is in use."""

    absence: Literal["validate", "get", "none"]
    """
    The request that distinguishes a deleted volume from an existing one: ``ValidateVolumeCapabilities``,
    ``ControllerGetVolume``, or none, where the controller confirms ids of volumes that do not exist.
    """

    absence_text: str
    """The same as text, with its source."""

    gone: tuple[base.Expression, ...] = ()
    """Regular expressions for errors that mean a deleted volume, with another code than ``NOT_FOUND``."""

    takes_snapshots: bool = True
    """Whether the driver takes snapshots at all."""

    snapshot_name: str
    """Allowed names of a snapshot, with the source."""

    snapshot_parameters: dict[str, str] = pydantic.Field(default_factory=dict)
    """Parameters of ``CreateSnapshot`` with which the snapshot outlives its volume."""

    snapshot_id: base.Expression = r"(?s).+"
    """Regular expression for the ids of snapshots that the driver can read again."""

    snapshot_part_of_volume: base.Expression = r"(?!)"
    """Regular expression for the ids of snapshots that are deleted together with their volume."""

    snapshot_rewritten: bool = False
    """Whether ``CreateSnapshot`` with an existing name overwrites the snapshot instead of returning it."""

    snapshot_text: str
    """How to verify a final snapshot where the controller lists snapshots, or does not, with the source."""


class DriverExample(base.Model):
    """A plugin and a volume of the driver in a complete spec, with sample values that an operator replaces."""

    plugin: dict[base.Word, Any] = pydantic.Field(default_factory=dict)
    """The plugin, beyond its id and its driver."""

    volume: dict[base.Word, Any]
    """The volume, without its plugin's id."""

    replace: base.Text
    """The values to replace and with what, as a phrase that follows "replace"."""


class Driver(drivers.DriverSpec):
    """A CSI driver of the catalogue; ``name`` is its key there."""

    as_of: str
    """Date of the last comparison of this row with its sources."""

    sources: tuple[str, ...]
    arguments_since: base.Text = ""
    """The oldest version with known arguments; empty: only ``version``."""

    arguments_source: str
    """Source of the flags of each version, or a note that none was found."""

    credentials: tuple[str, ...] = ()
    """Where its credentials come from, and how they stay out of arguments, as text."""

    roles: dict[RoleName, DriverRole] = pydantic.Field(min_length=1)  # type: ignore[assignment]  # each role is verified here
    both_in_one_process: bool = False
    """Whether one process can serve controller and node, so that a plugin of type monolith runs as written."""

    known_issues: tuple[KnownIssue, ...] = ()
    deletion: DriverDeletion | None = None
    """``None``: the driver deletes no storage on Nomad."""

    example: DriverExample
    """Shown on the driver's page; `nomad-csi init` writes it where Pulumi creates no storage for the driver."""


class Unusable(base.Model):
    """A common driver that cannot run on Nomad."""

    name: str
    title: str
    images: tuple[base.Text, ...] = pydantic.Field(min_length=1)
    """Repositories of its image, by whose last part a job that runs it is recognised."""

    reason: str
    instead: str
    """What to use instead."""

    as_of: str
    source: str


# The documents.


RowT = TypeVar("RowT", bound=base.Model)
_SUFFIX = ".yaml"
_VERSION = re.compile(r"v?\.?(\d{1,9})\.(\d{1,9})\.(\d{1,9})", re.ASCII)
"""A release; ``v.1.3.2`` is the form in Nomad's documentation of the block ``csi_plugin``."""


class Rows(Mapping[str, RowT]):
    """The documents of one folder by file name; each is validated as *row* when it is first read."""

    def __init__(self, folder: abc.Traversable, row: type[RowT]) -> None:
        self._files = {
            path.name.removesuffix(_SUFFIX): path
            for path in sorted(folder.iterdir(), key=lambda path: path.name)
            if path.name.endswith(_SUFFIX)
        }
        self._row = row
        self._read: dict[str, RowT] = {}

    def __getitem__(self, name: str) -> RowT:
        if name not in self._read:
            document = yaml_text.load(self._files[name].read_text(encoding="utf-8"))
            self._read[name] = self._row.model_validate_json(json.dumps(document))
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


_FOLDER = resources.files("nomad_csi.drivers")
DRIVERS: Mapping[str, Driver] = Rows(_FOLDER, Driver)
"""The catalogue."""

UNUSABLE: Mapping[str, Unusable] = Rows(_FOLDER / "unusable", Unusable)
"""Drivers that cannot run on Nomad, by name, each with the reason."""


def find(driver: str | drivers.DriverSpec) -> drivers.DriverSpec | None:
    """Return the driver of a plugin's ``driver``: a row of the catalogue, or the description itself; else ``None``."""
    return DRIVERS.get(driver) if isinstance(driver, str) else driver


def select_version(driver: Driver, tag: str) -> Driver | None:
    """
    Return *driver* with the arguments of its version *tag*; ``None`` where they are unknown.

    Arguments that this version lacks are omitted. The image stays that of the row.
    """
    version = _release(tag)
    if version == _release(driver.version):
        return driver
    oldest, newest = (_release(driver.arguments_since), _release(driver.version))
    if version is None or oldest is None or newest is None or not oldest <= version <= newest:
        return None
    roles = {name: _role_of_version(role, version) for name, role in driver.roles.items()}
    return driver.model_copy(update={"roles": roles, "version": "v" + ".".join(map(str, version))})


def _role_of_version(role: DriverRole, version: tuple[int, ...]) -> DriverRole:
    lacks = {name for name, known in role.flag_versions.items() if not _has(known, version)}
    optional = role.optional_arguments.items()
    return role.model_copy(
        update={
            "arguments": tuple(text for text in role.arguments if flag_name(text) not in lacks),
            "optional_arguments": {name: text for name, text in optional if flag_name(text) not in lacks},
            "flags": None if role.flags is None else role.flags.union(role.flag_versions) - lacks,
            "unfit_flags": {name: why for name, why in role.unfit_flags.items() if name not in lacks},
        }
    )


def _has(known: FlagVersions, version: tuple[int, ...]) -> bool:
    since, until = _release(known.since), _release(known.until)
    return (since is None or since <= version) and (until is None or version <= until)


def _release(text: str) -> tuple[int, ...] | None:
    """Return ``v1.16.0`` as ``(1, 16, 0)``; ``None`` where it is not a release."""
    match = _VERSION.fullmatch(text)
    return tuple(map(int, match.groups())) if match else None


def find_by_provider(provider: str) -> Driver | None:
    """Return the driver that reports the name *provider*; ``None``: unknown."""
    for driver in DRIVERS.values():
        if re.fullmatch(re.escape(driver.provider).replace(r"\{plugin_id\}", ".+"), provider):
            return driver
    return None


def deletion(provider: str) -> DriverDeletion | None:
    """Return the deletion facts of the driver that reports the name *provider*; ``None``: unknown."""
    driver = find_by_provider(provider)
    return driver.deletion if driver else None


def unknown(name: str, path: str) -> errors.Problem:
    """Return the problem of a *name*, at *path*, that is not in the catalogue."""
    if name in UNUSABLE:
        row = UNUSABLE[name]
        allowed = f"a driver that can run on Nomad; {row.title} cannot: {row.reason}"
        return errors.Problem(path=path, got=repr(name), allowed=allowed, fix=row.instead)
    fix = "or describe the driver here: {name, provider, image, roles, ...}"
    return errors.Problem(path=path, got=repr(name), allowed=f"one of {', '.join(DRIVERS)}", fix=fix)


# The arguments of drivers, with facts about some flags beyond the catalogue.


ENDPOINT_FLAGS = frozenset({"csi-endpoint", "endpoint", "server-socket"})
"""Flags for the path of the socket."""

NAME_FLAGS = frozenset({"csi-name", "driver-name", "drivername", "driver_name"})
"""Flags that set the name which the driver answers to ``GetPluginInfo``."""

WITHOUT_EFFECT = {"aws-ebs": frozenset({"logtostderr"})}
"""Flags that a driver declares and ignores. Source: aws-ebs-csi-driver v1.64.0, ``cmd/main.go``."""

MODE_WORDS = {"aws-ebs": {"all": "monolith"}}
"""Mode words beyond those that the catalogue renders, with the role that they select. Source: as above."""


def flag_name(argument: str) -> str:
    """Return the name of the flag in *argument*, without dashes and value; empty for a word."""
    return argument.lstrip("-").partition("=")[0] if argument.startswith("-") else ""


def flags(given: Iterable[str]) -> set[str]:
    """Return the names of the flags among *given*."""
    return {name for argument in given if (name := flag_name(argument))}


def is_word(argument: str) -> bool:
    """Return whether *argument* is neither a flag nor a placeholder."""
    return not argument.startswith(("-", "${", "{"))


def joined(given: Iterable[str]) -> list[tuple[int, str]]:
    """Return *given* with each flag joined with its value, and the index of each: ``--v 5`` is ``--v=5``."""
    arguments: list[tuple[int, str]] = []
    for index, argument in enumerate(given):
        before = arguments[-1][1] if arguments else ""
        if not argument.startswith("-") and before.startswith("-") and "=" not in before:
            arguments[-1] = (arguments[-1][0], f"{before}={argument}")
        else:
            arguments.append((index, argument))
    return arguments


def spans(given: Sequence[str]) -> Iterator[tuple[int, str, Sequence[str]]]:
    """Yield index and text of each item of `joined`, and the arguments of *given* that form it."""
    arguments = joined(given)
    for (index, argument), (end, _) in itertools.zip_longest(arguments, arguments[1:], fillvalue=(len(given), "")):
        yield index, argument, given[index:end]
