"""IAM policies, roles and attachments through the wire."""

import grpc
import pytest

POLICY = "aws:iam/policy:Policy"
ROLE = "aws:iam/role:Role"
ATTACHMENT = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"


@pytest.fixture
def role(engine, unique, trust_policy):
    made = engine.create(ROLE, unique, {"assumeRolePolicy": trust_policy, "description": "of a test"})
    yield made
    engine.delete(made)


@pytest.fixture
def policy(engine, unique, document):
    made = engine.create(POLICY, unique, {"policy": document("ec2:AttachVolume"), "tags": {"a": "b"}})
    yield made
    engine.delete(made)


def test_policy_has_the_outputs_of_the_real_provider(policy, document):
    """ARN and id are those of IAM; the document is in the program's own words."""
    outputs = policy.outputs

    assert outputs.pop("policyId").startswith("A")
    assert outputs == {
        "arn": policy.id,
        "attachmentCount": 0,
        "description": "",
        "name": policy.inputs["name"],
        "path": "/",
        "policy": document("ec2:AttachVolume"),
        "tags": {"a": "b"},
        "tagsAll": {"a": "b", "team": "storage"},
    }


def test_policy_changes_in_place_more_often_than_iam_keeps_versions(engine, policy, document):
    """A sixth version pushes out the oldest."""
    current = policy
    for number in range(6):
        current = engine.update(current, policy.program | {"policy": document(f"ec2:Action{number}")})

    assert current.outputs["policy"] == document("ec2:Action5")
    assert engine.refresh(current).inputs == current.inputs


def test_policy_named_by_hand_is_deleted_before_it_is_replaced(engine, unique, document):
    """Two policies cannot have one name."""
    made = engine.create(POLICY, unique, {"name": unique, "policy": document("ec2:AttachVolume")})

    diff = engine.diff(made, made.program | {"description": "new"})
    engine.delete(made)

    assert (list(diff.replaces), diff.deleteBeforeReplace) == (["description"], True)


def test_rejects_deleting_a_policy_that_a_role_has(engine, role, policy):
    """IAM keeps a policy that is attached; moto would drop it."""
    made = engine.create(ATTACHMENT, "att", {"role": role.id, "policyArn": policy.id})

    with pytest.raises(grpc.RpcError) as refused:
        engine.delete(policy)

    engine.delete(made)
    assert refused.value.details().endswith("api error DeleteConflict: Cannot delete a policy attached to entities.")


def test_role_leaves_its_instance_profiles_before_it_is_deleted(engine, unique, trust_policy, by_hand):
    """As with the real provider, an instance profile does not keep a role."""
    made = engine.create(ROLE, unique, {"assumeRolePolicy": trust_policy})
    by_hand("iam").create_instance_profile(InstanceProfileName=unique)
    by_hand("iam").add_role_to_instance_profile(InstanceProfileName=unique, RoleName=made.id)

    engine.delete(made)

    assert by_hand("iam").get_instance_profile(InstanceProfileName=unique)["InstanceProfile"]["Roles"] == []
    assert engine.refresh(made) is None


def test_role_with_policies_goes_only_when_they_may_be_detached(engine, policy, unique, trust_policy):
    """``forceDetachPolicies`` decides whether attached policies keep a role."""
    made = engine.create(ROLE, unique, {"assumeRolePolicy": trust_policy})
    engine.create(ATTACHMENT, "att", {"role": made.id, "policyArn": policy.id})
    with pytest.raises(grpc.RpcError, match="DeleteConflict"):
        engine.delete(made)

    engine.delete(engine.update(made, made.program | {"forceDetachPolicies": True}))

    assert engine.refresh(made) is None
