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


def test_role_with_policies_goes_only_when_they_may_be_detached(engine, policy, unique, trust_policy):
    """``forceDetachPolicies`` decides whether attached policies keep a role."""
    made = engine.create(ROLE, unique, {"assumeRolePolicy": trust_policy})
    engine.create(ATTACHMENT, "att", {"role": made.id, "policyArn": policy.id})
    with pytest.raises(grpc.RpcError, match="DeleteConflict"):
        engine.delete(made)

    engine.delete(engine.update(made, made.program | {"forceDetachPolicies": True}))

    assert engine.refresh(made) is None
