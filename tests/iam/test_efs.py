"""
The policies for mounts of EFS with ``iam``.

A file system policy that names the account leaves it to the role's own policy; what neither allows is refused.
"""

import pytest

from nomad_csi.plan import iam
from nomad_csi.spec import model as spec

ARN = "arn:aws:elasticfilesystem:us-east-1:123456789012"
SYSTEM, POINT = f"{ARN}:file-system/fs-1", f"{ARN}:access-point/fsap-1"


def actions(*flags, **point):
    """Return the actions of a volume with an access point, or none."""
    given = {"access_point": {"path": "/a", "gid": 1000} | point} if point else {}
    clients, targets = {"cidr_blocks": ("10.0.0.0/8",)}, ({"availability_zone": "us-east-1a"},)
    document = {"mount_targets": targets, "clients": clients, **given}
    return [action.partition(":")[2] for action in iam.volume_actions(spec.EfsSpec.model_validate(document), flags)]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (actions("iam", uid=1000), ["ClientMount", "ClientWrite"]),
        (actions("iam", "ro", uid=1000), ["ClientMount"]),
        (actions("iam", uid=0), ["ClientMount", "ClientRootAccess", "ClientWrite"]),
        (actions("iam", uid=1000, gid=0), ["ClientMount", "ClientRootAccess", "ClientWrite"]),
        (actions("iam"), ["ClientMount", "ClientRootAccess", "ClientWrite"]),
    ],
)
def test_actions_are_those_that_the_mount_needs(found, expected):
    """Root's access only where an access point makes no other user of everyone, writes only where it is mounted for them."""
    assert found == expected


@pytest.mark.parametrize(
    ("point", "condition"),
    [
        (POINT, {"StringEquals": {"elasticfilesystem:AccessPointArn": POINT}}),
        (iam.ANY_ACCESS_POINT, {"Null": {"elasticfilesystem:AccessPointArn": "false"}}),
        (None, None),
    ],
)
def test_mount_goes_through_its_own_access_point_only(point, condition):
    """Of its own file system, with its own actions."""
    [statement] = iam.efs_policy(SYSTEM, point, ["elasticfilesystem:ClientMount"])["Statement"]

    assert (statement["Action"], statement["Resource"]) == (["elasticfilesystem:ClientMount"], [SYSTEM])
    assert statement.get("Condition") == condition


@pytest.mark.parametrize("partition", ["aws", "aws-cn", "aws-us-gov"])
def test_file_system_policy_names_its_own_account_and_nobody_else(partition):
    """Who mounts without a role has no part in it."""
    system = SYSTEM.replace("arn:aws:", f"arn:{partition}:")

    [statement] = iam.efs_file_system_policy(system, None, ["elasticfilesystem:ClientMount"])["Statement"]

    assert statement["Principal"] == {"AWS": f"arn:{partition}:iam::123456789012:root"}
    assert statement["Condition"] == {"Bool": {"elasticfilesystem:AccessedViaMountTarget": "true"}}
