"""Security groups and their rules through the wire."""

import pytest

GROUP = "aws:ec2/securityGroup:SecurityGroup"
RULE = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
NFS = {"protocol": "tcp", "fromPort": 2049, "toPort": 2049}


@pytest.fixture
def group(engine, unique):
    made = engine.create(GROUP, unique, {"ingress": [{**NFS, "cidrBlocks": ["10.0.0.0/8", "172.16.0.0/12"]}]})
    yield made
    engine.delete(made)


@pytest.fixture
def bare_group(engine, unique):
    made = engine.create(GROUP, f"{unique}-bare", {})
    yield made
    engine.delete(made)


def test_group_has_the_outputs_of_the_real_provider(engine, group):
    """The group is in the default VPC; EC2's own rule for all egress is gone, as with the real provider."""
    vpc = engine.invoke("aws:ec2/getVpc:getVpc", default=True)

    assert group.outputs == {
        "arn": f"arn:aws:ec2:us-east-1:123456789012:security-group/{group.id}",
        "description": "Managed by Pulumi",
        "egress": [],
        "ingress": [{**NFS, "cidrBlocks": ["10.0.0.0/8", "172.16.0.0/12"]}],
        "name": group.inputs["name"],
        "ownerId": "123456789012",
        "region": "us-east-1",
        "tags": {},
        "tagsAll": {"team": "storage"},
        "vpcId": vpc["id"],
    }


@pytest.mark.parametrize(
    ("direction", "rule"),
    [
        ("ingress", {**NFS, "self": True}),
        ("ingress", {**NFS, "cidrBlocks": ["10.0.0.0/8"], "description": "NFS"}),
        ("ingress", {**NFS, "ipv6CidrBlocks": ["fd00::/8"]}),  # moto 5.2.5 revokes no IPv6 egress
        ("ingress", {"protocol": "-1", "fromPort": 0, "toPort": 0, "cidrBlocks": ["10.0.0.0/8"]}),
        ("egress", {**NFS, "self": True}),
        ("egress", {"protocol": "-1", "fromPort": 0, "toPort": 0, "cidrBlocks": ["0.0.0.0/0"]}),
        ("egress", {"protocol": "tcp", "fromPort": 0, "toPort": 65535, "cidrBlocks": ["10.0.0.0/8"]}),
    ],
)
def test_rules_change_in_place_and_read_back(engine, bare_group, direction, rule):
    """Every form of rule is set, found again without drift, and taken away."""
    updated = engine.update(bare_group, bare_group.program | {direction: [rule]})
    refreshed = engine.refresh(updated)
    imported = engine.import_(GROUP, bare_group.id)

    emptied = engine.update(updated, bare_group.program | {direction: []})

    assert refreshed.inputs == updated.inputs
    assert imported.outputs[direction] == [rule]
    assert emptied.outputs[direction] == []


def test_rule_changed_by_hand_shows(engine, group, by_hand):
    """A permission added beside Pulumi appears in the inputs and goes with the next update."""
    permission = {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}
    by_hand("ec2").authorize_security_group_ingress(GroupId=group.id, IpPermissions=[permission])

    refreshed = engine.refresh(group)
    updated = engine.update(refreshed, group.program)

    ssh = {"protocol": "tcp", "fromPort": 22, "toPort": 22, "cidrBlocks": ["0.0.0.0/0"]}
    assert refreshed.inputs["ingress"] == [*group.inputs["ingress"], ssh]
    assert list(engine.diff(refreshed, group.program).diffs) == ["ingress"]
    assert updated.outputs["ingress"] == group.inputs["ingress"]


def test_rule_object_is_made_changed_and_removed(engine, bare_group, unique):
    """A rule of its own has an id, changes in place and leaves its group alone."""
    news = {
        "cidrIpv4": "10.0.0.0/8",
        "fromPort": 2049,
        "ipProtocol": "tcp",
        "securityGroupId": bare_group.id,
        "toPort": 2049,
    }
    made = engine.create(RULE, unique, news)
    refreshed = engine.refresh(made)
    updated = engine.update(made, news | {"cidrIpv4": "10.1.0.0/16", "description": "NFS", "tags": {"a": "b"}})
    changed = engine.refresh(updated)

    engine.delete(made)

    assert (made.id, refreshed.inputs) == (made.outputs["securityGroupRuleId"], made.inputs)
    assert {name: changed.outputs[name] for name in ("cidrIpv4", "description", "tags")} == {
        "cidrIpv4": "10.1.0.0/16",
        "description": "NFS",
        "tags": {"a": "b"},
    }
    assert engine.refresh(made) is None
    assert engine.refresh(bare_group).inputs == bare_group.inputs
