"""
A file for ``pulumi import --file``: what a program declares and Nomad has already, under the program's own names.

Types, names, parents and providers are those of the import file that ``pulumi preview`` writes; here the ids are filled
in, and what is not there yet is taken out.
Source: pulumi/pulumi, ``importFile`` in ``pkg/cmd/pulumi/operations/import.go``, CLI 3.260.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nomad_csi import nomad
from nomad_csi.aws import records as aws_records
from nomad_csi.migration import aws_storage
from nomad_csi.nomad import jobs, volumes
from nomad_csi.plan.replacement import ACCESS_POINT, EBS_VOLUME, FILE_SYSTEM
from nomad_csi.pulumi_state import urns
from nomad_csi.pulumi_state.eject import CREATED, JOB, REGISTERED
from nomad_csi.resources.frame import resource

PLACEHOLDER = "<PLACEHOLDER>"
"""The id that Pulumi leaves to be filled in."""

MOUNT_TARGET = "aws:efs/mountTarget:MountTarget"
IAM = ("aws:iam/policy:Policy", "aws:iam/rolePolicyAttachment:RolePolicyAttachment")
_EBS_COMPONENT = "nomad-csi:index:EbsVolume"
_EFS_COMPONENT = "nomad-csi:index:EfsVolume"
_SHARED_COMPONENT = "nomad-csi:index:EfsFileSystem"

NO_STORAGE = aws_storage.AwsStorage()

Entry = Mapping[str, Any]
"""One resource of an import file."""


@dataclass(frozen=True, kw_only=True)
class ImportableObject:
    """What Nomad has of a resource."""

    id: str = ""
    """Empty: it is not there, or cannot be imported."""

    external_id: str = ""
    """Of a volume: the storage provider's id."""

    reason: str = ""
    """Why there is no id."""


@dataclass(frozen=True, kw_only=True)
class ImportLine:
    """What becomes of one resource."""

    type: str
    name: str
    id: str
    """Empty: it is left out."""

    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class ImportFile:
    """The file, and what became of each resource of our kinds."""

    document: Mapping[str, Any]
    lines: tuple[ImportLine, ...]

    @property
    def imported(self) -> tuple[ImportLine, ...]:
        """What ``pulumi import`` will read."""
        return tuple(line for line in self.lines if line.id)


def fill(
    draft: Mapping[str, Any],
    steps: Sequence[Mapping[str, Any]],
    look: Callable[[str, Mapping[str, Any]], ImportableObject],
    storage: aws_storage.AwsStorage = NO_STORAGE,
) -> ImportFile:
    """
    Return the file that *draft* becomes.

    Args:
        draft: the import file of a preview.
        steps: the steps of that preview, with the inputs of each resource.
        look: returns what Nomad has, by type and inputs, of a job or a volume.
        storage: what Terraform holds of AWS: of an EFS file system the mount targets, which Nomad does not know.

    """
    entries = list(draft.get("resources") or ())
    table = dict(draft.get("nameTable") or {})
    inputs = {_place(step["urn"]): (step.get("newState") or {}).get("inputs") or {} for step in steps}
    by_name = {entry["name"]: entry for entry in entries}
    found = {
        entry["name"]: look(entry["type"], inputs.get(_place_of(entry, by_name, table), {}))
        for entry in entries
        if entry["type"] in {JOB, REGISTERED, CREATED}
    }
    found |= dict(_storage(entries, by_name, found))
    owners = {_place(step["urn"]): _file_system_of(step) for step in steps}
    owner_of = {entry["name"]: owners.get(_place_of(entry, by_name, table)) for entry in entries}
    places = {_place_of(entry, by_name, table): entry["name"] for entry in entries}
    found |= dict(_file_systems(entries, found, storage, {name: places.get(at) for name, at in owner_of.items() if at}))
    found |= dict(_policies(entries, storage))
    found |= dict(_without_storage(entries, by_name, found))
    kept = {name for name, item in found.items() if item.id}
    kept |= {name for each in kept for name in _above(by_name[each], by_name)}
    kept |= {by_name[each].get("provider", "") for each in kept}
    resources = [
        {**entry, "id": found[entry["name"]].id} if entry["name"] in found else dict(entry)
        for entry in entries
        if entry["name"] in kept
    ]
    named = {entry.get(key) for entry in resources for key in ("parent", "provider")}
    lines = tuple(
        ImportLine(type=entry["type"], name=_logical(entry), id=item.id, reason=item.reason)
        for entry in entries
        if (item := found.get(entry["name"])) is not None
    )
    kept_table = {name: urn for name, urn in table.items() if name in named}
    return ImportFile(document={"nameTable": kept_table, "resources": resources}, lines=lines)


def _storage(
    entries: Sequence[Entry], by_name: Mapping[str, Entry], found: Mapping[str, ImportableObject]
) -> Iterator[tuple[str, ImportableObject]]:
    """Yield the EBS volume of each registration that Nomad has: its id is the external id."""
    for entry in entries:
        parent = by_name.get(entry.get("parent", ""))
        if entry["type"] != EBS_VOLUME or parent is None or parent["type"] != _EBS_COMPONENT:
            continue
        external_ids = [
            item.external_id
            for name, item in found.items()
            if by_name[name].get("parent") == parent["name"] and item.external_id.startswith("vol-")
        ]
        if external_ids:
            yield entry["name"], ImportableObject(id=external_ids[0])


def _file_systems(
    entries: Sequence[Entry],
    found: Mapping[str, ImportableObject],
    storage: aws_storage.AwsStorage,
    systems: Mapping[str, str | None],
) -> Iterator[tuple[str, ImportableObject]]:
    """
    Yield file system, access point and mount targets of each registration that Nomad has, where all are known.

    *systems* are the file systems of access points, both by name: one that volumes share is known by any of them.
    """
    known: dict[str, tuple[str, str]] = {}
    shared: dict[str, str] = {}
    for component in (entry for entry in entries if entry["type"] == _EFS_COMPONENT):
        children = [entry for entry in entries if entry.get("parent") == component["name"]]
        ids = [found[entry["name"]].external_id for entry in children if entry["name"] in found]
        parts = next((parts for each in ids if (parts := aws_records.parts(each))), None)
        if parts:
            known[component["name"]] = parts
            points = (entry["name"] for entry in children if entry["type"] == ACCESS_POINT)
            shared |= {system: parts[0] for each in points if (system := systems.get(each))}
    for component in (entry for entry in entries if entry["type"] == _SHARED_COMPONENT):
        below = [entry["name"] for entry in entries if entry.get("parent") == component["name"]]
        if system_id := next((shared[each] for each in below if each in shared), ""):
            known[component["name"]] = (system_id, "")
    whole = {name: _parts(name, entries, *parts, storage) for name, parts in known.items()}
    absent = {each for own in whole.values() if not all(own.values()) for each in own}
    for own in whole.values():
        # An access point is imported beside its file system, or it would be replaced for a new one.
        if all(own.values()) and not any(systems.get(each) in absent for each in own):
            yield from ((each, ImportableObject(id=identity)) for each, identity in own.items())


def _parts(
    component: str, entries: Sequence[Entry], system_id: str, point_id: str, storage: aws_storage.AwsStorage
) -> dict[str, str]:
    """Return the ids of what is below a *component* of EFS, by name; empty where one is not known."""
    name = next(_logical(entry) for entry in entries if entry["name"] == component)
    targets = {
        f"{name}-{item.attributes.get('availability_zone_name')}": str(item.attributes["id"])
        for item in storage.targets(system_id)
    }
    by_type = {FILE_SYSTEM: system_id, ACCESS_POINT: point_id}
    return {
        entry["name"]: targets.get(_logical(entry), "") if entry["type"] == MOUNT_TARGET else by_type[entry["type"]]
        for entry in entries
        if entry.get("parent") == component and entry["type"] in {*by_type, MOUNT_TARGET}
    }


def _file_system_of(step: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the place of the file system that an access point is declared in by the same program."""
    needs = (step.get("newState") or {}).get("propertyDependencies") or {}
    return next((_place(urn) for urn in needs.get("fileSystemId") or () if f"{FILE_SYSTEM}::" in urn), None)


def _policies(entries: Sequence[Entry], storage: aws_storage.AwsStorage) -> Iterator[tuple[str, ImportableObject]]:
    """Yield that policies of a plugin are made anew where Terraform has some: theirs have another text and name."""
    if storage.of(aws_storage.POLICY) or storage.of(aws_storage.ROLE_POLICY):
        reason = "`pulumi up` makes one that fits, beside that of Terraform; remove the latter afterwards"
        for entry in entries:
            if entry["type"] in IAM:
                yield entry["name"], ImportableObject(reason=reason)


def _logical(entry: Entry) -> str:
    return str(entry.get("logicalName") or entry["name"])


def _without_storage(
    entries: Sequence[Entry], by_name: Mapping[str, Entry], found: Mapping[str, ImportableObject]
) -> Iterator[tuple[str, ImportableObject]]:
    """Take out registrations whose storage is declared and not imported: they would be replaced for other storage."""
    for entry in entries:
        if entry["type"] != REGISTERED or not found[entry["name"]].id:
            continue
        parent = by_name.get(entry.get("parent", ""), {})
        has_storage = any(
            found[other["name"]].id
            for other in entries
            if other.get("parent") == entry.get("parent")
            and other["type"] in {EBS_VOLUME, FILE_SYSTEM, ACCESS_POINT}
            and other["name"] in found
        )
        if parent.get("type") in {_EBS_COMPONENT, _EFS_COMPONENT} and not has_storage:
            reason = "its storage is not imported with it; declare it as existing, with its external id"
            if parent["type"] == _EFS_COMPONENT:
                reason += ", or give the Terraform state that has its mount targets"
            yield entry["name"], ImportableObject(reason=reason)


def _above(entry: Entry, by_name: Mapping[str, Entry]) -> Iterator[str]:
    """Yield the names of the parents of *entry* that are in the file."""
    while (name := entry.get("parent", "")) in by_name:
        yield name
        entry = by_name[name]


def _place(urn: str) -> tuple[str, str]:
    """Return the qualified type and the name of *urn*."""
    parts = urns.read(urn)
    return parts.types, parts.name


def _place_of(entry: Entry, by_name: Mapping[str, Entry], table: Mapping[str, str]) -> tuple[str, str]:
    return _qualified(entry, by_name, table), _logical(entry)


def _qualified(entry: Entry, by_name: Mapping[str, Entry], table: Mapping[str, str]) -> str:
    parent = entry.get("parent", "")
    if parent in by_name:
        return f"{_qualified(by_name[parent], by_name, table)}${entry['type']}"
    if parent in table:
        return f"{_place(table[parent])[0]}${entry['type']}"
    return str(entry["type"])


# What Nomad has of the jobs and volumes that a program declares: the ids that Pulumi imports them by. Reads only.


_UNKNOWN_ID = "its id follows from something that is not made yet"


def read_objects(client: nomad.Nomad, kind: str, inputs: Mapping[str, Any]) -> ImportableObject:
    """Return what Nomad has of the resource of type *kind* with *inputs*. Raises `errors.NomadApiError`."""
    name = "jobId" if kind == JOB else "volumeId"
    key = inputs.get("namespace", "default"), inputs.get(name, "")
    if resource.UNKNOWN in key or not all(isinstance(part, str) and part for part in key):
        return ImportableObject(reason=_UNKNOWN_ID)
    return _job(client, *key) if kind == JOB else _volume(client, *key)


def _job(client: nomad.Nomad, namespace: str, job_id: str) -> ImportableObject:
    found = jobs.get(client, namespace, job_id)
    if found is None or found.stopped:
        return ImportableObject(reason="Nomad does not run it; `pulumi up` does")
    if jobs.source(client, namespace, job_id, found.version) is None:
        return ImportableObject(reason="Nomad does not hold its source; `pulumi up` takes it over if it is equal")
    return ImportableObject(id=f"{namespace}/{job_id}")


def _volume(client: nomad.Nomad, namespace: str, volume_id: str) -> ImportableObject:
    found = volumes.get(client, namespace, volume_id)
    if found is None:
        return ImportableObject(reason="Nomad does not have it; `pulumi up` registers it")
    return ImportableObject(id=f"{namespace}/{volume_id}", external_id=found.external_id)
