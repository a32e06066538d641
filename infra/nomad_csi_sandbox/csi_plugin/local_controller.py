"""
CSI's Controller service, as a driver with a profile answers it. Part of the CSI driver emulator.

It makes records in a `storage.Storage` where the driver would make storage.
"""
# ruff: noqa: N802  # gRPC servicers are called by the names of their RPCs

import random
import uuid
from typing import Any

from nomad_csi.csi.v1 import csi_pb2, csi_pb2_grpc
from nomad_csi_sandbox.csi_plugin import capability, local_answers, local_snapshots, profiles, sizes, status, storage


class LocalController(local_snapshots.Snapshots, csi_pb2_grpc.ControllerServicer):
    """Makes, grows, attaches and deletes volumes that are records. What a driver may modify is not played."""

    def __init__(self, profile: profiles.Profile, kept: storage.Storage, node_id: str, zone: str) -> None:
        super().__init__(profile, kept)
        self._node_id = node_id
        self._zone = zone

    def ControllerGetCapabilities(self, _request: Any, _context: Any) -> Any:
        """Answer what the driver claims."""
        return capability.of_controller(self.profile.driver.controller_rpcs)

    def CreateVolume(self, request: Any, _context: Any) -> Any:
        """Make a volume. The same name again returns the same volume, or fails where that is another."""
        self.needs("CREATE_DELETE_VOLUME")
        name = self.given(request.name, self.profile.words.no_name, "CreateVolume")
        self._check_use(request.volume_capabilities, "CreateVolume")
        self._check_parameters(request.parameters)
        asked = sizes.asked(self.profile, request)
        segments = self._place(request.accessibility_requirements)
        with self.storage.open() as records:
            volume = records.volume_named(name)
            if volume is None:
                volume = self._made(records, request, asked, segments)
            else:
                self._refuse_other(volume, request, asked)
        return csi_pb2.CreateVolumeResponse(
            volume=csi_pb2.Volume(
                volume_id=volume["id"],
                capacity_bytes=volume["size"] if self.profile.tells_size else 0,
                volume_context=volume["context"],
                content_source=request.volume_content_source if request.HasField("volume_content_source") else None,
                accessible_topology=[csi_pb2.Topology(segments=volume["segments"])] if volume["segments"] else [],
            )
        )

    def DeleteVolume(self, request: Any, _context: Any) -> Any:
        """Forget the volume, and the snapshots that are a part of it. One that is gone is no error."""
        self.needs("CREATE_DELETE_VOLUME")
        volume_id = self.given(request.volume_id, self.profile.words.no_volume_id, "DeleteVolume")
        with self.storage.open() as records:
            records.delete_volume(volume_id)
            for snapshot_id in local_snapshots.parts_of(self.profile, records, volume_id):
                del records.snapshots[snapshot_id]
        return csi_pb2.DeleteVolumeResponse()

    def ValidateVolumeCapabilities(self, request: Any, _context: Any) -> Any:
        """Answer "confirmed" for a volume that exists, or any, and supported uses; an unsupported use is no error."""
        rpc = "ValidateVolumeCapabilities"
        volume_id = self.given(request.volume_id, self.profile.words.no_volume_id, rpc)
        if not request.volume_capabilities:
            raise status.invalid(self.profile.words.no_capabilities.format(rpc=rpc))
        if not self.profile.confirms_any:
            with self.storage.open() as records:
                self.volume(records, volume_id)
        reply = csi_pb2.ValidateVolumeCapabilitiesResponse()
        if capability.supported(self.profile.driver, request.volume_capabilities):
            reply.confirmed.volume_capabilities.extend(request.volume_capabilities)
            reply.confirmed.volume_context.update(request.volume_context)
            reply.confirmed.parameters.update(request.parameters)
        return reply

    def ControllerPublishVolume(self, request: Any, _context: Any) -> Any:
        """Attach. May be repeated; elsewhere only where many nodes may have it."""
        self.needs("PUBLISH_UNPUBLISH_VOLUME")
        rpc = "ControllerPublishVolume"
        volume_id = self.given(request.volume_id, self.profile.words.no_volume_id, rpc)
        node_id = self.given(request.node_id, "{rpc} Node ID must be provided", rpc)
        use = capability.given(request)
        self._check_use([use], rpc)
        with self.storage.open() as records:
            volume = self.volume(records, volume_id)
            if records.nodes and node_id not in records.nodes:
                raise status.StatusError("NOT_FOUND", self.profile.words.no_node.format(node_id=node_id))
            others = [name for name in volume["published"] if name != node_id]
            if others and capability.mode(use).startswith("SINGLE"):
                text = f'volume "{volume_id}" is attached to the wrong node {others[0]}, detach it to fix this'
                raise status.StatusError("FAILED_PRECONDITION", text)
            if volume["published"].get(node_id, request.readonly) != request.readonly:
                raise status.StatusError("ALREADY_EXISTS", "Volume published but has incompatible readonly flag")
            volume["published"][node_id] = request.readonly
        return csi_pb2.ControllerPublishVolumeResponse(
            publish_context=local_answers.publish_context(self.profile, volume)
        )

    def ControllerUnpublishVolume(self, request: Any, _context: Any) -> Any:
        """Detach, from all nodes where none is named. May be repeated."""
        self.needs("PUBLISH_UNPUBLISH_VOLUME")
        volume_id = self.given(request.volume_id, self.profile.words.no_volume_id, "ControllerUnpublishVolume")
        with self.storage.open() as records:
            volume = records.volumes.get(volume_id)
            if volume is not None and request.node_id:
                volume["published"].pop(request.node_id, None)
            elif volume is not None:
                volume["published"].clear()
        return csi_pb2.ControllerUnpublishVolumeResponse()

    def ControllerExpandVolume(self, request: Any, _context: Any) -> Any:
        """Make a volume larger; never smaller. May be repeated."""
        self.needs("EXPAND_VOLUME")
        volume_id = self.given(request.volume_id, self.profile.words.no_volume_id, "ControllerExpandVolume")
        size = sizes.expanded(self.profile, request)
        with self.storage.open() as records:
            volume = self.volume(records, volume_id)
            volume["size"] = max(volume["size"], size)
        on_node = "EXPAND_VOLUME" in self.profile.driver.node_rpcs and not request.volume_capability.HasField("block")
        return csi_pb2.ControllerExpandVolumeResponse(capacity_bytes=volume["size"], node_expansion_required=on_node)

    def ListVolumes(self, request: Any, _context: Any) -> Any:
        """Answer one page of volumes, by id."""
        self.needs("LIST_VOLUMES")
        with self.storage.open() as records:
            found = [records.volumes[key] for key in sorted(records.volumes)]
        page, next_token = local_answers.page(found, request)
        entries = [
            csi_pb2.ListVolumesResponse.Entry(
                volume=local_answers.volume(each),
                status=csi_pb2.ListVolumesResponse.VolumeStatus(published_node_ids=sorted(each["published"])),
            )
            for each in page
        ]
        return csi_pb2.ListVolumesResponse(entries=entries, next_token=next_token)

    def ControllerGetVolume(self, request: Any, _context: Any) -> Any:
        """Answer one volume; hostpath and Portworx call one that is gone abnormal, and not missing."""
        self.needs("GET_VOLUME")
        with self.storage.open() as records:
            volume = records.volumes.get(request.volume_id)
        reply = csi_pb2.ControllerGetVolumeResponse(volume=csi_pb2.Volume(volume_id=request.volume_id))
        if volume is None:
            words = self.profile.words
            text = (words.no_such_volume or words.not_found).format(volume_id=request.volume_id)
            reply.status.volume_condition.CopyFrom(csi_pb2.VolumeCondition(abnormal=True, message=text))
            return reply
        reply.volume.CopyFrom(local_answers.volume(volume))
        reply.status.published_node_ids.extend(sorted(volume["published"]))
        return reply

    def GetCapacity(self, _request: Any, _context: Any) -> Any:
        """Answer the largest volume that can be made: the storage of the emulator never ends."""
        self.needs("GET_CAPACITY")
        most = self.profile.max_bytes or profiles.TIB
        return csi_pb2.GetCapacityResponse(available_capacity=most, maximum_volume_size={"value": most})

    def _check_use(self, uses: Any, rpc: str) -> None:
        if not uses:
            raise status.invalid(self.profile.words.no_capabilities.format(rpc=rpc))
        if len({capability.is_block(use) for use in uses}) > 1:
            raise status.invalid("cannot have both block and mount access type")
        wrong = [use for use in uses if not capability.supported(self.profile.driver, [use])]
        if wrong:
            raise status.invalid(self.profile.words.wrong_use.format(use=capability.mode(wrong[0])))
        types = self.profile.fs_types
        bad = [use.mount.fs_type for use in uses if types is not None and use.mount.fs_type not in {"", *types}]
        if bad:
            raise status.invalid(f"invalid fs_type {bad[0]}")

    def _check_parameters(self, parameters: Any) -> None:
        known = self.profile.parameters
        unknown = [key for key in parameters if known is not None and key.lower() not in known]
        if unknown:
            raise status.invalid(f'invalid parameter "{unknown[0]}" in storage class')

    def _place(self, requirement: Any) -> dict[str, str]:
        """Return where a volume is to be made: the first place that is preferred, else allowed, else the driver's."""
        keys = self.profile.driver.zone_keys
        if not self.profile.place or not keys:
            return {}
        own = {keys[0]: self._node_id if self.profile.place == "node" else self._zone}
        if self.profile.place == "node":
            return own
        for topology in (*requirement.preferred, *requirement.requisite):
            if keys[0] in topology.segments:
                return {keys[0]: topology.segments[keys[0]]}
        if self.profile.needs_place:
            raise status.invalid("CreateVolume failed to pick zones for disk: need 1 zones from topology, only got 0")
        return own

    def _made(self, records: storage.Records, request: Any, asked: sizes.Asked, segments: dict[str, str]) -> Any:
        source = self.source(records, request)
        least = source["size"] if source else 0
        if source and asked.bytes < least and request.HasField("capacity_range"):
            kind = request.volume_content_source.WhichOneof("type")
            text = f"{kind} {source['id']} size {least} is greater than requested volume size {asked.bytes}"
            raise status.invalid(text)
        zone = next(iter(segments.values()), "")
        return records.add_volume(
            self._new_id(request, zone),
            request.name,
            max(asked.bytes, least),
            context=local_answers.volume_context(self.profile, request),
            segments=segments,
            source=local_answers.source_of(request),
            block=capability.is_block(request.volume_capabilities[0]),
        )

    def _new_id(self, request: Any, zone: str) -> str:
        match self.profile.ids:
            case "name":
                return str(request.name)
            case "number":
                return str(random.SystemRandom().randrange(10**17, 10**18))
            case "gce":
                return f"projects/sandbox/zones/{zone}/disks/{request.name}"
            case "nfs":
                return local_answers.nfs_id(request)
            case _:
                return str(uuid.uuid4())

    def _refuse_other(self, volume: storage.Json, request: Any, asked: sizes.Asked) -> None:
        """Refuse a request by the name of a volume that is another: of another size, or from elsewhere."""
        code = "ALREADY_EXISTS"
        if not asked.fits(volume["size"], exact=not self.profile.keeps_range):
            text = f"Volume with the same name: {request.name} but with different size already exist"
            raise status.StatusError(code, text)
        source = local_answers.source_of(request)
        if source and source != volume["source"]:
            raise status.StatusError(code, "existing volume source id not matching")
