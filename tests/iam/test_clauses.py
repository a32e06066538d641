"""
What the policy's resources and conditions let through, and what not: by the evaluation in evaluation.py.

The managed policy AmazonEBSCSIDriverPolicyV2 is held beside it, in the version that moto 5.2.5 carries (v1, 2026-04-16).
"""

import json

import pytest

from nomad_csi.plan import iam
from tests.iam import evaluation

TAG = "ebs.csi.aws.com/cluster"
EC2 = "arn:aws:ec2:us-east-1:123456789012"
KEY = "arn:aws:kms:us-east-1:123456789012:key/1111"
OTHER_KEY = "arn:aws:kms:us-east-1:123456789012:key/2222"
OURS = {f"aws:ResourceTag/{TAG}": "true"}
ANOTHER_TEAMS = {"aws:ResourceTag/team": "payments", f"aws:ResourceTag/{TAG}": "false"}
NO_TAG: dict[str, str] = {}
WITH_TAG = {f"aws:RequestTag/{TAG}": "true"}
FOR_AWS = {"kms:GrantIsForAWSResource": "true"}
BY_HAND = {"kms:GrantIsForAWSResource": "false"}

VOLUME, SNAPSHOT, INSTANCE = f"{EC2}:volume/vol-1", f"{EC2}:snapshot/snap-1", f"{EC2}:instance/i-1"
NEW_VOLUME, NEW_SNAPSHOT = f"{EC2}:volume/*", f"{EC2}:snapshot/*"


def on_creation(action):
    return {"ec2:CreateAction": action}


ALLOWED = {
    "see everything": ("ec2:DescribeVolumes", ["*", NO_TAG]),
    "attach our volume": ("ec2:AttachVolume", [VOLUME, OURS], [INSTANCE, NO_TAG]),
    "detach our volume": ("ec2:DetachVolume", [VOLUME, OURS], [INSTANCE, NO_TAG]),
    "create a volume with the tag": ("ec2:CreateVolume", [NEW_VOLUME, WITH_TAG]),
    "restore our snapshot": ("ec2:CreateVolume", [NEW_VOLUME, WITH_TAG], [SNAPSHOT, OURS]),
    "clone our volume": ("ec2:CopyVolumes", [NEW_VOLUME, WITH_TAG], [VOLUME, OURS]),
    "snapshot our volume": ("ec2:CreateSnapshot", [VOLUME, OURS], [NEW_SNAPSHOT, WITH_TAG]),
    "grow our volume": ("ec2:ModifyVolume", [VOLUME, OURS]),
    "delete our volume": ("ec2:DeleteVolume", [VOLUME, OURS]),
    "delete our snapshot": ("ec2:DeleteSnapshot", [SNAPSHOT, OURS]),
    "tag while a volume is made": ("ec2:CreateTags", [VOLUME, on_creation("CreateVolume")]),
    "tag while a snapshot is made": ("ec2:CreateTags", [SNAPSHOT, on_creation("CreateSnapshot")]),
    "tag while a volume is cloned": ("ec2:CreateTags", [VOLUME, on_creation("CopyVolumes")]),
    "have EC2 use our key": ("kms:CreateGrant", [KEY, FOR_AWS]),
    "read with our key": ("kms:Decrypt", [KEY, NO_TAG]),
    "encrypt with our key": ("kms:GenerateDataKeyWithoutPlaintext", [KEY, NO_TAG]),
    "check our key": ("kms:DescribeKey", [KEY, NO_TAG]),
}
"""What must work: the action, and each resource that it touches with what is known of it."""

DENIED = {
    "attach an untagged volume": ("ec2:AttachVolume", [VOLUME, NO_TAG], [INSTANCE, NO_TAG]),
    "attach another team's volume": ("ec2:AttachVolume", [VOLUME, ANOTHER_TEAMS], [INSTANCE, NO_TAG]),
    "detach an untagged volume": ("ec2:DetachVolume", [VOLUME, NO_TAG], [INSTANCE, NO_TAG]),
    "detach another team's volume": ("ec2:DetachVolume", [VOLUME, ANOTHER_TEAMS], [INSTANCE, NO_TAG]),
    "create a volume without the tag": ("ec2:CreateVolume", [NEW_VOLUME, NO_TAG]),
    "restore an untagged snapshot": ("ec2:CreateVolume", [NEW_VOLUME, WITH_TAG], [SNAPSHOT, NO_TAG]),
    "restore without the tag": ("ec2:CreateVolume", [NEW_VOLUME, NO_TAG], [SNAPSHOT, OURS]),
    "clone an untagged volume": ("ec2:CopyVolumes", [NEW_VOLUME, WITH_TAG], [VOLUME, NO_TAG]),
    "clone another team's volume": ("ec2:CopyVolumes", [NEW_VOLUME, WITH_TAG], [VOLUME, ANOTHER_TEAMS]),
    "clone without the tag": ("ec2:CopyVolumes", [NEW_VOLUME, NO_TAG], [VOLUME, OURS]),
    "snapshot an untagged volume": ("ec2:CreateSnapshot", [VOLUME, NO_TAG], [NEW_SNAPSHOT, WITH_TAG]),
    "snapshot another team's volume": ("ec2:CreateSnapshot", [VOLUME, ANOTHER_TEAMS], [NEW_SNAPSHOT, WITH_TAG]),
    "snapshot without the tag": ("ec2:CreateSnapshot", [VOLUME, OURS], [NEW_SNAPSHOT, NO_TAG]),
    "grow an untagged volume": ("ec2:ModifyVolume", [VOLUME, NO_TAG]),
    "grow another team's volume": ("ec2:ModifyVolume", [VOLUME, ANOTHER_TEAMS]),
    "restore another team's snapshot": ("ec2:CreateVolume", [NEW_VOLUME, WITH_TAG], [SNAPSHOT, ANOTHER_TEAMS]),
    "delete an untagged volume": ("ec2:DeleteVolume", [VOLUME, NO_TAG]),
    "delete another team's volume": ("ec2:DeleteVolume", [VOLUME, ANOTHER_TEAMS]),
    "delete an untagged snapshot": ("ec2:DeleteSnapshot", [SNAPSHOT, NO_TAG]),
    "delete another team's snapshot": ("ec2:DeleteSnapshot", [SNAPSHOT, ANOTHER_TEAMS]),
    "tag what is there": ("ec2:CreateTags", [VOLUME, OURS]),
    "tag an instance on its creation": ("ec2:CreateTags", [INSTANCE, on_creation("RunInstances")]),
    "take the tag away": ("ec2:DeleteTags", [VOLUME, NO_TAG]),
    "have EC2 use another key": ("kms:CreateGrant", [OTHER_KEY, FOR_AWS]),
    "grant our key by hand": ("kms:CreateGrant", [KEY, BY_HAND]),
    "read with another key": ("kms:Decrypt", [OTHER_KEY, NO_TAG]),
    "encrypt with another key": ("kms:GenerateDataKeyWithoutPlaintext", [OTHER_KEY, NO_TAG]),
    "end an instance": ("ec2:TerminateInstances", [INSTANCE, NO_TAG]),
}
"""What must not."""

NOT_IN_V2 = {name for name, call in ALLOWED.items() if call[0].startswith("kms:")}
"""The managed policy says nothing of keys; the driver's documentation adds them by hand (docs/install.md, v1.64.0)."""


@pytest.fixture
def decide():
    """Whether a policy allows a call of the tables above."""

    def ask(policy, call):
        action, *touched = call
        resources = tuple(evaluation.Touched(arn, known) for arn, known in touched)
        return evaluation.is_allowed(policy, evaluation.Request(action, resources))

    return ask


@pytest.fixture(scope="module")
def managed():
    """The managed policy V2."""
    from moto.iam import aws_managed_policies  # noqa: PLC0415  # one big text, that no other test reads

    return json.loads(aws_managed_policies.aws_managed_policies_data)["AmazonEBSCSIDriverPolicyV2"]["Document"]


@pytest.mark.parametrize("name", ALLOWED)
def test_needed_call_is_allowed(decide, policy, name):
    """The driver can do it."""
    assert decide(policy, ALLOWED[name])


@pytest.mark.parametrize("name", DENIED)
def test_other_call_is_denied(decide, policy, name):
    """The driver cannot do it, whoever asks it to."""
    assert not decide(policy, DENIED[name])


@pytest.mark.parametrize("name", [*ALLOWED, *DENIED])
def test_managed_policy_decides_the_same(decide, managed, name):
    """Where the managed policy speaks, ours is as wide and as narrow."""
    assert decide(managed, (ALLOWED | DENIED)[name]) is (name in ALLOWED and name not in NOT_IN_V2)


def test_another_clusters_volume_is_not_told_apart(decide, policy, managed):
    """The limit that docs/explain/ownership.md tells: all clusters of an account have one tag and one value, by the managed policy, too."""
    another_clusters = {"aws:ResourceTag/team": "payments", **OURS}
    call = ("ec2:DeleteVolume", [VOLUME, another_clusters])

    assert (decide(policy, call), decide(managed, call)) == (True, True)


def test_every_action_taken_away_denies_a_needed_call(decide, policy, granted):
    """No action is there for nothing; those that every Describe shares are shown by the calls under moto."""
    needless = [
        action
        for action in granted
        if not action.startswith("ec2:Describe")
        and all(decide(_without_action(policy, action), call) for call in ALLOWED.values())
    ]

    assert needless == []


def test_every_statement_taken_away_denies_a_needed_call(decide, policy):
    """No statement is there for nothing."""
    needless = [
        statement["Sid"]
        for statement in policy["Statement"]
        if all(decide(_without_statement(policy, statement), call) for call in ALLOWED.values())
    ]

    assert needless == []


def test_every_condition_taken_away_allows_a_denied_call(decide, policy):
    """Each condition holds something back."""
    needless = [
        statement["Sid"]
        for statement in policy["Statement"]
        if "Condition" in statement
        and not any(decide(_unconditional(policy, statement), call) for call in DENIED.values())
    ]

    assert needless == []


@pytest.mark.parametrize("sid", ["AttachToInstances", "GrantKeys", "UseKeys"])
def test_resource_without_a_condition_holds_something_back(decide, policy, sid):
    """Where no tag is asked for, the resources alone say what may be touched."""
    [statement] = [each for each in policy["Statement"] if each["Sid"] == sid]

    assert any(decide(_everywhere(policy, statement), call) for call in DENIED.values())


def test_volume_named_by_id_needs_no_tag(decide):
    """One that was made elsewhere is attached by its id; any other untagged one still is not."""
    policy = iam.ebs_policy("us-east-1", volume_ids=["vol-1"])

    assert decide(policy, ("ec2:AttachVolume", [VOLUME, NO_TAG], [INSTANCE, NO_TAG]))
    assert not decide(policy, ("ec2:AttachVolume", [f"{EC2}:volume/vol-2", NO_TAG], [INSTANCE, NO_TAG]))
    assert not decide(policy, ("ec2:DeleteVolume", [VOLUME, NO_TAG]))


def _without_action(policy, action):
    kept = [
        statement | {"Action": [each for each in statement["Action"] if each != action]}
        for statement in policy["Statement"]
    ]
    return {"Statement": kept}


def _without_statement(policy, statement):
    return {"Statement": [each for each in policy["Statement"] if each is not statement]}


def _unconditional(policy, statement):
    return _with(policy, statement, {key: value for key, value in statement.items() if key != "Condition"})


def _everywhere(policy, statement):
    return _with(policy, statement, {**statement, "Resource": ["*"]})


def _with(policy, statement, instead):
    return {"Statement": [instead if each is statement else each for each in policy["Statement"]]}
