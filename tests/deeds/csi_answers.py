"""Answers of plugins that several subjects share."""

from unittest import mock

from nomad_csi.csi import presence
from nomad_csi.csi.v1 import csi_pb2
from tests.deeds import plugin as plugins

SOCKET = "/run/csi.sock"

CONFIRMED = csi_pb2.ValidateVolumeCapabilitiesResponse(confirmed={})

SNAPSHOTS = {
    "ValidateVolumeCapabilities": csi_pb2.ValidateVolumeCapabilitiesResponse(confirmed={}, message="m"),
    "DeleteVolume": csi_pb2.DeleteVolumeResponse(),
    "CreateSnapshot": csi_pb2.CreateSnapshotResponse(snapshot={"snapshot_id": "snap-1", "ready_to_use": True}),
    "ListSnapshots": csi_pb2.ListSnapshotsResponse(
        entries=[{"snapshot": {"snapshot_id": "snap-1"}}, {"snapshot": {"snapshot_id": "snap-2"}}]
    ),
}


def can(*numbers):
    """Return the answer of a controller with these capabilities."""
    return csi_pb2.ControllerGetCapabilitiesResponse(
        capabilities=[plugins.capability("controller", number) for number in numbers]
    )


def last_of_each():
    """Have a character be replaced by the last one of its kind."""
    return mock.patch.object(presence.random, "SystemRandom", return_value=mock.Mock(choice=lambda kind: kind[-1]))
