"""What the emulated provider calls in the life of each resource of a component is permitted by the page of permissions."""

import json

import pytest

from nomad_csi_sandbox.aws import session
from nomad_csi_sandbox.aws.provider import clients
from tests.pages import permissions
from tests.sandbox.aws.conftest import CREDENTIALS

DOCUMENT = json.dumps(
    {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:List*", "Resource": "*"}]}
)
OTHER = DOCUMENT.replace("List", "Get")
TRUST = {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "dlm.amazonaws.com"}}
RULE = {"ruleName": "daily", "schedule": "cron(30 4 * * ? *)"}
TAGGED = {"tags": {"a": "b"}}
OF_THE_EMULATOR = {"ec2:DescribeAvailabilityZones", "elasticfilesystem:DescribeFileSystems"}
"""What the emulator asks for to refuse, or to derive, what AWS does by itself."""


SCHEDULE = {
    "name": "daily",
    "createRule": {"interval": 24, "intervalUnit": "HOURS", "times": "04:30"},
    "retainRule": {"count": 7},
}


@pytest.fixture
def calls(monkeypatch):
    """The IAM actions of all calls of the provider so far."""
    found, isolated = set(), session.isolated

    def heard(*arguments):
        made = isolated(*arguments)
        made.events.register(
            "before-call", lambda model, **_: found.add(f"{model.service_model.signing_name}:{model.name}")
        )
        return made

    monkeypatch.setattr(clients.session, "isolated", heard)
    return found


@pytest.fixture
def live(calls, attach, endpoint_url, unique):  # noqa: ARG001  # the calls are heard from the start
    """Make, change and read a resource; what was made is deleted, the last first, by ``live.end()``."""
    engine = attach(endpoint_url, CREDENTIALS)
    assert engine.configure(region="us-east-1") == []
    made = []

    def run(token, change=TAGGED, **inputs):
        first = engine.create(token, f"{unique}-{len(made)}", inputs)
        if change:
            first = engine.update(first, inputs | change)
        engine.refresh(first)
        made.append(first)
        return first

    def end():
        while made:
            engine.delete(made.pop())

    run.end = end
    yield run
    end()


def test_life_of_every_resource_is_permitted(live, calls, by_hand):
    """Each of the types that a component makes is created, changed, read and deleted."""
    subnet = by_hand("ec2").describe_subnets()["Subnets"][0]
    lives = {}

    def run(token, **inputs):
        calls.clear()
        made = live(token, **inputs)
        lives[token] = set(calls)
        return made

    run(
        "aws:ebs/volume:Volume",
        availabilityZone="us-east-1a",
        size=1,
        type="gp3",
        change={"size": 2, "tags": {"a": "b"}},
    )
    system = run("aws:efs/fileSystem:FileSystem", encrypted=True)
    group = run("aws:ec2/securityGroup:SecurityGroup", vpcId=subnet["VpcId"], description="clients")
    run(
        "aws:efs/mountTarget:MountTarget",
        fileSystemId=system.id,
        subnetId=subnet["SubnetId"],
        securityGroups=[group.id],
        change={},
    )
    run("aws:efs/accessPoint:AccessPoint", fileSystemId=system.id)
    run("aws:efs/fileSystemPolicy:FileSystemPolicy", fileSystemId=system.id, policy=DOCUMENT, change={"policy": OTHER})
    trust = json.dumps({"Version": "2012-10-17", "Statement": [TRUST]})
    role = run("aws:iam/role:Role", assumeRolePolicy=trust)
    policy = run("aws:iam/policy:Policy", policy=DOCUMENT, change={"policy": OTHER, "tags": {"a": "b"}})
    run("aws:iam/rolePolicyAttachment:RolePolicyAttachment", role=role.id, policyArn=policy.id, change={})
    details = {"resourceTypes": ["VOLUME"], "targetTags": {"a": "b"}, "schedules": [SCHEDULE]}
    run(
        "aws:dlm/lifecyclePolicy:LifecyclePolicy",
        description="daily",
        executionRoleArn=role.outputs["arn"],
        policyDetails=details,
        change={"description": "nightly", "tags": {"a": "b"}},
    )
    vault = run("aws:backup/vault:Vault")
    plan = run("aws:backup/plan:Plan", rules=[RULE | {"targetVaultName": vault.id}])
    arn = f"arn:aws:elasticfilesystem:us-east-1:123456789012:file-system/{system.id}"
    run("aws:backup/selection:Selection", planId=plan.id, iamRoleArn=role.outputs["arn"], resources=[arn], change={})
    calls.clear()
    live.end()

    allowed = {token: permissions.actions(token) for token in permissions.TABLE["types"]}
    always = {*permissions.ALWAYS, *permissions.ALL_VOLUMES, *OF_THE_EMULATOR}
    assert lives.keys() == allowed.keys()
    assert {
        token: found - allowed[token] - always for token, found in lives.items() if found - allowed[token] - always
    } == {}
    assert calls - set().union(always, *allowed.values()) == set()
