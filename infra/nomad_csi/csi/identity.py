"""CSI's Identity service: who the plugin is, and whether it is ready. One function for each RPC."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from nomad_csi.csi import capability, channel
from nomad_csi.csi.v1 import csi_pb2, csi_pb2_grpc


@dataclass(frozen=True, kw_only=True)
class PluginInfo:
    """Answer to ``GetPluginInfo``."""

    name: str
    """Such as ``ebs.csi.aws.com``; Nomad calls it the provider. Empty when the plugin breaks the specification."""

    vendor_version: str
    manifest: Mapping[str, str] = field(default_factory=dict)


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
    return PluginInfo(name=reply.name, vendor_version=reply.vendor_version, manifest=dict(reply.manifest))


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
