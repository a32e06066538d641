"""
What the EBS driver does with volumes that are there: grows, modifies, copies and snapshots them, in moto's EC2.

Part of the CSI driver emulator. Source: aws-ebs-csi-driver v1.64.0, ``pkg/driver/controller.go`` and
``pkg/cloud/cloud.go``, 2026-08.
"""
# ruff: noqa: N802  # gRPC servicers are called by the names of their RPCs

from collections.abc import Mapping
from typing import Any

from nomad_csi.csi.v1 import csi_pb2
from nomad_csi_sandbox.csi_plugin import capability, ec2, local_answers, status

GIB = 1 << 30
SNAPSHOT_TAG = "CSIVolumeSnapshotName"


class EbsStorage:
    """The calls of the EBS controller that need a volume or a snapshot to be there."""

    def __init__(self, cloud: ec2.Ec2) -> None:
        self._cloud = cloud

    def ControllerExpandVolume(self, request: Any, _context: Any) -> Any:
        """Make a volume larger; never smaller. May be repeated."""
        volume_id = capability.given_text(request.volume_id, "Volume ID")
        if not request.HasField("capacity_range"):
            raise status.invalid("Capacity range not provided")
        size_gib = rounded_gib(request.capacity_range)
        found = self.volume(volume_id)
        what = f'Could not resize volume "{volume_id}"'
        self._ask("DescribeVolumesModifications", what, VolumeIds=[volume_id])
        if found["Size"] < size_gib:
            self._ask("ModifyVolume", what, VolumeId=volume_id, Size=size_gib)
        size = max(found["Size"], size_gib) * GIB
        on_node = not capability.is_block(request.volume_capability)
        return csi_pb2.ControllerExpandVolumeResponse(capacity_bytes=size, node_expansion_required=on_node)

    def ControllerModifyVolume(self, request: Any, _context: Any) -> Any:
        """Change type, IOPS and throughput."""
        volume_id = capability.given_text(request.volume_id, "Volume ID")
        self.volume(volume_id)
        wanted = mutable(request.mutable_parameters)
        what = f'Could not modify volume "{volume_id}"'
        self._ask("DescribeVolumesModifications", what, VolumeIds=[volume_id])
        if wanted:
            self._ask("ModifyVolume", what, VolumeId=volume_id, **wanted)
        return csi_pb2.ControllerModifyVolumeResponse()

    def CreateSnapshot(self, request: Any, _context: Any) -> Any:
        """Make a snapshot with the driver's tags. The same name again returns the same snapshot."""
        name = capability.given_text(request.name, "Snapshot name")
        volume_id = capability.given_text(request.source_volume_id, "Snapshot volume source ID")
        found = self._snapshots(Filters=[{"Name": f"tag:{SNAPSHOT_TAG}", "Values": [name]}])
        if found and found[0]["VolumeId"] != volume_id:
            text = f"Snapshot {name} already exists for different volume ({found[0]['VolumeId']})"
            raise status.StatusError("ALREADY_EXISTS", text)
        if found:
            return csi_pb2.CreateSnapshotResponse(snapshot=_snapshot(found[0]))
        tags = [{"Key": SNAPSHOT_TAG, "Value": name}, {"Key": "ebs.csi.aws.com/cluster", "Value": "true"}]
        made = self._ask(
            "CreateSnapshot",
            f'Could not create snapshot "{name}"',
            VolumeId=volume_id,
            TagSpecifications=[{"ResourceType": "snapshot", "Tags": tags}],
        )
        return csi_pb2.CreateSnapshotResponse(snapshot=_snapshot(made))

    def DeleteSnapshot(self, request: Any, _context: Any) -> Any:
        """Delete the snapshot. One that is gone is no error."""
        snapshot_id = capability.given_text(request.snapshot_id, "Snapshot ID")
        try:
            self._cloud.call("DeleteSnapshot", SnapshotId=snapshot_id)
        except ec2.Ec2Error as error:
            if not error.code.startswith("InvalidSnapshot"):
                text = f'Could not delete snapshot ID "{snapshot_id}": {error}'
                raise status.StatusError("INTERNAL", text) from error
        return csi_pb2.DeleteSnapshotResponse()

    def ListSnapshots(self, request: Any, _context: Any) -> Any:
        """Answer one page of the account's own snapshots, by id; what is not there is an empty list."""
        by_name = {"snapshot-id": request.snapshot_id, "volume-id": request.source_volume_id}
        filters = [{"Name": name, "Values": [value]} for name, value in by_name.items() if value]
        found = sorted(self._snapshots(OwnerIds=["self"], Filters=filters), key=lambda each: str(each["SnapshotId"]))
        page, next_token = local_answers.page(found, request)
        entries = [csi_pb2.ListSnapshotsResponse.Entry(snapshot=_snapshot(each)) for each in page]
        return csi_pb2.ListSnapshotsResponse(entries=entries, next_token=next_token)

    def volume(self, volume_id: str) -> Mapping[str, Any]:
        """Return a volume that a call needs. Raises `status.StatusError`."""
        try:
            return self._cloud.volume(volume_id)
        except ec2.Ec2Error as error:
            gone = error.code.startswith("InvalidVolume") or error.code == "InvalidParameterValue"
            code = "NOT_FOUND" if gone else "INTERNAL"
            raise status.StatusError(code, f'Could not get volume "{volume_id}": {error}') from error

    def source(self, request: Any) -> tuple[str, int]:
        """Return the snapshot that a new volume begins with, and its size in GiB. Raises `status.StatusError`."""
        wanted = local_answers.source_of(request)
        if wanted is None:
            return "", 0
        kind, source_id = wanted
        if kind == "volume":
            try:
                return "", int(self._cloud.volume(source_id)["Size"])  # a copy: there is no data that could be copied
            except ec2.Ec2Error as error:
                raise status.StatusError("NOT_FOUND", f"Volume {source_id} not found") from error
        found = self._snapshots(Filters=[{"Name": "snapshot-id", "Values": [source_id]}])
        if not found:
            raise status.StatusError("NOT_FOUND", f"Snapshot {source_id} not found")
        return source_id, int(found[0]["VolumeSize"])

    def _snapshots(self, **query: Any) -> list[Mapping[str, Any]]:
        found: list[Mapping[str, Any]] = self._ask("DescribeSnapshots", "Could not list snapshots", **query)[
            "Snapshots"
        ]
        return found

    def _ask(self, operation: str, what: str, **arguments: Any) -> Any:
        try:
            return self._cloud.call(operation, **arguments)
        except ec2.Ec2Error as error:
            gone = error.code.startswith(("InvalidVolume.NotFound", "InvalidSnapshot.NotFound"))
            code = "NOT_FOUND" if gone else "INTERNAL"
            raise status.StatusError(code, f"{what}: {error}") from error


def rounded_gib(asked: Any) -> int:
    """Return the GiB of a capacity range. Raises `status.StatusError` where they are above its limit."""
    size_gib = -(-asked.required_bytes // GIB)
    if 0 < asked.limit_bytes < size_gib * GIB:
        raise status.invalid("After round-up, volume size exceeds the limit specified")
    return int(size_gib)


_EC2_NAMES = {"type": "VolumeType", "iops": "Iops", "throughput": "Throughput"}


def mutable(parameters: Mapping[str, str]) -> dict[str, Any]:
    """Return *parameters* of a volume that is there, in EC2's words. Raises `status.StatusError` for any other."""
    for key, value in parameters.items():
        if key not in _EC2_NAMES or (key != "type" and not value.isdigit()):
            raise status.invalid(f"invalid mutable parameter key: {key}")
    return {_EC2_NAMES[key]: value if key == "type" else int(value) for key, value in parameters.items()}


def _snapshot(found: Mapping[str, Any]) -> Any:
    return csi_pb2.Snapshot(
        snapshot_id=found["SnapshotId"],
        source_volume_id=found["VolumeId"],
        size_bytes=int(found["VolumeSize"]) * GIB,
        creation_time={"seconds": int(found["StartTime"].timestamp())},
        ready_to_use=found["State"] == "completed",
    )
