"""IAM policies, as far as the driver meets them: yes, no, or not to be told."""

import pytest

from nomad_csi.diagnosis.rules import role_permissions
from nomad_csi.plan import iam

VOLUME = "arn:aws:ec2:us-east-1:123456789012:volume/vol-1"


def allow(action="ec2:AttachVolume", resource="*", **more):
    return {"Effect": "Allow", "Action": action, "Resource": resource} | more


def condition(operator, key, value):
    return {"Condition": {operator: {key: value}}}


WITH_TAG = condition("StringEquals", "aws:ResourceTag/ebs.csi.aws.com/cluster", "true")


GRANT = condition("Bool", "kms:GrantIsForAWSResource", "true")
ELSEWHERE = condition("IpAddress", "aws:SourceIp", "10.0.0.0/8")
DENY = {"Effect": "Deny", "Action": "ec2:*", "Resource": "*"}


@pytest.mark.parametrize(
    ("statements", "is_tagged", "status"),
    [
        ([], False, False),
        ([allow()], False, True),
        ([allow("ec2:*")], False, True),
        ([allow(["EC2:attachvolume"])], False, True),
        ([allow(["ec2:DetachVolume", "ec2:[a]ttachVolume"])], False, False),
        ([allow(resource="arn:aws:ec2:*:*:volume/*")], False, True),
        ([allow(resource="arn:aws:ec2:*:*:instance/*")], False, False),
        ([{"Effect": "Allow", "Action": "ec2:*", "NotResource": "arn:aws:s3:::*"}], False, None),
        ([allow(), {"Effect": "Deny", "NotAction": "ec2:*", "Resource": "*"}], False, None),
        ([allow(), DENY], False, False),
        ([allow(), DENY | ELSEWHERE], False, None),
        ([allow(), DENY | WITH_TAG], False, True),
        ([allow(), DENY | WITH_TAG], True, False),
        ([allow(**WITH_TAG)], True, True),
        ([allow(**WITH_TAG)], False, False),
        ([allow(**WITH_TAG), allow(resource=VOLUME)], False, True),
        ([allow(**ELSEWHERE)], False, None),
        ([allow(**ELSEWHERE), allow(**WITH_TAG)], False, None),
        ([allow(**ELSEWHERE), allow()], False, True),
        ([allow(**condition("StringLike", "ec2:ResourceTag/team", "shop-*"))], True, None),
        ([allow(**GRANT)], False, None),
        ([allow(**condition("stringequals", "aws:resourcetag/ebs.csi.aws.com/cluster", ["TRUE"]))], True, True),
    ],
)
def test_statements(statements, is_tagged, status):
    """Statements as this package writes them are compared; another condition leaves the answer undetermined."""
    assert (
        role_permissions.allows([{"Statement": statements}], "ec2:AttachVolume", VOLUME, is_tagged=is_tagged) is status
    )


def test_own_policy_allows_what_the_controller_calls(make):
    """The policy that this package makes, in each partition of AWS."""
    for region in (make.REGION, "cn-north-1"):
        assert role_permissions.lacking(make.role(iam.ebs_policy(region)), region) == ([], [])
    assert "ec2:DescribeAvailabilityZones" in role_permissions.lacking(make.role({"Statement": []}), make.REGION)[0]


def test_volume_that_is_named_needs_no_tag(make):
    """As this package names volumes that exist."""
    role = make.role(iam.ebs_policy(make.REGION, volume_ids=["vol-1"]))

    assert role_permissions.may_attach(role, make.REGION, {}, external_id="vol-1") is True
    assert role_permissions.may_attach(role, make.REGION, {}, external_id="vol-2") is False
