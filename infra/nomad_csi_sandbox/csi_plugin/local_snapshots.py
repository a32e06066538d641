"""Snapshots, and what all calls of a controller with a profile share. Part of the CSI driver emulator."""
# ruff: noqa: N802  # gRPC servicers are called by the names of their RPCs

import math
from typing import Any

from nomad_csi.csi.v1 import csi_pb2
from nomad_csi_sandbox.csi_plugin import local_answers, profiles, status, storage


class Records:
    """The profile of a driver and its storage; looks things up, and refuses as the driver does."""

    def __init__(self, profile: profiles.Profile, kept: storage.Storage) -> None:
        self.profile = profile
        self.storage = kept

    def needs(self, rpc: str) -> None:
        """Raise `status.StatusError` for a call that the driver does not serve."""
        if rpc not in self.profile.driver.controller_rpcs:
            raise status.StatusError("UNIMPLEMENTED", "")

    def given(self, text: str, otherwise: str, rpc: str) -> str:
        """Return *text*. Raises `status.StatusError` with *otherwise* where it is empty."""
        if not text:
            raise status.invalid(otherwise.format(rpc=rpc))
        return text

    def volume(self, records: storage.Records, volume_id: str) -> storage.Json:
        """Return a volume, also one that others made where the driver may have such. Raises `status.StatusError`."""
        found = records.volumes.get(volume_id)
        known = self.profile.found
        if found is None and known is not None and known.fullmatch(volume_id) and volume_id not in records.deleted:
            found = records.add_volume(volume_id, "", 0)
        if found is None:
            raise status.StatusError("NOT_FOUND", self.profile.words.not_found.format(volume_id=volume_id))
        return found

    def source(self, records: storage.Records, request: Any) -> storage.Json | None:
        """Return the snapshot or volume that a new volume is made from. Raises `status.StatusError`."""
        wanted = local_answers.source_of(request)
        if wanted is None:
            return None
        kind, source_id = wanted
        if kind == "snapshot" and not self.profile.snapshot_id.fullmatch(source_id):
            raise status.StatusError("NOT_FOUND", self.profile.words.bad_snapshot_id)
        if kind == "volume" and "CLONE_VOLUME" not in self.profile.driver.controller_rpcs:
            raise status.invalid("the driver does not copy volumes")
        found = (records.snapshots if kind == "snapshot" else records.volumes).get(source_id)
        if found is None:
            raise status.StatusError("NOT_FOUND", f"{kind} id {source_id} does not exist in the {kind}s list")
        return found


class Snapshots(Records):
    """Makes, lists and deletes snapshots that are records."""

    def CreateSnapshot(self, request: Any, _context: Any) -> Any:
        """Make a snapshot. The same name again returns the same one, or fails where that is of another volume."""
        self.needs("CREATE_DELETE_SNAPSHOT")
        name = self.given(request.name, "Name missing in request", "CreateSnapshot")
        volume_id = self.given(request.source_volume_id, "SourceVolumeId missing in request", "CreateSnapshot")
        if not self.profile.snapshot_name.fullmatch(name):
            raise status.invalid(self.profile.words.bad_snapshot_name.format(name=name))
        with self.storage.open() as records:
            found = records.snapshot_named(name)
            if found is not None and found["volume"] != volume_id:
                text = f"snapshot with the same name: {name} but with different SourceVolumeId already exist"
                raise status.StatusError("ALREADY_EXISTS", text)
            if found is None:
                volume = self._source_of_snapshot(records, volume_id)
                found = records.add_snapshot(name, volume, local_answers.snapshot_id(self.profile, request))
        return csi_pb2.CreateSnapshotResponse(snapshot=_message(found))

    def _source_of_snapshot(self, records: storage.Records, volume_id: str) -> storage.Json:
        """Return the volume; csi-driver-nfs only sees that there is no folder to pack."""
        try:
            return self.volume(records, volume_id)
        except status.StatusError as error:
            if not self.profile.confirms_any:
                raise
            raise status.StatusError("INTERNAL", self.profile.words.not_found.format(volume_id=volume_id)) from error

    def DeleteSnapshot(self, request: Any, _context: Any) -> Any:
        """Forget the snapshot. One that is gone is no error."""
        self.needs("CREATE_DELETE_SNAPSHOT")
        snapshot_id = self.given(request.snapshot_id, "Snapshot ID missing in request", "DeleteSnapshot")
        with self.storage.open() as records:
            records.snapshots.pop(snapshot_id, None)
        return csi_pb2.DeleteSnapshotResponse()

    def ListSnapshots(self, request: Any, _context: Any) -> Any:
        """Answer one page: of all, of one volume, or the one that is named; what is not there is an empty list."""
        self.needs("LIST_SNAPSHOTS")
        with self.storage.open() as records:
            found = [records.snapshots[key] for key in sorted(records.snapshots)]
        wanted = [
            each
            for each in found
            if request.snapshot_id in {"", each["id"]} and request.source_volume_id in {"", each["volume"]}
        ]
        page, next_token = local_answers.page(wanted, request)
        entries = [csi_pb2.ListSnapshotsResponse.Entry(snapshot=_message(each)) for each in page]
        return csi_pb2.ListSnapshotsResponse(entries=entries, next_token=next_token)

    def GetSnapshot(self, request: Any, _context: Any) -> Any:
        """Answer one snapshot."""
        self.needs("GET_SNAPSHOT")
        snapshot_id = self.given(request.snapshot_id, "Snapshot ID missing in request", "GetSnapshot")
        with self.storage.open() as records:
            found = records.snapshots.get(snapshot_id)
        if found is None:
            raise status.StatusError("NOT_FOUND", f'Snapshot with ID "{snapshot_id}" not found')
        return csi_pb2.GetSnapshotResponse(snapshot=_message(found))


def parts_of(profile: profiles.Profile, records: storage.Records, volume_id: str) -> list[str]:
    """Return the ids of the snapshots that are deleted together with a volume: those of ZFS that are not detached."""
    return [
        each["id"]
        for each in records.snapshots.values()
        if profile.snapshots == "zfs" and each["id"].startswith(f"{volume_id}@")
    ]


def _message(record: storage.Json) -> Any:
    fraction, seconds = math.modf(record["created"])
    return csi_pb2.Snapshot(
        snapshot_id=record["id"],
        source_volume_id=record["volume"],
        size_bytes=record["size"],
        creation_time={"seconds": int(seconds), "nanos": int(fraction * 1e9)},
        ready_to_use=True,
    )
