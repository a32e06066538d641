"""
A file for ``pulumi import --file``: existing Nomad objects that a program declares, under the program's own names.

Types, names, parents and providers are those of the import file that ``pulumi preview`` writes; this module fills in
the ids, and removes resources that do not exist yet. Source: pulumi/pulumi, ``importFile`` in
``pkg/cmd/pulumi/operations/import.go``, CLI 3.260.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nomad_csi import nomad
from nomad_csi.aws import records as aws_records
from nomad_csi.frame import resource
from nomad_csi.migration import aws_storage
from nomad_csi.nomad import jobs, volumes
from nomad_csi.plan.recorded_storage import ACCESS_POINT, EBS_VOLUME, FILE_SYSTEM
from nomad_csi.spec import names
from nomad_csi.spec.names import CREATED_VOLUME_TYPE as CREATED
from nomad_csi.spec.names import PLUGIN_JOB_TYPE as JOB
from nomad_csi.spec.names import VOLUME_REGISTRATION_TYPE as REGISTERED

PLACEHOLDER = "<PLACEHOLDER>"
"""Pulumi's placeholder for an id."""

MOUNT_TARGET = "aws:efs/mountTarget:MountTarget"
_EBS_COMPONENT = "nomad-csi:index:EbsVolume"
_EFS_COMPONENT = "nomad-csi:index:EfsVolume"

NO_STORAGE: aws_storage.AwsStorage = {}


@dataclass(frozen=True, kw_only=True)
class ImportableObject:
    """The Nomad object of a resource."""

    id: str = ""
    """Empty: it does not exist, or cannot be imported."""

    external_id: str = ""
    """For a volume: the storage provider's id."""

    reason: str = ""
    """Why there is no id."""


@dataclass(eq=False)
class Entry:
    """One resource of an import file, linked to the others."""

    written: Mapping[str, Any]
    outer: str = ""
    """Types of the parents without an entry, each followed by ``$``."""

    parent: "Entry | None" = None
    children: list["Entry"] = field(default_factory=list)
    importable: ImportableObject | None = None
    """``None``: no object was searched."""

    @property
    def type(self) -> str:
        """The Pulumi type."""
        return str(self.written["type"])

    @property
    def name(self) -> str:
        """The name in the program."""
        return str(self.written.get("logicalName") or self.written["name"])

    @property
    def id(self) -> str:
        """The import id; empty: it is omitted."""
        return self.importable.id if self.importable else ""

    @property
    def reason(self) -> str:
        """Why it is not imported."""
        return self.importable.reason if self.importable else ""

    @property
    def key(self) -> tuple[str, str]:
        """Its qualified type and its name."""
        above = f"{self.parent.key[0]}$" if self.parent else self.outer
        return f"{above}{self.type}", self.name

    @property
    def above(self) -> "Iterator[Entry]":
        """Its parents."""
        if self.parent:
            yield self.parent
            yield from self.parent.above


@dataclass(frozen=True, kw_only=True)
class ImportFile:
    """The import file, and the outcome of each resource of our types."""

    document: Mapping[str, Any]
    lines: tuple[Entry, ...]
    """Those that were looked for, and are imported or omitted."""

    @property
    def imported(self) -> tuple[Entry, ...]:
        """The resources that ``pulumi import`` will read."""
        return tuple(line for line in self.lines if line.id)


def fill(
    draft: Mapping[str, Any],
    steps: Sequence[Mapping[str, Any]],
    read: Callable[[str, Mapping[str, Any]], ImportableObject],
    storage: aws_storage.AwsStorage = NO_STORAGE,
) -> ImportFile:
    """
    Return *draft* with ids, and without resources that cannot be imported.

    Args:
        draft: the import file of a preview.
        steps: the steps of that preview, with the inputs of each resource.
        read: returns the Nomad object of a job or a volume, by type and inputs.
        storage: Terraform's AWS storage: the mount targets of an EFS file system, which Nomad does not know.
    """
    table = dict(draft.get("nameTable") or {})
    entries = _entries(draft, table)
    states = {_key(step["urn"]): step.get("newState") or {} for step in steps}
    for entry in entries:
        state = states.get(entry.key, {})
        if entry.type in {JOB, REGISTERED, CREATED}:
            entry.importable = read(entry.type, state.get("inputs") or {})
    _find_ebs_volumes(entries)
    _find_file_systems(entries, storage)
    _leave_out_without_storage(entries)
    kept = {each for entry in entries if entry.id for each in (entry, *entry.above)}
    providers = {entry.written.get("provider") for entry in kept}
    resources = [
        {**entry.written, "id": entry.id} if entry.importable else dict(entry.written)
        for entry in entries
        if entry in kept or entry.written["name"] in providers
    ]
    named = {entry.get(key) for entry in resources for key in ("parent", "provider")}
    lines = tuple(entry for entry in entries if entry.importable)
    kept_table = {name: urn for name, urn in table.items() if name in named}
    return ImportFile(document={"nameTable": kept_table, "resources": resources}, lines=lines)


def _entries(draft: Mapping[str, Any], table: Mapping[str, str]) -> list[Entry]:
    by_name = {written["name"]: Entry(written) for written in draft.get("resources") or ()}
    for entry in by_name.values():
        name = entry.written.get("parent", "")
        entry.outer = f"{_key(table[name])[0]}$" if name in table else ""
        entry.parent = by_name.get(name)
        if entry.parent:
            entry.parent.children.append(entry)
    return list(by_name.values())


def _find_ebs_volumes(entries: Iterable[Entry]) -> None:
    """Set the EBS volume of each registration in Nomad: its id is the external id."""
    for entry in entries:
        if entry.type == EBS_VOLUME and entry.parent:
            known = (child.importable.external_id for child in entry.parent.children if child.importable)
            if external_id := next((each for each in known if each.startswith("vol-")), ""):
                entry.importable = ImportableObject(id=external_id)


def _find_file_systems(entries: Iterable[Entry], storage: aws_storage.AwsStorage) -> None:
    """
    Set file system, access point and mount targets of each registration in Nomad, if all are known.

    Of a file system that several volumes share nothing is imported.
    """
    for component in entries:
        known = (aws_records.parts(child.importable.external_id) for child in component.children if child.importable)
        parts = next(filter(None, known), None)
        own = _parts(component, *parts, storage) if parts else {}
        if all(own.values()) and any(entry.type == FILE_SYSTEM for entry in own):
            for entry, identity in own.items():
                entry.importable = ImportableObject(id=identity)


def _parts(component: Entry, system_id: str, point_id: str, storage: aws_storage.AwsStorage) -> dict[Entry, str]:
    """Return the ids of the children of an EFS *component*; empty if one is unknown."""
    targets = {
        f"{component.name}-{item.attributes.get('availability_zone_name')}": item.attributes["id"]
        for item in aws_storage.targets(storage, system_id)
    }
    by_type = {FILE_SYSTEM: system_id, ACCESS_POINT: point_id}
    return {
        child: targets.get(child.name, "") if child.type == MOUNT_TARGET else by_type[child.type]
        for child in component.children
        if child.type in {*by_type, MOUNT_TARGET}
    }


def _leave_out_without_storage(entries: Iterable[Entry]) -> None:
    """Omit registrations whose storage is declared and not imported: they would be replaced for other storage."""
    for entry in entries:
        component = entry.parent
        if not entry.id or component is None:
            continue
        has_storage = any(child.id for child in component.children if child.type in {EBS_VOLUME, FILE_SYSTEM})
        if component.type in {_EBS_COMPONENT, _EFS_COMPONENT} and not has_storage:
            reason = "its storage is not imported with it; declare it as existing, with its external id"
            if component.type == _EFS_COMPONENT:
                reason += ", or give the Terraform state that has its mount targets"
            entry.importable = ImportableObject(reason=reason)


def _key(urn: str) -> tuple[str, str]:
    """Return the qualified type and the name of *urn*."""
    parts = names.read_urn(urn)
    return parts.types, parts.name


# Read the jobs and volumes in Nomad that a program declares: the ids for the import. Changes nothing.


_UNKNOWN_ID = "its id follows from something that is not made yet"


def read_objects(client: nomad.Nomad, kind: str, inputs: Mapping[str, Any]) -> ImportableObject:
    """Return the Nomad object of the resource of type *kind* with *inputs*. Raises `errors.NomadApiError`."""
    name = "jobId" if kind == JOB else "volumeId"
    key = inputs.get("namespace", "default"), inputs.get(name, "")
    if resource.UNKNOWN in key or not all(isinstance(part, str) and part for part in key):
        return ImportableObject(reason=_UNKNOWN_ID)
    return _job(client, *key) if kind == JOB else _volume(client, *key)


def _job(client: nomad.Nomad, namespace: str, job_id: str) -> ImportableObject:
    job = jobs.get(client, namespace, job_id)
    if job is None or job.stopped:
        return ImportableObject(reason="Nomad does not run it; `pulumi up` does")
    if jobs.source(client, namespace, job_id, job.version) is None:
        return ImportableObject(reason="Nomad does not hold its source; `pulumi up` takes it over if it is equal")
    return ImportableObject(id=f"{namespace}/{job_id}")


def _volume(client: nomad.Nomad, namespace: str, volume_id: str) -> ImportableObject:
    volume = volumes.get(client, namespace, volume_id)
    if volume is None:
        return ImportableObject(reason="Nomad does not have it; `pulumi up` registers it")
    return ImportableObject(id=f"{namespace}/{volume_id}", external_id=volume.external_id)
