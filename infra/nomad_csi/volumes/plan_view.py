"""What `plan` shows of volumes: what applying them would change, and what is registered outside of the spec."""

import dataclasses
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Literal

from nomad_csi import errors, nomad
from nomad_csi.nomad import volumes as nomad_volumes
from nomad_csi.plan import model, registration, volumes
from nomad_csi.text import listing
from nomad_csi.volumes import apply_volumes, compare, registration_ownership

EQUAL = "equal"
NEW = "new"
NOT_COMPARED = "not compared"

NEW_STORAGE = (
    "its plugin creates new storage; no owner record keeps any for it: storage that it had before is named in the spec "
    "(`existing: {external_id: ID}` instead of `create`)"
)
ITS_STORAGE = "its creation was begun: its plugin creates it, or finds what it created then"
"""Remark on a volume that its plugin creates by a new name, or by the one in its owner record."""

UNLISTED = "volumes that are registered and not in the spec were not listed: the token lacks csi-list-volume"

SHOWN = 20
"""Volumes of one owner that are named, of those that are not in the spec."""


@dataclass(frozen=True, kw_only=True)
class PlannedChange:
    """One job, volume or file."""

    kind: Literal["job", "volume", "file"]
    name: str
    """``namespace/job_id``, ``namespace/volume_id``, or a path below the output folder."""

    state: str
    """
    ``equal``, or the change. Jobs: ``new``, ``changes``, ``stopped``, ``refused`` (another stack's, of another
    type, in a namespace that does not exist, or another job runs the plugin on its clients). Volumes: ``new``,
    ``changes``, ``refused`` (another stack's, or Nomad would refuse it), ``ignored`` (Nomad would accept and ignore
    it). Files: `files.Reason`. ``not compared``: the token lacks a capability.
    """

    remarks: tuple[str, ...] = ()

    @property
    def is_change(self) -> bool:
        """Whether there is a difference to the plan."""
        return self.state not in {EQUAL, NOT_COMPARED}

    def remarked(self, *remarks: str, state: str = "") -> "PlannedChange":
        """Return it with these *remarks* before its own, in another *state* where one is given."""
        return dataclasses.replace(self, state=state or self.state, remarks=(*remarks, *self.remarks))

    def of_owner(self, owner: str, requester: registration_ownership.Requester) -> "PlannedChange":
        """Return it with its *owner*, if that is another one than *requester*, and it would change or may not."""
        is_told = owner not in {"", requester.owner} and self.state != EQUAL
        return self.remarked(f"belongs to owner {owner}") if is_told else self


@dataclass(frozen=True, kw_only=True, slots=True)
class UnplannedVolume(registration.NamedVolume):
    """A registered volume that is not in the spec, and may have been in it: see `Registered.outside`."""

    owner: str
    """Its owner's label; empty: no owner record, or the token may not read it."""

    is_of_stack: bool
    """Whether a Pulumi stack registered it, and so will deregister it."""


class Registered:
    """The registered volumes in the namespaces of a plan, and the owner records of these and of the plan's."""

    def __init__(self, client: nomad.Nomad, plan: model.StoragePlan) -> None:
        self._client = client
        self._plan = plan
        self._wanted = {nomad_volumes.key_of(item.registration) for item in plan.volumes}
        self._plugin_ids = self._list()
        keys = self._wanted | (self._plugin_ids or {}).keys()
        self._records = registration_ownership.owner_records_of(client).read(keys)

    def _list(self) -> Mapping[nomad_volumes.Key, str] | None:
        """Return the plugin of each registered volume; ``None``: the token may not list them."""
        places = {namespace for namespace, _ in self._wanted} or {self._client.connection.namespace}
        try:
            return {
                (item.namespace, item.volume_id): item.plugin_id
                for namespace in sorted(places)
                for item in nomad_volumes.list_volumes(self._client, namespace)
            }
        except errors.NomadApiError as error:
            if error.status != HTTPStatus.FORBIDDEN:
                raise
            return None

    def changes(
        self, external_ids: Mapping[str, str], requester: registration_ownership.Requester
    ) -> Iterator[PlannedChange]:
        """Yield what applying each volume of the plan would change; without an owner nothing is refused for that."""
        pairs = [(item, volumes.desired_document(item, external_ids)) for item in self._plan.volumes]
        who = dataclasses.replace(requester, adopts=requester.adopts or not requester.owner)
        warnings: list[str] = []
        drawn = apply_volumes.apply(self._client, pairs, requester=who, tell=warnings.append, is_dry_run=True)
        for (planned, _), outcome in zip(pairs, drawn, strict=True):
            key = nomad_volumes.key_of(planned.registration)
            record = self._records.owners.get(key)
            item = _planned(outcome)
            if planned.made_by_plugin and outcome.status == "new":
                is_begun = record is not None and bool(record.storage_name)
                remark = outcome.reason or (ITS_STORAGE if is_begun else NEW_STORAGE)
                item = dataclasses.replace(item, remarks=(remark,))
            elif warnings and item.state != EQUAL:
                item = dataclasses.replace(item, remarks=(*item.remarks, *warnings))
            if key in self._records.unread and (item.state != EQUAL or requester.owner):
                item = item.remarked(registration_ownership.UNKNOWN.format(namespace=key[0]))
            yield item if requester.owner else item.of_owner(str(record or ""), requester)

    def outside(self, owner: str) -> tuple[UnplannedVolume, ...] | None:
        """
        Return the volumes outside the plan of the same owner: *owner*, or if that is empty, the owner of the plan's.

        Volumes without a known owner are included if the plan has their plugin. ``None``: the token may not list them.
        """
        if self._plugin_ids is None:
            return None
        owners, wanted, listed = self._records.owners, self._wanted, self._plugin_ids
        plugins = {item.plugin_id for item in self._plan.plugins}
        plugins |= {item.registration.plugin_id for item in self._plan.volumes}
        own = {owner} if owner else {str(owners.get(key, "")) for key in wanted & listed.keys()} or {""}
        found = []
        for key in sorted(listed.keys() - wanted):
            record = owners.get(key)
            may_be_ours = listed[key] in plugins and ("" in own or key in self._records.unread)
            if record.owner in own if record else may_be_ours:
                named = {"namespace": key[0], "volume_id": key[1], "owner": str(record or "")}
                found.append(UnplannedVolume(**named, is_of_stack=bool(record and record.stack_id)))
        return tuple(found)


def _planned(outcome: apply_volumes.AppliedVolume) -> PlannedChange:
    state = outcome.status if outcome.changes or outcome.status in {NEW, "refused"} else EQUAL
    remarks = [item for item in (outcome.reason, *(() if state == "refused" else outcome.changes)) if item]
    if "external_id" in outcome.not_comparable:
        remarks.append(compare.ID_NOT_COMPARED)
    if redacted := [name for name in outcome.not_comparable if name != "external_id"]:
        remarks.append(f"not comparable: {', '.join(redacted)}")
    return PlannedChange(kind="volume", name=outcome.key, state=state, remarks=tuple(remarks))


def outside_lines(outside: Collection[UnplannedVolume] | None) -> Iterator[str]:
    """Yield the registered volumes of each owner that are not in the spec, and how to deregister them."""
    if outside is None:
        yield UNLISTED
    for (owner, is_of_stack), keys in _by_owner(outside or ()).items():
        origin = f"by owner {owner}" if owner else "for plugins of the spec, without a known owner"
        yield f"registered {origin}, and not in the spec: {listing.shortened(keys, SHOWN)}"
        command = shlex.join(["nomad-csi", "remove", *keys[:SHOWN], *(["--owner", owner] if owner else [])])
        if is_of_stack:
            yield "  `pulumi up` of that stack deregisters those that its program no longer declares"
        elif owner:
            yield f"  they stay registered; to deregister them (their storage stays): {command}"
        else:
            yield f"  they stay registered; if they are in no other spec (their storage stays): {command}"


def _by_owner(outside: Iterable[UnplannedVolume]) -> Mapping[tuple[str, bool], list[str]]:
    found: dict[tuple[str, bool], list[str]] = {}
    for item in outside:
        found.setdefault((item.owner, item.is_of_stack), []).append(item.key)
    return found
