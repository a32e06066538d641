"""Where findings must not be made, what they say in other cases, and what is said where nothing can be seen."""

import pytest

from nomad_csi.aws import records as aws_records
from nomad_csi.diagnosis import doctor, facts
from nomad_csi.nomad import nodes, token_rights
from nomad_csi.plan import storage

EFS = "fs-0123456789abcdef0"
POINT = "fsap-0123456789abcdef0"
REFUSED = facts.Unknown(reason="DescribeVolumes in us-east-1: UnauthorizedOperation")


def codes_of(found):
    return {item.code for item in doctor.examined(found).findings}


def plan_of(make, **volume):
    made = {"id": "mysql", "plugin_id": "ebs", **volume}
    plugin = {"id": "ebs", "driver": "aws-ebs", "aws_region": make.REGION}
    return storage.plan_document({"plugins": [plugin], "volumes": [made]})


@pytest.mark.parametrize(
    ("change", "check"),
    [
        ({"servers": REFUSED}, "versions of the servers against the version gates"),
        ({"clients": REFUSED}, "versions of the clients against the version gates"),
        ({"plugins": REFUSED}, "plugins of the volumes, and their controllers"),
        ({"tasks": REFUSED}, "how plugins are run"),
        ({"volumes": REFUSED}, "volumes and their claims"),
        ({"owner_records": REFUSED}, "owner records of volumes"),
        ({"token": REFUSED}, "what the token may do"),
        ({"account": REFUSED}, "instances, roles, storage and orphans in AWS"),
    ],
)
def test_what_cannot_be_read_is_said_and_not_taken_as_fine(make, change, check):
    """With the reason; nothing is found instead, and the exit code is that of something not found out."""
    report = doctor.examined(make.found(**change))

    assert {item.check: item.reason for item in report.unchecked}[check] == REFUSED.reason
    assert (report.findings, report.exit_code, report.ok) == ((), 2, False)


@pytest.mark.parametrize(
    ("change", "check"),
    [
        ({"instances": REFUSED}, "instance metadata and roles of the clients"),
        ({"roles": {}}, "what the role of i-0123456789abcdef0 may do"),
        ({"volumes": REFUSED}, "zone, tag and key of 1 EBS volumes"),
        ({"ours": REFUSED}, "unregistered EBS volumes of this package"),
        ({"file_systems": REFUSED}, "unregistered file systems of this package"),
        ({"keys": {}}, "key arn:aws:kms:us-east-1:123456789012:key/1 of default/mysql"),
    ],
)
def test_what_aws_does_not_tell_is_said(make, change, check):
    """Part by part."""
    report = doctor.examined(make.found(account=make.account(**change)))

    assert check in {item.check for item in report.unchecked}
    assert (report.findings, report.exit_code) == ((), 2)


def test_secrets_that_may_be_there_make_a_warning(make):
    """Nomad does not show them; a spec does."""
    old = (nodes.Server(name="s", status="alive", version="1.11.0"),)
    newer = (make.node(version="1.11.0"),)

    without = [
        item for item in doctor.examined(make.found(servers=old, clients=newer)).findings if "secrets" in item.code
    ]
    plan = plan_of(make, existing={"external_id": make.EBS_ID, "availability_zone": "us-east-1a"})
    planned = codes_of(make.found(servers=old, clients=newer, plan=plan))

    assert [(item.severity, "does not show" in item.found) for item in without] == [("warning", True)]
    assert "nomad-erases-secrets" not in planned


def test_container_that_mounts_needs_the_right_to(make):
    """Privileges, or the capability; a controller of this driver mounts nothing, and a process is no container."""
    allowed = (
        {"capabilities": frozenset({"sys_admin"}), "privileged": False},
        {"role": "controller", "privileged": False},
        {"task_driver": "raw_exec", "privileged": False},
    )
    bare = make.node(drivers={"docker": True, "raw_exec": True})

    for changes in allowed:
        found = make.found(clients=(bare,), tasks=(make.task(**changes),))
        assert "privilege-missing" not in codes_of(found), changes


def efs(make, *, systems, points):
    seen = aws_records.ObservedFileSystems(
        file_systems={item.file_system_id: item for item in systems}, access_points=points
    )
    volume = make.volume(external_id=f"{EFS}::{POINT}", segments=())
    return make.found(volumes=(volume,), account=make.account(file_systems=seen, ours={}), tasks=())


def system(*, state="available"):
    return aws_records.FileSystem(file_system_id=EFS, state=state)


def test_file_systems_are_looked_at_as_well(make):
    """There, gone, without the access point."""
    whole = {POINT: EFS}

    assert codes_of(efs(make, systems=[system()], points=whole)) == set()
    assert codes_of(efs(make, systems=[], points=whole)) == {"storage-missing"}
    assert codes_of(efs(make, systems=[system(state="deleting")], points=whole)) == {"storage-missing"}
    assert codes_of(efs(make, systems=[system()], points={})) == {"storage-missing"}


def test_token_that_reads_is_told_what_it_cannot(make):
    """Operation by operation; looking is none of them."""
    rules = token_rights.Rules(
        namespaces={"*": frozenset({"read-job", "list-jobs", "csi-read-volume"})}, node="read", plugin="read"
    )
    token = token_rights.AclToken(name="t", is_unlimited=False, policies={"ro": rules})

    told = [item.subject for item in doctor.examined(make.found(token=token)).findings]

    assert told == [
        "token t: run plugin jobs (pulumi up)",
        "token t: stop plugin jobs (pulumi destroy)",
        "token t: register volumes (pulumi up, register)",
        "token t: write owner records of volumes",
        "token t: deregister volumes (pulumi destroy, deregister)",
        "token t: detach volumes (claims repair)",
    ]
