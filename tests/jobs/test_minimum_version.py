"""The servers against the oldest Nomad that was tried, and the oldest that the drivers of a plan work with."""

import contextlib

import pytest

from nomad_csi import errors
from nomad_csi.nomad import version_gates

MINIMUM = {"plugin ebs": "1.9.4", "plugin efs": "1.3.0"}


def older(context, minimum=MINIMUM):
    """Raise what refuses the servers."""
    version_gates.refuse_older(context.connect(), minimum)


def members(*versions):
    found = [
        {"Name": f"s{number}", "Status": "alive", "Tags": {"build": version, "region": "global"}}
        for number, version in enumerate(versions)
    ]
    return {"ServerRegion": "global", "Members": found}


@pytest.mark.parametrize("version", ["1.9.4", "1.10.0+ent", "2.0.6-dev", "1.9.4-beta.1"])
def test_new_enough(context, scripted, version):
    """A pre-release counts as its release."""
    scripted.reply("GET", "/v1/agent/members", 200, members(version))

    older(context)


@pytest.mark.parametrize(("status", "is_counted"), [("failed", True), ("leaving", True), ("left", False)])
def test_server_that_may_come_back_is_counted(context, scripted, status, is_counted):
    """One that failed is still a member; one that left is none."""
    found = members("1.9.4", "1.9.3")
    found["Members"][1]["Status"] = status
    scripted.reply("GET", "/v1/agent/members", 200, found)

    with pytest.raises(errors.RefusedError) if is_counted else contextlib.nullcontext():
        older(context)
