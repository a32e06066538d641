"""CSI's Controller service, as the EBS and the EFS driver answer it. Part of the CSI driver emulator."""
# ruff: noqa: N802  # gRPC servicers are called by the names of their RPCs

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nomad_csi.csi.v1 import csi_pb2, csi_pb2_grpc
from nomad_csi_sandbox.csi_plugin import capability, drivers, ebs_storage, ec2, efs_volume, faults, flags, status

DEFAULT_GIB = 100
"""Size without a capacity range. Source: aws-ebs-csi-driver, ``pkg/cloud/cloud.go`` (``DefaultVolumeSize``)."""

ZONE_KEYS = ("topology.kubernetes.io/zone", "topology.ebs.csi.aws.com/zone")
"""Where a wanted zone may stand, best first; the first is the one that is answered."""

UNTIL_INITIALIZED = "blockattachuntilinitialized"
"""Key of a volume's context. Source: aws-ebs-csi-driver v1.64.0, ``pkg/driver/constants.go``."""


class Controller(csi_pb2_grpc.ControllerServicer):
    """What both drivers have in common."""

    driver: drivers.Driver

    def ControllerGetCapabilities(self, _request: Any, _context: Any) -> Any:
        """Answer what the driver claims, also what this emulator does not emulate."""
        return capability.of_controller(self.driver.controller_rpcs)

    def ValidateVolumeCapabilities(self, request: Any, _context: Any) -> Any:
        """Answer "confirmed" only for an existing volume and supported uses; an unsupported use is no error."""
        volume_id = capability.given_text(request.volume_id, "Volume ID")
        if not request.volume_capabilities:
            raise status.invalid("Volume capabilities not provided")
        self._find(volume_id)
        reply = csi_pb2.ValidateVolumeCapabilitiesResponse()
        if self._supports(request.volume_capabilities):
            reply.confirmed.volume_capabilities.extend(request.volume_capabilities)
        return reply

    def _find(self, volume_id: str) -> None:
        raise NotImplementedError

    def _supports(self, capabilities: Any) -> bool:
        return capability.supported(self.driver, capabilities)


class EbsController(ebs_storage.EbsStorage, Controller):
    """The EBS driver: volumes of EC2."""

    driver = drivers.EBS

    def __init__(self, cloud: ec2.Ec2, found: Mapping[str, str], fault_file: Path | None = None) -> None:
        super().__init__(cloud)
        self._fault_file = fault_file
        self._extra_tags = dict(pair.split("=", 1) for pair in found.get("extra-tags", "").split(",") if pair)

    def _find(self, volume_id: str) -> None:
        faults.of_validation(self._fault_file, volume_id)
        try:
            self._cloud.volume(volume_id)
        except ec2.Ec2Error as error:
            raise _internal(f'Could not get volume with ID "{volume_id}": {error}') from error

    def ControllerPublishVolume(self, request: Any, _context: Any) -> Any:
        """Attach. May be repeated."""
        volume_id = capability.given_text(request.volume_id, "Volume ID")
        node_id = capability.given_text(request.node_id, "Node ID")
        if not self._supports([capability.given(request)]):
            raise status.invalid("Volume capability not supported")
        try:
            device = self._cloud.attach(volume_id, node_id)
        except ec2.Ec2Error as error:
            if error.code == "InvalidInstanceID.NotFound":  # the driver says "volume" here too
                raise status.StatusError("NOT_FOUND", f'Volume "{volume_id}" not found') from error
            where = f'ttach volume "{volume_id}" to node "{node_id}"'
            raise _internal(f"Could not a{where}: could not a{where}: {error}") from error
        if request.volume_context.get(UNTIL_INITIALIZED) == "true":
            self._wait_until_initialized(volume_id)
        return csi_pb2.ControllerPublishVolumeResponse(publish_context={"devicePath": device})

    def _wait_until_initialized(self, volume_id: str) -> None:
        """Ask EC2 once; moto 5.2.5 has no answer to this operation, so the emulator can only fail here."""
        try:
            self._cloud.call("DescribeVolumeStatus", VolumeIds=[volume_id])
        except ec2.Ec2Error as error:
            what = f'Cannot validate that volume "{volume_id}" is initialized while polling EC2 DescribeVolumeStatus'
            raise _internal(f"{what}: {error}") from error

    def ControllerUnpublishVolume(self, request: Any, _context: Any) -> Any:
        """Detach. May be repeated."""
        volume_id = capability.given_text(request.volume_id, "Volume ID")
        node_id = capability.given_text(request.node_id, "Node ID")
        if faults.read(self._fault_file).detach:
            raise _internal(f'Could not detach volume "{volume_id}" from node "{node_id}": ordered fault')
        try:
            self._cloud.detach(volume_id, node_id)
        except ec2.Ec2Error as error:
            raise _internal(f'Could not detach volume "{volume_id}" from node "{node_id}": {error}') from error
        return csi_pb2.ControllerUnpublishVolumeResponse()

    def CreateVolume(self, request: Any, _context: Any) -> Any:
        """Make a volume with the driver's tags. The same name again returns the same volume."""
        name = capability.given_text(request.name, "Volume name")
        if not request.volume_capabilities:
            raise status.invalid("Volume capabilities not provided")
        if not self._supports(request.volume_capabilities):
            raise status.invalid("Volume capabilities not supported")
        ebs_storage.mutable(request.mutable_parameters)
        snapshot_id, least_gib = self.source(request)
        size_gib = max(_size_gib(request, least_gib), least_gib)
        try:
            made = self._cloud.create(self._wanted(request, size_gib, snapshot_id))
        except ec2.Ec2Error as error:
            raise status.StatusError("ABORTED", f'Could not create volume "{name}": {error}') from error
        if made["Size"] != size_gib:
            raise status.StatusError(
                "ALREADY_EXISTS", f'Could not create volume "{name}": it exists with {made["Size"]} GiB'
            )
        return csi_pb2.CreateVolumeResponse(volume=_volume(made, request))

    def DeleteVolume(self, request: Any, _context: Any) -> Any:
        """Delete the volume and its data. One that is gone is no error."""
        volume_id = capability.given_text(request.volume_id, "Volume ID")
        try:
            self._cloud.delete(volume_id)
        except ec2.Ec2Error as error:
            raise _internal(
                f'Could not delete volume ID "{volume_id}": DeleteDisk could not delete volume: {error}'
            ) from error
        return csi_pb2.DeleteVolumeResponse()

    def _wanted(self, request: Any, size_gib: int, snapshot_id: str) -> ec2.NewVolume:
        values, tags = _parameters({**request.parameters, **request.mutable_parameters})
        own = {ec2.NAME_TAG: request.name, "ebs.csi.aws.com/cluster": "true"}
        return ec2.NewVolume(
            name=request.name,
            size_gib=size_gib,
            zone=_zone(request.accessibility_requirements) or self._cloud.first_zone(),
            volume_type=values.get("type") or "gp3",
            iops=_number(values, "iops"),
            throughput=_number(values, "throughput"),
            encrypted=flags.is_true(values.get("encrypted", "")),
            kms_key_id=values.get("kmskeyid", ""),
            snapshot_id=snapshot_id,
            multi_attach=any(capability.mode(each).startswith("MULTI") for each in request.volume_capabilities),
            tags=own | self._extra_tags | tags,
        )


class EfsController(Controller):
    """The EFS driver: knows the shape of ids only; makes access points, which the emulator does not emulate."""

    driver = drivers.EFS

    def _find(self, volume_id: str) -> None:
        try:
            efs_volume.parse(volume_id)
        except status.StatusError as error:
            raise status.StatusError("NOT_FOUND", f"Volume not found, err: {error}") from error

    def _supports(self, capabilities: Any) -> bool:
        return not efs_volume.objections(self.driver, capabilities)

    def ControllerPublishVolume(self, _request: Any, _context: Any) -> Any:
        """Refuse: EFS is attached to nothing."""
        raise status.StatusError("UNIMPLEMENTED", "")

    def ControllerUnpublishVolume(self, _request: Any, _context: Any) -> Any:
        """Refuse: EFS is attached to nothing."""
        raise status.StatusError("UNIMPLEMENTED", "")

    def CreateVolume(self, _request: Any, _context: Any) -> Any:
        """Refuse: the real driver would make an access point."""
        raise status.not_played("access points made through CSI")

    def DeleteVolume(self, request: Any, _context: Any) -> Any:
        """Do nothing for ids without access point, as the driver; refuse to delete an access point."""
        volume_id = capability.given_text(request.volume_id, "Volume ID")
        try:
            access_point = efs_volume.parse(volume_id).access_point_id
        except status.StatusError:
            access_point = ""  # the driver takes an id that it cannot read for a volume that is gone
        if access_point:
            raise status.not_played("access points deleted through CSI")
        return csi_pb2.DeleteVolumeResponse()


def _internal(message: str) -> status.StatusError:
    return status.StatusError("INTERNAL", message)


def _size_gib(request: Any, of_source: int) -> int:
    if not request.HasField("capacity_range"):
        return of_source or DEFAULT_GIB
    return ebs_storage.rounded_gib(request.capacity_range)


def _zone(requirement: Any) -> str:
    """Return the first zone that is preferred, else the first that is allowed; empty when no one cares."""
    for topology in (*requirement.preferred, *requirement.requisite):
        for key in ZONE_KEYS:
            if key in topology.segments:
                return str(topology.segments[key])
    return ""


def _parameters(parameters: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the values by their keys in small letters, and the tags that the parameters order."""
    values: dict[str, str] = {}
    tags: dict[str, str] = {}
    for key, value in parameters.items():
        if key.startswith("tagSpecification"):
            name, _, text = value.partition("=")
            tags[name] = text
        elif key.lower() in {"type", "iops", "throughput", "encrypted", "kmskeyid", "blockexpress"}:
            values[key.lower()] = value
        else:
            raise status.invalid(f"Invalid parameter key {key} for CreateVolume (or not emulated by the emulator)")
    return values, tags


def _number(values: Mapping[str, str], key: str) -> int | None:
    text = values.get(key, "")
    if text and not text.isdigit():
        raise status.invalid(f"Could not parse invalid {key}: {text!r}")
    return int(text) if text else None


def _volume(made: Mapping[str, Any], request: Any) -> Any:
    return csi_pb2.Volume(
        content_source=request.volume_content_source if request.HasField("volume_content_source") else None,
        volume_id=made["VolumeId"],
        capacity_bytes=made["Size"] * ebs_storage.GIB,
        accessible_topology=[csi_pb2.Topology(segments={ZONE_KEYS[0]: made["AvailabilityZone"]})],
    )
