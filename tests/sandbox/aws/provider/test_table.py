"""Every row of the table, made, read, changed and deleted against moto."""

import json
import re

import grpc
import pytest

from nomad_csi.provider import wire
from nomad_csi_sandbox.aws.provider import __main__ as provider_main
from nomad_csi_sandbox.aws.provider import catalogue, functions, schema, table
from tests.sandbox.aws.conftest import Engine

ROW_TOKENS = [row.token for row in table.ROWS]


@pytest.fixture
def made(engine, unique):
    """Make resources that are deleted afterwards, the last one first: ``made(token, **inputs)``."""
    all_of_them = []

    def make(token, **inputs):
        all_of_them.append(engine.create(token, f"{unique}{len(all_of_them)}", inputs))
        return all_of_them[-1]

    yield make
    for one in reversed(all_of_them):
        engine.delete(one)


@pytest.fixture
def arguments(request, made, unique, document, trust_policy):
    """Inputs of a resource of a type, with what it needs beside it."""
    name = request.node.callspec.params["token"].rpartition(":")[2]

    def vpc():
        return made("aws:ec2/vpc:Vpc", cidrBlock="10.1.0.0/16").id

    def table_of(vpc_id):
        return made("aws:ec2/routeTable:RouteTable", vpcId=vpc_id).id

    def gateway(vpc_id):
        return made("aws:ec2/internetGateway:InternetGateway", vpcId=vpc_id).id

    def key(**more):
        return made("aws:kms/key:Key", **more)

    def route():
        vpc_id = vpc()
        return {"routeTableId": table_of(vpc_id), "destinationCidrBlock": "0.0.0.0/0", "gatewayId": gateway(vpc_id)}

    def association():
        vpc_id = vpc()
        subnet = made("aws:ec2/subnet:Subnet", vpcId=vpc_id, cidrBlock="10.1.1.0/24").id
        return {"routeTableId": table_of(vpc_id), "subnetId": subnet}

    def routes():
        vpc_id = vpc()
        return {"vpcId": vpc_id, "routes": [{"cidrBlock": "0.0.0.0/0", "gatewayId": gateway(vpc_id)}]}

    def of_role(**more):
        return {"role": made("aws:iam/role:Role", assumeRolePolicy=trust_policy).id, **more}

    def secret_version():
        return {"secretId": made("aws:secretsmanager/secret:Secret", recoveryWindowInDays=0).id, "secretString": "s3"}

    return {
        "Vpc": lambda: {"cidrBlock": "10.1.0.0/16", "enableDnsHostnames": True, "enableDnsSupport": True},
        "Subnet": lambda: {
            "vpcId": vpc(),
            "cidrBlock": "10.1.1.0/24",
            "availabilityZone": "us-east-1b",
            "mapPublicIpOnLaunch": True,
        },
        "DefaultVpc": lambda: {"enableDnsHostnames": True},
        "DefaultSubnet": lambda: {"availabilityZone": "us-east-1c"},
        "InternetGateway": lambda: {"vpcId": vpc()},
        "RouteTable": routes,
        "Route": route,
        "RouteTableAssociation": association,
        "MainRouteTableAssociation": lambda: {
            "routeTableId": (table := made("aws:ec2/routeTable:RouteTable", vpcId=vpc())).id,
            "vpcId": table.outputs["vpcId"],
        },
        "FileSystemPolicy": lambda: {
            "fileSystemId": made("aws:efs/fileSystem:FileSystem").id,
            "policy": document("elasticfilesystem:ClientMount"),
        },
        "Policy": lambda: {"policy": document("ec2:AttachVolume"), "description": "of a disk"},
        "Role": lambda: {"assumeRolePolicy": trust_policy, "maxSessionDuration": 7200},
        "Key": lambda: {"description": "of a volume", "enableKeyRotation": True, "deletionWindowInDays": 7},
        "ReplicaKey": lambda: {
            "primaryKeyArn": key(multiRegion=True).outputs["arn"],
            "region": "eu-west-1",
            "description": "copy",
        },
        "Alias": lambda: {"name": f"alias/{unique}", "targetKeyId": key().id},
        "InstanceProfile": of_role,
        "RolePolicy": lambda: of_role(policy=document("ec2:AttachVolume")),
        "RolePolicyAttachment": lambda: of_role(
            policyArn=made("aws:iam/policy:Policy", policy=document("ec2:AttachVolume")).id
        ),
        "Bucket": lambda: {"bucket": unique, "forceDestroy": True},
        "Parameter": lambda: {"type": "SecureString", "value": "one", "description": "two", "name": f"/{unique}"},
        "Secret": lambda: {"description": "two", "recoveryWindowInDays": 0},
        "SecretVersion": secret_version,
    }[name]()


TAGGED = {kind.token for kind in catalogue.KINDS.values() if kind.has_tags}

STAYS = {"DefaultVpc", "DefaultSubnet", "SecretVersion"}
"""What a delete leaves in AWS, as the real provider does."""


@pytest.mark.parametrize("token", ROW_TOKENS)
def test_life_of_a_row(engine, unique, token, arguments):
    """It is made with its inputs, a refresh and a second run change nothing, tags change in place, it is deleted."""
    inputs = arguments | ({"tags": {"a": "b"}} if token in TAGGED else {})

    made = engine.create(token, unique, inputs)
    refreshed = engine.refresh(made)
    diff = engine.diff(refreshed, inputs)
    if token in TAGGED:
        made = engine.update(refreshed, inputs | {"tags": {"c": "d"}})
        refreshed = engine.refresh(made)
    engine.delete(refreshed)

    assert {name: made.outputs.get(name) for name in arguments} == arguments
    assert (refreshed.inputs, refreshed.outputs) == (made.inputs, made.outputs)
    assert list(diff.diffs) == []
    assert token not in TAGGED or made.outputs["tagsAll"] == {"c": "d", "team": "storage"}
    assert (engine.refresh(made) is not None) == (token.rpartition(":")[2] in STAYS)


@pytest.mark.parametrize("token", ROW_TOKENS)
def test_preview_and_create_have_the_same_properties(engine, unique, token, arguments):
    """What a preview promises is there after the create, and no more."""
    preview = engine.create(token, unique, arguments, preview=True)

    made = engine.create(token, unique, arguments)
    engine.delete(made)

    kind = catalogue.KINDS[token]
    promised = {name for name, value in preview.outputs.items() if value == wire.UNKNOWN}
    assert promised - made.outputs.keys() == set()
    assert made.outputs.keys() - preview.outputs.keys() <= kind.known_inputs | {"region", "tagsAll", "tags"}


def test_main_table_of_a_vpc_is_replaced_and_restored(engine, made, unique):
    """The association makes another table the main one; without it the table of the VPC is it again."""
    vpc = made("aws:ec2/vpc:Vpc", cidrBlock="10.3.0.0/16")
    table_id = made("aws:ec2/routeTable:RouteTable", vpcId=vpc.id).id
    inputs = {"vpcId": vpc.id, "routeTableId": table_id}

    association = engine.create("aws:ec2/mainRouteTableAssociation:MainRouteTableAssociation", unique, inputs)
    during = engine.refresh(vpc).outputs["mainRouteTableId"]
    engine.delete(association)

    assert association.outputs["originalRouteTableId"] == vpc.outputs["mainRouteTableId"]
    assert during == table_id
    assert engine.refresh(vpc).outputs["mainRouteTableId"] == vpc.outputs["mainRouteTableId"]


@pytest.mark.parametrize("direction", ["ingress", "egress"])
def test_life_of_a_rule_of_a_group(engine, made, unique, direction):
    """A rule of either direction is made, read, and deleted, in both forms that the provider has."""
    group = made("aws:ec2/securityGroup:SecurityGroup").id
    capital = direction.capitalize()
    one = f"aws:vpc/securityGroup{capital}Rule:SecurityGroup{capital}Rule"
    inputs = {"securityGroupId": group, "ipProtocol": "tcp", "fromPort": 2049, "toPort": 2049, "cidrIpv4": "10.0.0.0/8"}
    several = "aws:ec2/securityGroupRule:SecurityGroupRule"
    older = {
        "securityGroupId": group,
        "type": direction,
        "protocol": "tcp",
        "fromPort": 111,
        "toPort": 111,
        "cidrBlocks": ["10.0.0.0/8", "10.9.0.0/16"],
        "description": "nfs",
    }

    for token, given in ((one, inputs), (several, older)):
        rule = engine.create(token, unique, given)
        refreshed = engine.refresh(rule)
        engine.delete(rule)

        assert {name: refreshed.outputs[name] for name in given} == given
        assert engine.refresh(rule) is None


def test_each_provider_has_its_own_region(endpoint_url, unique):
    """Two providers of one program share the emulator, and a resource goes to the region of its own."""
    credentials = {"AWS_ACCESS_KEY_ID": "sandbox", "AWS_SECRET_ACCESS_KEY": "sandbox"}
    with provider_main.serving(endpoint_url, credentials) as port:
        engines = {region: Engine(port) for region in ("us-east-1", "eu-west-1")}
        for region, each in engines.items():
            assert each.configure(region=region) == []

        volumes = {
            region: each.create("aws:ebs/volume:Volume", unique, {"availabilityZone": f"{region}a", "size": 1})
            for region, each in engines.items()
        }
        told = {region: each.invoke("aws:index/getRegion:getRegion")["region"] for region, each in engines.items()}
        for region, each in engines.items():
            each.delete(volumes[region])
            each.channel.close()

    assert {region: volume.outputs["region"] for region, volume in volumes.items()} == {
        "us-east-1": "us-east-1",
        "eu-west-1": "eu-west-1",
    }
    assert told == {"us-east-1": "us-east-1", "eu-west-1": "eu-west-1"}


def test_object_without_any_tag(attach, endpoint_url, unique):
    """EC2 takes no empty list of tags, so none is sent."""
    engine = attach(endpoint_url, {"AWS_ACCESS_KEY_ID": "sandbox", "AWS_SECRET_ACCESS_KEY": "sandbox"})
    engine.configure(region="us-east-1")

    vpc = engine.create("aws:ec2/vpc:Vpc", unique, {"cidrBlock": "10.4.0.0/16"})
    subnet = engine.create("aws:ec2/subnet:Subnet", unique, {"vpcId": vpc.id, "cidrBlock": "10.4.1.0/24"})
    engine.delete(subnet)
    engine.delete(vpc)

    assert (vpc.outputs["tagsAll"], subnet.outputs["tagsAll"]) == ({}, {})


def test_connection_that_was_lost_is_not_given_another_region(endpoint_url):
    """A connection that nobody configured has the configuration of all others, or an error when they differ."""
    credentials = {"AWS_ACCESS_KEY_ID": "sandbox", "AWS_SECRET_ACCESS_KEY": "sandbox"}
    with provider_main.serving(endpoint_url, credentials) as port:
        first, second, anew = Engine(port), Engine(port), Engine(port)
        first.configure(region="eu-west-1")
        alone = anew.invoke("aws:index/getRegion:getRegion")["region"]
        second.configure(region="us-east-1")
        with pytest.raises(grpc.RpcError) as refused:
            anew.invoke("aws:index/getRegion:getRegion")
        for each in (first, second, anew):
            each.channel.close()

    assert alone == "eu-west-1"
    assert refused.value.details() == (
        "the connection to the emulator of the aws provider was lost, and several providers use it: run again"
    )


def test_schema_has_every_type_and_function_with_its_inputs():
    """The schema names what the emulator understands: every type, input, output and function, and no type is missing."""
    found = json.loads(schema.text())

    assert {token: set(one["inputProperties"]) for token, one in found["resources"].items()} == {
        token: set(kind.known_inputs) for token, kind in catalogue.KINDS.items()
    }
    assert [
        token
        for token, kind in catalogue.KINDS.items()
        if kind.outputs - found["resources"][token]["properties"].keys()
    ] == []
    assert set(found["functions"]) == set(functions.FUNCTIONS)
    assert set(re.findall(r"#/types/([^\"]+)", json.dumps(found))) <= set(found["types"])


def test_subnets_and_policy_document(engine, made):
    """The subnets of a VPC, and a policy document as the program words it."""
    vpc = made("aws:ec2/vpc:Vpc", cidrBlock="10.2.0.0/16").id
    subnets = [made("aws:ec2/subnet:Subnet", vpcId=vpc, cidrBlock=f"10.2.{number}.0/24").id for number in (1, 2)]
    statement = {
        "actions": ["sts:AssumeRole"],
        "principals": [{"type": "Service", "identifiers": ["ec2.amazonaws.com"]}],
        "conditions": [{"test": "StringEquals", "variable": "aws:SourceAccount", "values": ["1"]}],
    }

    found = engine.invoke("aws:ec2/getSubnets:getSubnets", filters=[{"name": "vpc-id", "values": [vpc]}])
    document = engine.invoke("aws:iam/getPolicyDocument:getPolicyDocument", statements=[statement])

    assert found["ids"] == sorted(subnets)
    assert json.loads(document["json"]) == {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Action": "sts:AssumeRole",
                "Principal": {"Service": "ec2.amazonaws.com"},
                "Condition": {"StringEquals": {"aws:SourceAccount": "1"}},
            }
        ],
    }
