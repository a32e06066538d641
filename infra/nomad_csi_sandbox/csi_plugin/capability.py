"""Which uses of a volume a driver supports. Part of the CSI driver emulator."""

from collections.abc import Iterable
from typing import Any

from nomad_csi.csi.v1 import csi_pb2
from nomad_csi_sandbox.csi_plugin import drivers, status


def mode(capability: Any) -> str:
    """Return the name of the access mode, such as ``SINGLE_NODE_WRITER``."""
    return str(csi_pb2.VolumeCapability.AccessMode.Mode.Name(capability.access_mode.mode))


def is_block(capability: Any) -> bool:
    """Return whether a block device is wanted."""
    return bool(capability.HasField("block"))


def supported(driver: drivers.Driver, capabilities: Iterable[Any]) -> bool:
    """Return whether *driver* supports all of them."""
    return all(mode(each) in (driver.block_modes if is_block(each) else driver.mount_modes) for each in capabilities)


def of_controller(names: Iterable[Any]) -> Any:
    """Return the answer of a controller that claims the RPCs of these names."""
    rpc = csi_pb2.ControllerServiceCapability.RPC
    entries = [csi_pb2.ControllerServiceCapability(rpc=rpc(type=name)) for name in names]
    return csi_pb2.ControllerGetCapabilitiesResponse(capabilities=entries)


def of_node(names: Iterable[Any]) -> Any:
    """Return the answer of a node plugin that claims the RPCs of these names."""
    rpc = csi_pb2.NodeServiceCapability.RPC
    entries = [csi_pb2.NodeServiceCapability(rpc=rpc(type=name)) for name in names]
    return csi_pb2.NodeGetCapabilitiesResponse(capabilities=entries)


def given(request: Any) -> Any:
    """Return the one capability of *request*. Raises `status.StatusError` where there is none."""
    if not request.HasField("volume_capability"):
        raise status.invalid("Volume capability not provided")
    return request.volume_capability


def given_text(text: str, what: str) -> str:
    """Return *text*. Raises `status.StatusError` where it is empty: ``Volume ID not provided``."""
    if not text:
        raise status.invalid(f"{what} not provided")
    return text
