"""CSI's Identity service: who the plugin is, and whether it is ready. One function for each RPC."""

import time
from dataclasses import dataclass

from nomad_csi import errors
from nomad_csi.csi import capability, channel, endpoint
from nomad_csi.csi.v1 import csi_pb2, csi_pb2_grpc


@dataclass(frozen=True, kw_only=True)
class PluginInfo:
    """Answer to ``GetPluginInfo``."""

    name: str
    """Such as ``ebs.csi.aws.com``; Nomad calls it the provider. Empty when the plugin breaks the specification."""

    vendor_version: str


@dataclass(frozen=True, kw_only=True)
class PluginCapabilities:
    """Answer to ``GetPluginCapabilities``: the same for every instance of a version, so no role can be read from it."""

    services: tuple[str, ...]
    """Names such as ``CONTROLLER_SERVICE``, sorted."""

    volume_expansion: tuple[str, ...]
    """``ONLINE`` or ``OFFLINE``, sorted."""


@dataclass(frozen=True, kw_only=True)
class Readiness:
    """Answer to ``Probe``."""

    ready: bool
    """False: still starting. An absent ``ready`` is true. Source: CSI specification v1.12.0, ``ProbeResponse``."""

    stated: bool
    """Whether the plugin filled ``ready`` in; the EBS and EFS drivers do not."""


def get_plugin_info(connection: channel.CsiConnection, *, timeout_s: float) -> PluginInfo:
    """Ask for name and version. Errors: those of `channel.call`."""
    stub = csi_pb2_grpc.IdentityStub(connection.channel)
    reply = channel.call(connection, stub.GetPluginInfo.future, csi_pb2.GetPluginInfoRequest(), timeout_s=timeout_s)
    return PluginInfo(name=reply.name, vendor_version=reply.vendor_version)


def get_plugin_capabilities(connection: channel.CsiConnection, *, timeout_s: float) -> PluginCapabilities:
    """Ask what the plugin can do as a whole. Errors: those of `channel.call`."""
    stub = csi_pb2_grpc.IdentityStub(connection.channel)
    request = csi_pb2.GetPluginCapabilitiesRequest()
    reply = channel.call(connection, stub.GetPluginCapabilities.future, request, timeout_s=timeout_s)
    services = [entry.service.type for entry in reply.capabilities if entry.HasField("service")]
    expansion = [entry.volume_expansion.type for entry in reply.capabilities if entry.HasField("volume_expansion")]
    return PluginCapabilities(
        services=capability.names(csi_pb2.PluginCapability.Service.Type, services),
        volume_expansion=capability.names(csi_pb2.PluginCapability.VolumeExpansion.Type, expansion),
    )


def probe(connection: channel.CsiConnection, *, timeout_s: float) -> Readiness:
    """
    Ask whether the plugin is ready. Errors: those of `channel.call`; an error means unhealthy.

    What an answer verifies differs by driver: an EBS controller has asked EC2, an EFS plugin merely runs.
    """
    stub = csi_pb2_grpc.IdentityStub(connection.channel)
    reply = channel.call(connection, stub.Probe.future, csi_pb2.ProbeRequest(), timeout_s=timeout_s)
    stated = reply.HasField("ready")
    return Readiness(ready=reply.ready.value if stated else True, stated=stated)


# Waiting until a plugin is ready, as the side-cars of Kubernetes do before their first call.
#
# Source: kubernetes-csi/csi-lib-utils, ``rpc/common.go`` (``ProbeForever``), 2026-08: it goes on after "not ready" and
# after a deadline, and takes every other error as final; what is not there yet is waited for when it connects.


PAUSE_S = 0.5
"""Between two looks, in seconds."""

PROBE_TIMEOUT_S = 5.0
"""For one Probe, in seconds; Nomad's own."""

_MAY_PASS = frozenset({"DEADLINE_EXCEEDED", "UNAVAILABLE"})


def until_ready(where: endpoint.Endpoint, *, wait_s: float) -> None:
    """
    Return once the plugin at *where* answers Probe and is ready.

    Raises `errors.CsiError`: with code ``DEADLINE_EXCEEDED`` and the last obstacle after *wait_s* seconds, or at once
    with what no waiting heals.
    """
    deadline = time.monotonic() + wait_s
    obstacle, is_answer = "", False
    while True:
        timeout_s = max(min(PROBE_TIMEOUT_S, deadline - time.monotonic()), 0.05)
        found, is_answered = _obstacle(where, timeout_s)
        if not found:
            return
        # A last look that had hardly any time says less than the one before.
        is_cut = timeout_s < PROBE_TIMEOUT_S and found.startswith("DEADLINE_EXCEEDED")
        if not (obstacle and is_cut):
            obstacle, is_answer = found, is_answered
        if time.monotonic() + PAUSE_S >= deadline:
            message = f"not ready within {wait_s:.3g} s: {obstacle}"
            raise errors.CsiError(where.text, message, code="DEADLINE_EXCEEDED", is_answer=is_answer)
        time.sleep(PAUSE_S)


def _obstacle(where: endpoint.Endpoint, timeout_s: float) -> tuple[str, bool]:
    """Return why the plugin is not ready yet, empty: it is; and whether somebody may have answered that."""
    found = endpoint.obstacle(where)
    if found and found.kind != "missing":
        endpoint.check(where)
    if found:
        return found.message, False
    try:
        # A channel of its own for each look: one that failed would wait before it connects again.
        with channel.connect(where, attempt_s=timeout_s) as connection:
            readiness = probe(connection, timeout_s=timeout_s)
    except errors.CsiError as error:
        if error.code not in _MAY_PASS:
            raise
        return error.message, error.is_answer
    return "" if readiness.ready else "the plugin says that it is still starting", True
