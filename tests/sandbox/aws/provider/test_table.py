"""Every row of the table, made, read, changed and deleted against moto."""

import json
import re

import grpc
import pytest

from nomad_csi.provider import wire
from nomad_csi_sandbox.aws.provider import __main__ as provider_main
from nomad_csi_sandbox.aws.provider import functions, schema, table
from tests.sandbox.aws.conftest import Engine, Recorded

ROW_TOKENS = [*table.ROWS]
NFS = {"protocol": "tcp", "fromPort": 2049, "toPort": 2049}
COPIES = "arn:aws:iam::123456789012:role/copies"


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


class Beside:
    """What a resource needs beside it."""

    def __init__(self, engine, made, unique, document, trust_policy):
        self.engine, self.made, self.unique = engine, made, unique
        self.document, self.trust_policy = document, trust_policy

    def vpc(self):
        return self.made("aws:ec2/vpc:Vpc", cidrBlock="10.1.0.0/16").id

    def table_of(self, vpc_id):
        return self.made("aws:ec2/routeTable:RouteTable", vpcId=vpc_id).id

    def gateway(self, vpc_id):
        return self.made("aws:ec2/internetGateway:InternetGateway", vpcId=vpc_id).id

    def route(self):
        vpc_id = self.vpc()
        table_id, gateway_id = self.table_of(vpc_id), self.gateway(vpc_id)
        return {"routeTableId": table_id, "destinationCidrBlock": "0.0.0.0/0", "gatewayId": gateway_id}

    def routes(self):
        vpc_id = self.vpc()
        return {"vpcId": vpc_id, "routes": [{"cidrBlock": "0.0.0.0/0", "gatewayId": self.gateway(vpc_id)}]}

    def association(self):
        vpc_id = self.vpc()
        subnet = self.made("aws:ec2/subnet:Subnet", vpcId=vpc_id, cidrBlock="10.1.1.0/24").id
        return {"routeTableId": self.table_of(vpc_id), "subnetId": subnet}

    def default_subnet(self):
        getter = "aws:ec2/getSubnet:getSubnet"
        return self.engine.invoke(getter, availabilityZone="us-east-1a", defaultForAz=True)["id"]

    def group(self):
        return self.made("aws:ec2/securityGroup:SecurityGroup").id

    def rule(self, **more):
        return {"securityGroupId": self.group(), "fromPort": 2049, "toPort": 2049, **more}

    def file_system(self):
        return self.made("aws:efs/fileSystem:FileSystem").id

    def plan(self):
        vault = self.made("aws:backup/vault:Vault").outputs["name"]
        schedule = {"ruleName": "nightly", "targetVaultName": vault, "schedule": "cron(0 3 * * ? *)"}
        return {"rules": [schedule | {"lifecycle": {"deleteAfter": 35}}]}

    def key(self, **more):
        return self.made("aws:kms/key:Key", **more)

    def of_role(self, **more):
        return {"role": self.made("aws:iam/role:Role", assumeRolePolicy=self.trust_policy).id, **more}

    def policy(self):
        return self.made("aws:iam/policy:Policy", policy=self.document("ec2:AttachVolume"))

    def secret(self):
        return self.made("aws:secretsmanager/secret:Secret", recoveryWindowInDays=0)


INPUTS = {
    "Vpc": lambda _: {"cidrBlock": "10.1.0.0/16", "enableDnsHostnames": True, "enableDnsSupport": True},
    "Subnet": lambda beside: {
        "vpcId": beside.vpc(),
        "cidrBlock": "10.1.1.0/24",
        "availabilityZone": "us-east-1b",
        "mapPublicIpOnLaunch": True,
    },
    "DefaultVpc": lambda _: {"enableDnsHostnames": True, "region": "eu-west-1"},
    "DefaultSubnet": lambda _: {"availabilityZone": "eu-west-1c", "region": "eu-west-1"},
    "InternetGateway": lambda beside: {"vpcId": beside.vpc()},
    "RouteTable": Beside.routes,
    "Route": Beside.route,
    "RouteTableAssociation": Beside.association,
    "Volume": lambda _: {"availabilityZone": "us-east-1a", "encrypted": True, "size": 10, "type": "gp3"},
    "FileSystem": lambda _: {"encrypted": True, "lifecyclePolicies": [{"transitionToIa": "AFTER_30_DAYS"}]},
    "MountTarget": lambda beside: {
        "fileSystemId": beside.file_system(),
        "securityGroups": [beside.group()],
        "subnetId": beside.default_subnet(),
    },
    "AccessPoint": lambda beside: {
        "fileSystemId": beside.file_system(),
        "posixUser": {"gid": 0, "uid": 0},
        "rootDirectory": {
            "path": "/shared",
            "creationInfo": {"ownerGid": 1000, "ownerUid": 1000, "permissions": "0755"},
        },
    },
    "SecurityGroup": lambda _: {"ingress": [NFS | {"cidrBlocks": ["10.0.0.0/8"]}]},
    "SecurityGroupIngressRule": lambda beside: beside.rule(ipProtocol="tcp", cidrIpv4="10.0.0.0/8"),
    "SecurityGroupEgressRule": lambda beside: beside.rule(ipProtocol="tcp", cidrIpv4="10.0.0.0/8", description="NFS"),
    "SecurityGroupRule": lambda beside: beside.rule(
        type="egress", protocol="tcp", cidrBlocks=["10.0.0.0/8", "10.9.0.0/16"], description="NFS"
    ),
    "LifecyclePolicy": lambda _: {
        "description": "nightly",
        "executionRoleArn": COPIES,
        "policyDetails": {
            "resourceTypes": ["VOLUME"],
            "targetTags": {"a/b": "c"},
            "schedules": [
                {
                    "name": "nightly",
                    "createRule": {"interval": 24, "intervalUnit": "HOURS", "times": "03:00"},
                    "retainRule": {"count": 7},
                }
            ],
        },
    },
    "Vault": lambda _: {},
    "Plan": Beside.plan,
    "Selection": lambda beside: {
        "planId": beside.made("aws:backup/plan:Plan", **beside.plan()).id,
        "iamRoleArn": COPIES,
        "resources": ["arn:aws:elasticfilesystem:us-east-1:123456789012:file-system/fs-0123456789abcdef0"],
    },
    "FileSystemPolicy": lambda beside: {
        "fileSystemId": beside.file_system(),
        "policy": beside.document("elasticfilesystem:ClientMount"),
    },
    "Policy": lambda beside: {"policy": beside.document("ec2:AttachVolume"), "description": "of a disk"},
    "Role": lambda beside: {"assumeRolePolicy": beside.trust_policy, "maxSessionDuration": 7200},
    "Key": lambda _: {"description": "of a volume", "enableKeyRotation": True, "deletionWindowInDays": 7},
    "Alias": lambda beside: {"name": f"alias/{beside.unique}", "targetKeyId": beside.key().id},
    "InstanceProfile": Beside.of_role,
    "RolePolicy": lambda beside: beside.of_role(policy=beside.document("ec2:AttachVolume")),
    "RolePolicyAttachment": lambda beside: beside.of_role(policyArn=beside.policy().id),
    "Bucket": lambda beside: {"bucket": beside.unique, "forceDestroy": True},
    "Parameter": lambda beside: {
        "type": "SecureString",
        "value": "one",
        "description": "two",
        "name": f"/{beside.unique}",
    },
    "Secret": lambda _: {"description": "two", "recoveryWindowInDays": 0},
    "SecretVersion": lambda beside: {"secretId": beside.secret().id, "secretString": "s3"},
}
"""Inputs of a resource, by the name of its type."""


@pytest.fixture
def arguments(request, engine, made, unique, document, trust_policy):
    """Inputs of a resource of the test's type, with what it needs beside it."""
    name = request.node.callspec.params["token"].rpartition(":")[2]
    return INPUTS[name](Beside(engine, made, unique, document, trust_policy))


TAGGED = {row.token for row in table.ROWS.values() if row.has_tags}

STAYS = {"DefaultVpc", "DefaultSubnet", "SecretVersion"}
"""What a delete leaves in AWS, as the real provider does."""


@pytest.mark.parametrize("token", ROW_TOKENS)
def test_life_of_a_row(engine, unique, token, arguments):
    """It is made with its inputs, a refresh and a second run change nothing, tags change in place, it is deleted once."""
    inputs = arguments | ({"tags": {"a": "b"}} if token in TAGGED else {})

    made = engine.create(token, unique, inputs)
    refreshed = engine.refresh(made)
    diff = engine.diff(refreshed, inputs)
    if token in TAGGED:
        made = engine.update(refreshed, inputs | {"tags": {"c": "d"}})
        refreshed = engine.refresh(made)
    engine.delete(refreshed)
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

    row = table.ROWS[token]
    promised = {name for name, value in preview.outputs.items() if value == wire.UNKNOWN}
    assert promised - made.outputs.keys() == set()
    assert made.outputs.keys() - preview.outputs.keys() <= row.known_inputs | {"region", "tagsAll", "tags"}


def test_failure_after_the_create_records_the_object(engine, unique, made, trust_policy):
    """The engine learns the id and why it is not as it should be; the next update with the same inputs completes it."""
    token = "aws:iam/instanceProfile:InstanceProfile"

    with pytest.raises(grpc.RpcError) as failed:
        engine.create(token, unique, {"name": unique, "role": unique})
    recorded = engine.init_failure(failed.value)
    made("aws:iam/role:Role", name=unique, assumeRolePolicy=trust_policy)
    profile = engine.update(
        Recorded(token, unique, recorded.id, recorded.inputs, recorded.properties), {"name": unique, "role": unique}
    )
    engine.delete(profile)

    assert recorded.id == unique
    assert [reason.partition(": ")[0] for reason in recorded.reasons] == [
        f"waiting for IAM Instance Profile ({unique})"
    ]
    assert "NoSuchEntity" in recorded.reasons[0]
    assert profile.outputs["role"] == unique


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
        regions = {region: each.invoke("aws:index/getRegion:getRegion")["region"] for region, each in engines.items()}
        for region, each in engines.items():
            each.delete(volumes[region])
            each.channel.close()

    assert {region: volume.outputs["region"] for region, volume in volumes.items()} == {
        "us-east-1": "us-east-1",
        "eu-west-1": "eu-west-1",
    }
    assert regions == {"us-east-1": "us-east-1", "eu-west-1": "eu-west-1"}


def test_schema_has_every_type_and_function_with_its_inputs():
    """The schema names what the emulator understands: every type, input, output and function, and no type is missing."""
    found = json.loads(schema.text())

    assert {token: set(one["inputProperties"]) for token, one in found["resources"].items()} == {
        token: set(row.known_inputs) for token, row in table.ROWS.items()
    }
    assert [
        token for token, row in table.ROWS.items() if row.output_names - found["resources"][token]["properties"].keys()
    ] == []
    assert set(found["functions"]) == set(functions.FUNCTIONS)
    assert set(re.findall(r"#/types/([^\"]+)", json.dumps(found))) <= set(found["types"])
