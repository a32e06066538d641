"""
CSI's Node service, as a driver with a profile answers it. Part of the CSI driver emulator.

It mounts nothing: where the driver would mount, it makes the folder (or, for a block device, an empty file).
"""
# ruff: noqa: N802  # gRPC servicers are called by the names of their RPCs

from pathlib import Path
from typing import Any

from nomad_csi.csi.v1 import csi_pb2, csi_pb2_grpc
from nomad_csi_sandbox.csi_plugin import capability, folders, local_snapshots, profiles, status, storage


class LocalNode(local_snapshots.Records, csi_pb2_grpc.NodeServicer):
    """Stages and publishes volumes that are records."""

    def __init__(self, profile: profiles.Profile, kept: storage.Storage, node_id: str, zone: str) -> None:
        super().__init__(profile, kept)
        self._node_id = node_id
        self._zone = zone
        with kept.open() as records:
            records.whole["nodes"] = sorted({*records.nodes, node_id})

    def NodeGetInfo(self, _request: Any, _context: Any) -> Any:
        """Answer the node's id, its place under the driver's keys, and how many volumes fit."""
        place = self._node_id if self.profile.place == "node" else self._zone
        segments = dict.fromkeys(self.profile.driver.zone_keys, place)
        return csi_pb2.NodeGetInfoResponse(
            node_id=self._node_id,
            max_volumes_per_node=self.profile.max_volumes,
            accessible_topology=csi_pb2.Topology(segments=segments) if segments else None,
        )

    def NodeGetCapabilities(self, _request: Any, _context: Any) -> Any:
        """Answer what the driver claims."""
        return capability.of_node(self.profile.driver.node_rpcs)

    def NodeStageVolume(self, request: Any, _context: Any) -> Any:
        """Check as the driver does, and note where it would be mounted."""
        self._node_needs("STAGE_UNSTAGE_VOLUME")
        volume_id = self.given(request.volume_id, self.profile.words.no_volume_id, "NodeStageVolume")
        target = self.given(request.staging_target_path, "Staging Target Path must be provided", "NodeStageVolume")
        use = capability.given(request)
        self._check(use, request.volume_context)
        with self.storage.open() as records:
            volume = self.volume(records, volume_id)
            if volume["staged"] not in ([], [target]):
                text = f'volume "{volume_id}" is already staged at {volume["staged"]}'
                raise status.StatusError("FAILED_PRECONDITION", text)
            volume["staged"] = [target]
        if not capability.is_block(use):
            folders.make(Path(target))
        return csi_pb2.NodeStageVolumeResponse()

    def NodeUnstageVolume(self, request: Any, _context: Any) -> Any:
        """Note that it is mounted there no more. May be repeated."""
        self._node_needs("STAGE_UNSTAGE_VOLUME")
        volume_id = self.given(request.volume_id, self.profile.words.no_volume_id, "NodeUnstageVolume")
        target = self.given(request.staging_target_path, "Staging Target Path must be provided", "NodeUnstageVolume")
        with self.storage.open() as records:
            volume = self.volume(records, volume_id)
            volume["staged"] = [each for each in volume["staged"] if each != target]
        return csi_pb2.NodeUnstageVolumeResponse()

    def NodePublishVolume(self, request: Any, _context: Any) -> Any:
        """Check as the driver does, then make the target instead of a mount. May be repeated."""
        use = capability.given(request)
        volume_id = self.given(request.volume_id, self.profile.words.no_volume_id, "NodePublishVolume")
        target = self.given(request.target_path, "Target path missing in request", "NodePublishVolume")
        self._check(use, request.volume_context)
        with self.storage.open() as records:
            volume = self.volume(records, volume_id)
            self._refuse_unstaged(volume, request.staging_target_path)
            alone = capability.mode(use) == "SINGLE_NODE_SINGLE_WRITER"
            if alone and any(each != target for each in volume["targets"]):
                text = "volume uses SINGLE_NODE_SINGLE_WRITER access mode and is already mounted at a different target"
                raise status.StatusError("FAILED_PRECONDITION", text)
            folders.publish(Path(target), is_block=capability.is_block(use))
            volume["targets"] = sorted({*volume["targets"], target})
        return csi_pb2.NodePublishVolumeResponse()

    def NodeUnpublishVolume(self, request: Any, _context: Any) -> Any:
        """Remove the empty folder or file that publishing made. May be repeated."""
        volume_id = self.given(request.volume_id, self.profile.words.no_volume_id, "NodeUnpublishVolume")
        target = self.given(request.target_path, "Target path missing in request", "NodeUnpublishVolume")
        with self.storage.open() as records:
            volume = self.volume(records, volume_id)
            folders.remove(Path(target))
            volume["targets"] = [each for each in volume["targets"] if each != target]
        return csi_pb2.NodeUnpublishVolumeResponse()

    def NodeGetVolumeStats(self, request: Any, _context: Any) -> Any:
        """Answer how full the disk below the target is: nothing else is mounted there."""
        self._node_needs("GET_VOLUME_STATS")
        volume_id = self.given(request.volume_id, self.profile.words.no_volume_id, "NodeGetVolumeStats")
        path = self.given(request.volume_path, "Volume Path not provided", "NodeGetVolumeStats")
        with self.storage.open() as records:
            self.volume(records, volume_id)
        return folders.statistics(Path(path))

    def NodeExpandVolume(self, request: Any, _context: Any) -> Any:
        """Answer the size that the controller has given the volume."""
        self._node_needs("EXPAND_VOLUME")
        volume_id = self.given(request.volume_id, self.profile.words.no_volume_id, "NodeExpandVolume")
        path = self.given(request.volume_path, "Volume Path not provided", "NodeExpandVolume")
        with self.storage.open() as records:
            volume = self.volume(records, volume_id)
        if not Path(path).exists():
            raise status.StatusError("NOT_FOUND", f"Could not get file information from {path}")
        return csi_pb2.NodeExpandVolumeResponse(capacity_bytes=volume["size"])

    def _node_needs(self, rpc: str) -> None:
        if rpc not in self.profile.driver.node_rpcs:
            raise status.StatusError("UNIMPLEMENTED", "")

    def _check(self, use: Any, context: Any) -> None:
        if not capability.supported(self.profile.driver, [use]):
            raise status.invalid(self.profile.words.wrong_use.format(use=capability.mode(use)))
        known = {key.lower() for key, value in context.items() if value}
        for name in self.profile.needs_context:
            if name not in known:
                unknown = f"unknown/unsupported {name}: undefined"
                raise status.invalid(unknown if name == "node_attach_driver" else f"{name} is a required parameter")

    def _refuse_unstaged(self, volume: storage.Json, staging_target: str) -> None:
        if "STAGE_UNSTAGE_VOLUME" not in self.profile.driver.node_rpcs:
            return
        if not volume["staged"]:
            raise status.StatusError("FAILED_PRECONDITION", f'volume "{volume["id"]}" must be staged before publishing')
        if staging_target not in volume["staged"]:
            raise status.invalid(f'volume "{volume["id"]}" was staged at {volume["staged"]}, not "{staging_target}"')
