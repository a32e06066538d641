"""What a refusal means, by the RPC that was refused."""

import pytest

from nomad_csi import errors
from nomad_csi.csi import explain, rpc


@pytest.mark.parametrize(
    ("name", "code", "advice"),
    [
        ("ControllerPublishVolume", "RESOURCE_EXHAUSTED", "the node has as many volumes attached as it can"),
        ("CreateSnapshot", "RESOURCE_EXHAUSTED", "the storage provider has no room for it"),
        ("ListVolumes", "ABORTED", "the starting token is not valid: list from the beginning"),
        ("ControllerExpandVolume", "ABORTED", "an operation on it is under way: wait, then ask again"),
        ("NodeGetInfo", "INTERNAL", "the plugin had an internal error: check the logs of its allocation"),
        ("NodeGetInfo", "UNIMPLEMENTED", "as before"),
    ],
)
def test_the_same_code_means_what_its_rpc_says(name, code, advice):
    """CSI gives codes a meaning for each RPC; without one the general advice stays."""
    error = errors.CsiError("/run/csi.sock", f"{code}: no", code=code, advice="as before" if "UN" in code else "")

    found = explain.explained(error, name)

    assert str(found) == f"/run/csi.sock: {name}: {code}: no; {advice}"


def test_every_explained_rpc_and_code_exists():
    """A word that is written wrong would explain nothing."""
    assert set(explain.BY_RPC) <= set(rpc.RPCS)
    codes = {code for table in (*explain.BY_RPC.values(), explain.OF_ALL) for code in table}
    assert all(explain.exit_code(errors.CsiError("x", "y", code=code)) > 100 for code in codes)


@pytest.mark.parametrize(("code", "expected"), [("NOT_FOUND", 105), ("DEADLINE_EXCEEDED", 104), ("", 2)])
def test_exit_code_is_100_and_the_number_of_the_grpc_code(code, expected):
    """A script can tell what the plugin said from what never reached it."""
    assert explain.exit_code(errors.CsiError("x", "y", code=code)) == expected


def test_exit_code_is_2_where_nobody_answered():
    """A code of gRPC comes along all the same; it is not a plugin's."""
    error = errors.CsiError("x", "y", code="UNAVAILABLE", is_answer=False)

    assert explain.exit_code(explain.explained(error, "GetPluginInfo")) == 2
