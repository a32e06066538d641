"""
Nomad's calls for snapshots, and its sentences for their errors. Part of the Nomad emulator.

Source: hashicorp/nomad, ``plugins/csi/client.go`` (``ControllerCreateSnapshot``, ``ControllerDeleteSnapshot``,
``ControllerListSnapshots``), ``client/csi_endpoint.go``, 2026-08-21.
"""

from collections.abc import Callable, Mapping
from typing import Any

from nomad_csi.csi.v1 import csi_pb2
from nomad_csi_sandbox.nomad.storage import csi_volumes

Json = dict[str, Any]


class SnapshotCalls:
    """The part of `csi_client.PluginClient` that is about snapshots."""

    _controller: Any
    _explained: Callable[..., Any]

    def create_snapshot(self, external_id: str, wanted: Json) -> Json:
        """Have a snapshot made, and return it. Raises `CsiCallError`."""
        name = wanted["Name"]
        for text, what in ((external_id, "VolumeID"), (name, "Name")):
            if not text:
                raise csi_volumes.CsiCallError(f"missing {what}")
        request = csi_pb2.CreateSnapshotRequest(
            source_volume_id=external_id, name=name, secrets=wanted["Secrets"], parameters=wanted["Parameters"]
        )
        texts = {
            "AlreadyExists": f'snapshot "{name}" already exists but is incompatible with volume ID "{external_id}"',
            "Aborted": f'snapshot "{name}" is already pending',
            "ResourceExhausted": "storage provider does not have enough space for this snapshot",
            "Internal": csi_volumes.INTERNAL,
        }
        return _shown(self._explained(self._controller.CreateSnapshot, request, texts).snapshot)

    def delete_snapshot(self, snapshot_id: str, secrets: Mapping[str, str]) -> None:
        """Have a snapshot deleted. Raises `CsiCallError`."""
        if not snapshot_id:
            raise csi_volumes.CsiCallError("missing SnapshotID")
        request = csi_pb2.DeleteSnapshotRequest(snapshot_id=snapshot_id, secrets=secrets)
        texts = {
            "FailedPrecondition": f'snapshot "{snapshot_id}" could not be deleted because it is in use',
            "Aborted": f'snapshot "{snapshot_id}" has a pending operation',
            "Internal": csi_volumes.INTERNAL,
        }
        self._explained(self._controller.DeleteSnapshot, request, texts)

    def list_snapshots(self, per_page: int, token: str, secrets: Mapping[str, str]) -> tuple[list[Json], str]:
        """Return a page of snapshots, and the token of the next. Raises `CsiCallError`."""
        if per_page < 0:
            raise csi_volumes.CsiCallError("MaxEntries cannot be negative")
        request = csi_pb2.ListSnapshotsRequest(max_entries=per_page, starting_token=token, secrets=secrets)
        texts = {"Aborted": f'invalid starting token "{token}"', "Internal": csi_volumes.INTERNAL}
        reply = self._explained(self._controller.ListSnapshots, request, texts)
        return [_shown(entry.snapshot) for entry in reply.entries], reply.next_token


def _shown(made: Any) -> Json:
    return {
        "ID": made.snapshot_id,
        "ExternalSourceVolumeID": made.source_volume_id,
        "SizeBytes": made.size_bytes,
        "CreateTime": made.creation_time.seconds,
        "IsReady": made.ready_to_use,
        "SourceVolumeID": "",
        "PluginID": "",
        "Name": "",
        "Secrets": None,
        "Parameters": None,
    }
