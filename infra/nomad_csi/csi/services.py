"""
CSI's services, as far as this package calls them: one function for each RPC, and the capabilities of volumes.

All functions raise the errors of `channel.call`. Ids here are the storage provider's (Nomad's external ids).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from google.protobuf import json_format

from nomad_csi import errors
from nomad_csi.clock import SYSTEM, Clock
from nomad_csi.csi import channel, endpoint, records, rpc
from nomad_csi.csi.v1 import csi_pb2

_NONE: Mapping[str, str] = {}

# Volume capabilities, by Nomad's names. Source: hashicorp/nomad, ``plugins/csi/plugin.go``
# (``VolumeCapabilityFromStructs``), 2026-08-21.


def volume_capability(
    *,
    access_mode: str,
    attachment_mode: str,
    fs_type: str = "",
    mount_flags: Iterable[str] = (),
) -> csi_pb2.VolumeCapability:
    """Return one use of a volume as CSI has it; a block device has neither file system nor mount flags."""
    mode = csi_pb2.VolumeCapability.AccessMode(mode=access_mode.upper().replace("-", "_"))
    if attachment_mode == "block-device":
        return csi_pb2.VolumeCapability(access_mode=mode, block=csi_pb2.VolumeCapability.BlockVolume())
    mount = csi_pb2.VolumeCapability.MountVolume(fs_type=fs_type, mount_flags=mount_flags)
    return csi_pb2.VolumeCapability(access_mode=mode, mount=mount)


def capability_names(capabilities: Iterable[Any], part: str) -> tuple[str, ...]:
    """Return the sorted names of *part* of *capabilities*, such as ``rpc``; a value unknown here as its number."""
    kinds = [json_format.MessageToDict(getattr(entry, part)) for entry in capabilities if entry.HasField(part)]
    return tuple(sorted(str(kind.get("type", "UNKNOWN")) for kind in kinds))


# The Identity service.


def get_plugin_info(connection: channel.CsiConnection, *, timeout_s: float) -> csi_pb2.GetPluginInfoResponse:
    """Return name and version; the name, such as ``ebs.csi.aws.com``, is Nomad's provider."""
    reply: csi_pb2.GetPluginInfoResponse = channel.call(connection, csi_pb2.GetPluginInfoRequest(), timeout_s=timeout_s)
    return reply


def probe(connection: channel.CsiConnection, *, timeout_s: float) -> bool:
    """
    Return whether the plugin is ready; an error means unhealthy.

    What a response verifies differs by driver: an EBS controller has called EC2, an EFS plugin merely runs. An absent
    ``ready`` is true. Source: CSI specification v1.12.0, ``ProbeResponse``.
    """
    reply: csi_pb2.ProbeResponse = channel.call(connection, csi_pb2.ProbeRequest(), timeout_s=timeout_s)
    return reply.ready.value if reply.HasField("ready") else True


PAUSE_S = 0.5
"""Between two checks of `until_ready`, in seconds."""

PROBE_TIMEOUT_S = 5.0
"""For one Probe of `until_ready`, in seconds; Nomad's own."""


def until_ready(where: endpoint.Endpoint, *, wait_s: float, clock: Clock = SYSTEM) -> None:
    """
    Return once the plugin at *where* responds to Probe and is ready.

    Waits for a missing socket, a deadline and a broken connection, as the sidecars of Kubernetes do (csi-lib-utils,
    ``rpc/common.go``). Raises `errors.CsiError`: with code ``DEADLINE_EXCEEDED`` and the last reason after *wait_s*
    seconds, or at once for what waiting cannot resolve.
    """
    deadline = clock.now() + wait_s
    while True:
        reason, is_answer = "the plugin reports that it is still starting", True
        try:
            endpoint.check(where)
            timeout_s = max(min(PROBE_TIMEOUT_S, deadline - clock.now()), 0.0)
            # A new channel for each check: one that failed backs off before it connects again.
            with channel.connect(where, attempt_s=timeout_s) as connection:
                if probe(connection, timeout_s=timeout_s):
                    return
        except errors.CsiError as error:
            is_absent = error.message == endpoint.NO_SOCKET
            if not is_absent and error.code not in {"DEADLINE_EXCEEDED", "UNAVAILABLE"}:
                raise
            reason, is_answer = error.message, error.is_answer and not is_absent
        if deadline - clock.now() < 2 * PAUSE_S:  # a check in less time would only miss its deadline
            message = f"not ready within {wait_s:.3g} s: {reason}"
            raise errors.CsiError(where.text, message, code="DEADLINE_EXCEEDED", is_answer=is_answer)
        clock.sleep(PAUSE_S)


# The Controller service: calls for the whole cluster.


def controller_get_capabilities(connection: channel.CsiConnection, *, timeout_s: float) -> tuple[str, ...]:
    """Return the controller's capabilities, such as ``PUBLISH_UNPUBLISH_VOLUME``. ``UNIMPLEMENTED``: no controller."""
    reply = channel.call(connection, csi_pb2.ControllerGetCapabilitiesRequest(), timeout_s=timeout_s)
    return capability_names(reply.capabilities, "rpc")


def validate_volume_capabilities(
    connection: channel.CsiConnection,
    *,
    volume_id: str,
    capabilities: Sequence[csi_pb2.VolumeCapability],
    context: Mapping[str, str] = _NONE,
    parameters: Mapping[str, str] = _NONE,
    secrets: Mapping[str, str] = _NONE,
    timeout_s: float,
) -> records.Validated:
    """Validate that the volume exists and has the given capabilities."""
    request = csi_pb2.ValidateVolumeCapabilitiesRequest(
        volume_id=volume_id,
        volume_context=context,
        volume_capabilities=capabilities,
        parameters=parameters,
        secrets=secrets,
    )
    reply = channel.call(connection, request, timeout_s=timeout_s)
    return records.Validated(confirmed=reply.HasField("confirmed"), message=reply.message)


def delete_volume(
    connection: channel.CsiConnection, *, volume_id: str, secrets: Mapping[str, str] = _NONE, timeout_s: float
) -> None:
    """Have the plugin delete the volume *and its data*. An absent volume is no error."""
    channel.call(connection, csi_pb2.DeleteVolumeRequest(volume_id=volume_id, secrets=secrets), timeout_s=timeout_s)


def list_volumes(connection: channel.CsiConnection, *, timeout_s: float) -> Iterator[str]:
    """Yield the ids of all volumes; *timeout_s* is for all pages together."""
    for page in rpc.pages(connection, csi_pb2.ListVolumesRequest(), timeout_s=timeout_s):
        yield from (entry.volume.volume_id for entry in page.entries)


def controller_get_volume(
    connection: channel.CsiConnection, *, volume_id: str, timeout_s: float
) -> csi_pb2.VolumeCondition:
    """Return the condition of one volume; for an absent one, some drivers return abnormal instead of ``NOT_FOUND``."""
    request = csi_pb2.ControllerGetVolumeRequest(volume_id=volume_id)
    reply: csi_pb2.ControllerGetVolumeResponse = channel.call(connection, request, timeout_s=timeout_s)
    return reply.status.volume_condition


def create_snapshot(
    connection: channel.CsiConnection,
    *,
    source_volume_id: str,
    name: str,
    parameters: Mapping[str, str] = _NONE,
    secrets: Mapping[str, str] = _NONE,
    timeout_s: float,
) -> csi_pb2.Snapshot:
    """Have the plugin create a snapshot. Idempotent by name: a repeated call creates no second one."""
    request = csi_pb2.CreateSnapshotRequest(
        source_volume_id=source_volume_id, name=name, parameters=parameters, secrets=secrets
    )
    reply: csi_pb2.CreateSnapshotResponse = channel.call(connection, request, timeout_s=timeout_s)
    return reply.snapshot
