"""Where findings must not be made, what they say in other cases, and what is said where nothing can be seen."""

import pytest

from nomad_csi.diagnosis import doctor, facts
from nomad_csi.nomad import nodes
from nomad_csi.plan import storage

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
