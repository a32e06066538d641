"""What Nomad and a kubelet do with a CSI plugin, and the product leaves to Nomad. Errors are those of `channel.call`."""

import pytest

from nomad_csi import errors
from nomad_csi.csi import channel
from nomad_csi.csi.v1 import csi_pb2


def call(connection, rpc, use=None, *, timeout_s=60.0, **fields):
    """Send the request of that RPC with these fields and *use* as its capability; return the reply."""
    given = {} if use is None else {"volume_capability": use}
    request = getattr(csi_pb2, f"{rpc}Request")(**fields, **given)
    return channel.call(connection, request, timeout_s=timeout_s)


def create_volume(
    connection,
    name,
    *uses,
    required_bytes=0,
    required_topologies=(),
    snapshot_id="",
    clone_id="",
    timeout_s=60.0,
    **fields,
):
    """Have the plugin make a volume, empty or of a snapshot or another volume; return what it says of it."""
    if required_bytes:
        fields["capacity_range"] = {"required_bytes": required_bytes}
    if required_topologies:
        fields["accessibility_requirements"] = {"requisite": [{"segments": each} for each in required_topologies]}
    if snapshot_id:
        fields["volume_content_source"] = {"snapshot": {"snapshot_id": snapshot_id}}
    if clone_id:
        fields["volume_content_source"] = {"volume": {"volume_id": clone_id}}
    fields |= {"name": name, "volume_capabilities": uses}
    return call(connection, "CreateVolume", timeout_s=timeout_s, **fields).volume


def refused(send, *given, **named):
    """Return the error with which a call ends."""
    with pytest.raises(errors.CsiError) as caught:
        send(*given, **named)
    return caught.value
