"""The servers against the oldest Nomad that was tried, and the oldest that the drivers of a plan work with."""

import contextlib

import pytest

from nomad_csi import errors
from nomad_csi.nomad import version_gates
from nomad_csi.plan import storage

PLUGINS = [
    {"id": "ebs", "driver": "aws-ebs", "aws_region": "us-east-1"},
    {"id": "efs", "driver": "aws-efs", "aws_region": "us-east-1"},
]


@pytest.fixture
def plan():
    """A plan of the EBS driver, which wants Nomad 1.9.4, and of that of EFS, which wants 1.3.0."""
    return storage.plan_document({"plugins": PLUGINS, "volumes": []})


def members(*versions):
    found = [
        {"Name": f"s{number}", "Status": "alive", "Tags": {"build": version, "region": "global"}}
        for number, version in enumerate(versions)
    ]
    return {"ServerRegion": "global", "Members": found}


@pytest.mark.parametrize("version", ["1.9.4", "1.10.0+ent", "2.0.6-dev", "1.9.4-beta.1"])
def test_new_enough(context, scripted, plan, version):
    """A pre-release counts as its release."""
    scripted.reply("GET", "/v1/agent/members", 200, members(version))

    assert version_gates.refuse_older(context.connect(), plan.plugins) == ()


def test_one_server_is_too_old(context, scripted, plan):
    """It may become the leader."""
    scripted.reply("GET", "/v1/agent/members", 200, members("1.9.4", "1.9.3"))

    with pytest.raises(errors.RefusedError) as refused:
        version_gates.refuse_older(context.connect(), plan.plugins)

    assert str(refused.value) == (
        "nomad-too-old-for-driver: plugin ebs: expected Nomad 1.9.4 or later on the servers, for driver aws-ebs, found s1 with "
        "1.9.3; upgrade Nomad; `nomad-csi doctor` lists other problems of older versions"
    )


@pytest.mark.parametrize(("status", "is_counted"), [("failed", True), ("leaving", True), ("left", False)])
def test_server_that_may_come_back_is_counted(context, scripted, plan, status, is_counted):
    """One that failed is still a member; one that left is none."""
    found = members("1.9.4", "1.9.3")
    found["Members"][1]["Status"] = status
    scripted.reply("GET", "/v1/agent/members", 200, found)

    with pytest.raises(errors.RefusedError) if is_counted else contextlib.nullcontext():
        version_gates.refuse_older(context.connect(), plan.plugins)


def test_token_that_may_not_see_servers_is_told(context, scripted, plan):
    """A warning: nothing is known to be wrong."""
    scripted.reply("GET", "/v1/agent/members", 403, "Permission denied")

    [found] = version_gates.refuse_older(context.connect(), plan.plugins)

    assert (found.code, found.severity, found.expected) == (
        "nomad-version-unseen",
        "warning",
        "Nomad 1.8.4 and 1.9.4 or later on the servers",
    )


@pytest.mark.parametrize("version", ["1.8.3", "1.7.16+ent", "1.8.0-beta.1"])
def test_server_older_than_any_that_was_tried(context, scripted, plan, version):
    """Said once: what each driver wants does not matter then. Volumes alone are refused, too."""
    oldest = version_gates.releases().oldest
    scripted.reply("GET", "/v1/agent/members", 200, members("1.9.4", version))

    with pytest.raises(errors.RefusedError) as refused:
        version_gates.refuse_older(context.connect(), plan.plugins)

    assert str(refused.value) == (
        f"nomad-unsupported: servers: expected Nomad {oldest} or later, the oldest tested version, found s1 with {version}; "
        "upgrade Nomad"
    )
    with pytest.raises(errors.RefusedError, match="nomad-unsupported: servers"):
        version_gates.refuse_older(context.connect(), ())


def test_oldest_that_was_tried_is_enough_for_volumes_alone(context, scripted):
    """No driver is in the plan."""
    scripted.reply("GET", "/v1/agent/members", 200, members(version_gates.releases().oldest))

    assert version_gates.refuse_older(context.connect(), ()) == ()


def test_job_is_not_sent_where_the_servers_cannot_be_asked(context, scripted):
    """An outage says nothing of their version; a token that may not see them is told, and goes on."""
    told = []
    scripted.reply("GET", "/v1/agent/members", 500, "No cluster leader")
    with pytest.raises(errors.NomadApiError, match="No cluster leader"):
        version_gates.refuse_for_job(context.connect(), "job plugin-aws-ebs0", "1.9.4", warn=told.append)
    assert told == []

    scripted.replies["GET", "/v1/agent/members"] = [(403, "Permission denied")]
    version_gates.refuse_for_job(context.connect(), "job plugin-aws-ebs0", "1.9.4", warn=told.append)

    [line] = told
    assert line.startswith(
        "job plugin-aws-ebs0: nomad-version-unseen: servers: expected Nomad 1.8.4 and 1.9.4 or later on the servers"
    )
