"""Lifecycle policies and backup plans through the wire: what moto lacks of them stands beside it."""

import grpc
import pytest

POLICY = "aws:dlm/lifecyclePolicy:LifecyclePolicy"
VAULT = "aws:backup/vault:Vault"
PLAN = "aws:backup/plan:Plan"
SELECTION = "aws:backup/selection:Selection"
ROLE = "arn:aws:iam::123456789012:role/copies"
FILE_SYSTEM = "arn:aws:elasticfilesystem:us-east-1:123456789012:file-system/fs-0123456789abcdef0"


def policy_inputs(**retained):
    """Return the inputs of a policy that makes a snapshot a day."""
    schedule = {
        "name": "nightly",
        "createRule": {"interval": 24, "intervalUnit": "HOURS", "times": "03:00"},
        "retainRule": retained or {"count": 7},
        "copyTags": True,
    }
    details = {"resourceTypes": ["VOLUME"], "targetTags": {"a/b": "c"}, "schedules": [schedule]}
    return {"description": "nightly", "executionRoleArn": ROLE, "state": "ENABLED", "policyDetails": details}


def plan_inputs(vault, days):
    """Return the inputs of a plan that keeps copies for *days*."""
    rule = {"ruleName": "nightly", "targetVaultName": vault, "schedule": "cron(0 3 * * ? *)"}
    return {"rules": [rule | {"lifecycle": {"deleteAfter": days}}]}


@pytest.fixture
def policy(engine, unique):
    made = engine.create(POLICY, unique, policy_inputs())
    yield made
    engine.delete(made)


@pytest.fixture
def plan(engine, unique):
    vault = engine.create(VAULT, unique, {})
    made = engine.create(PLAN, unique, plan_inputs(vault.outputs["name"], 35))
    yield made
    engine.delete(made)
    engine.delete(vault)


def test_policy_changes_in_place(engine, policy, by_hand):
    """Another number of snapshots is an update: a new policy would forget those of the old one."""
    difference = engine.diff(policy, policy_inputs(count=14))
    engine.update(policy, policy_inputs(count=14))

    assert (list(difference.diffs), list(difference.replaces)) == (["policyDetails"], [])
    found = by_hand("dlm").get_lifecycle_policy(PolicyId=policy.id)["Policy"]["PolicyDetails"]
    assert found["Schedules"][0]["RetainRule"] == {"Count": 14}


def test_kept_by_number_does_not_become_kept_by_age(engine, policy):
    """DLM refuses it, and so does its emulator."""
    with pytest.raises(grpc.RpcError, match="from count-based to age-based is not supported"):
        engine.update(policy, policy_inputs(interval=7, intervalUnit="DAYS"))


def test_selection_names_its_file_systems_and_holds_its_plan(engine, plan, unique):
    """AWS deletes no plan that something is selected for."""
    inputs = {"planId": plan.id, "iamRoleArn": ROLE, "resources": [FILE_SYSTEM]}
    made = engine.create(SELECTION, unique, inputs)

    assert engine.refresh(made).inputs == made.inputs
    with pytest.raises(grpc.RpcError, match="selections must be deleted prior to backup plan deletion"):
        engine.delete(plan)
    assert engine.refresh(plan).id == plan.id
    engine.delete(made)
    assert engine.refresh(made) is None
