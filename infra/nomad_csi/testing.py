"""
Mocks for unit tests of Pulumi programs with these components: no engine, no Nomad, no AWS.

In a test::

    mocks = testing.Mocks()
    pulumi.runtime.set_mocks(mocks)

Mocks of your own that return their inputs do as well. Mocks apply no defaults and no rules of a provider: the rules of
the components hold, what Nomad and AWS refuse is not seen.
"""

import hashlib
import importlib
import inspect
import json
import keyword
import re
from collections.abc import Mapping
from typing import Any

import pulumi

ACCOUNT = "123456789012"
REGION = "us-east-1"

_POLICY_DOCUMENT = "aws:iam/getPolicyDocument:getPolicyDocument"
_ZONES = [f"{REGION}{letter}" for letter in "abc"]
_DIGITS = "0123456789abcdef0"
_KEY = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/1234abcd-12ab-34cd-56ef-1234567890ab"

REPLIES: Mapping[str, Mapping[str, Any]] = {
    "aws:ebs/getEbsVolumes:getEbsVolumes": {"ids": [], "id": REGION},
    "aws:ec2/getAmi:getAmi": {"id": f"ami-{_DIGITS}", "architecture": "x86_64"},
    "aws:ec2/getSecurityGroup:getSecurityGroup": {"id": f"sg-{_DIGITS}", "vpcId": f"vpc-{_DIGITS}"},
    "aws:ec2/getSubnet:getSubnet": {
        "id": f"subnet-{_DIGITS}",
        "vpcId": f"vpc-{_DIGITS}",
        "availabilityZone": _ZONES[0],
        "cidrBlock": "10.0.0.0/24",
    },
    "aws:ec2/getSubnets:getSubnets": {"ids": [f"subnet-{_DIGITS}"], "id": REGION},
    "aws:ec2/getVpc:getVpc": {"id": f"vpc-{_DIGITS}", "cidrBlock": "10.0.0.0/16"},
    "aws:efs/getFileSystem:getFileSystem": {
        "id": f"fs-{_DIGITS}",
        "fileSystemId": f"fs-{_DIGITS}",
        "arn": f"arn:aws:elasticfilesystem:{REGION}:{ACCOUNT}:file-system/fs-{_DIGITS}",
    },
    "aws:iam/getRole:getRole": {"id": "{name}", "arn": f"arn:aws:iam::{ACCOUNT}:role/{{name}}"},
    "aws:index/getAvailabilityZones:getAvailabilityZones": {
        "names": _ZONES,
        "zoneIds": ["use1-az1", "use1-az2", "use1-az4"],
        "id": REGION,
    },
    "aws:index/getCallerIdentity:getCallerIdentity": {
        "accountId": ACCOUNT,
        "arn": f"arn:aws:iam::{ACCOUNT}:user/tester",
        "userId": "AIDA0123456789ABCDEF0",
        "id": ACCOUNT,
    },
    "aws:index/getPartition:getPartition": {"partition": "aws", "dnsSuffix": "amazonaws.com", "id": "aws"},
    "aws:index/getRegion:getRegion": {"region": REGION, "name": REGION, "id": REGION},
    "aws:kms/getAlias:getAlias": {
        "arn": f"arn:aws:kms:{REGION}:{ACCOUNT}:{{name}}",
        "targetKeyArn": _KEY,
        "targetKeyId": _KEY.partition("/")[2],
    },
    "aws:kms/getKey:getKey": {"arn": _KEY, "id": _KEY.partition("/")[2]},
    "nomad-csi:index:clusterId": {"id": "0f8fad5b-d9cb-469f-a165-70867728950e"},
}
"""Results of functions, by token; ``{ARGUMENT}`` in a text is that argument. The arguments are results, too."""

OUTPUTS: Mapping[str, Mapping[str, Any]] = {
    "aws:ec2/subnet:Subnet": {"availabilityZone": _ZONES[0]},
    "aws:ec2/vpc:Vpc": {"defaultSecurityGroupId": f"sg-{_DIGITS}", "mainRouteTableId": f"rtb-{_DIGITS}"},
    "aws:efs/fileSystem:FileSystem": {"dnsName": f"{{id}}.efs.{REGION}.amazonaws.com"},
    "aws:kms/key:Key": {"keyId": "{id}"},
    "nomad-csi:index:PluginJob": {"jobModifyIndex": 7},
    "nomad-csi:index:StackIdentity": {"stackId": "9f86d081884c7d65"},
}
"""Outputs that a resource has where its inputs do not say them, by type; ``{id}`` in a text is the resource's id."""

_IDS: Mapping[str, str] = {
    "aws:backup/plan:Plan": "{uuid}",
    "aws:backup/selection:Selection": "{uuid}",
    "aws:dlm/lifecyclePolicy:LifecyclePolicy": "policy-{digits}",
    "aws:ebs/snapshot:Snapshot": "snap-{digits}",
    "aws:ebs/volume:Volume": "vol-{digits}",
    "aws:ec2/eip:Eip": "eipalloc-{digits}",
    "aws:ec2/instance:Instance": "i-{digits}",
    "aws:ec2/internetGateway:InternetGateway": "igw-{digits}",
    "aws:ec2/launchTemplate:LaunchTemplate": "lt-{digits}",
    "aws:ec2/natGateway:NatGateway": "nat-{digits}",
    "aws:ec2/networkInterface:NetworkInterface": "eni-{digits}",
    "aws:ec2/routeTable:RouteTable": "rtb-{digits}",
    "aws:ec2/securityGroup:SecurityGroup": "sg-{digits}",
    "aws:ec2/subnet:Subnet": "subnet-{digits}",
    "aws:ec2/vpc:Vpc": "vpc-{digits}",
    "aws:ec2/vpcEndpoint:VpcEndpoint": "vpce-{digits}",
    "aws:efs/accessPoint:AccessPoint": "fsap-{digits}",
    "aws:efs/fileSystem:FileSystem": "fs-{digits}",
    "aws:efs/mountTarget:MountTarget": "fsmt-{digits}",
    "aws:iam/policy:Policy": f"arn:aws:iam::{ACCOUNT}:policy/{{name}}",
    "aws:kms/key:Key": "{uuid}",
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": "sgr-{digits}",
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": "sgr-{digits}",
}
"""Ids by type; other resources of AWS have their names as ids."""

_ARNS: Mapping[str, str] = {
    "aws:backup/plan:Plan": "backup-plan:{id}",
    "aws:backup/vault:Vault": "backup-vault:{id}",
    "aws:dlm/lifecyclePolicy:LifecyclePolicy": "policy/{id}",
    "aws:iam/policy:Policy": "policy/{name}",
    "aws:kms/alias:Alias": "{id}",
}
"""The part of an ARN behind the account, where it is not ``words-of-the-type/ID``."""

_SERVICES = {"ebs": "ec2", "efs": "elasticfilesystem", "vpc": "ec2"}
"""Services whose ARNs have another name than the module of the provider."""


class Mocks(pulumi.runtime.Mocks):
    """
    Mocks that record every resource.

    Ids, ARNs and names have the form of AWS and are the same in each run. A resource without a name gets
    ``NAME-xxxxxxx``, as from the engine. A function without a reply returns its arguments.
    """

    def __init__(self, replies: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        """
        Return *replies*: results of functions by token, and outputs of resources by type.

        `REPLIES` and `OUTPUTS` have those of others.
        """
        self.replies = replies or {}
        self.resources: list[pulumi.runtime.MockResourceArgs] = []
        """What the program declared, with ``typ``, ``name`` and ``inputs``; keys of these are in camelCase."""
        self._outputs: dict[tuple[str, str], Mapping[str, Any]] = {}

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str | None, dict[Any, Any]]:
        """Record a resource, and return its id and its outputs."""
        self.resources.append(args)
        outputs = {**_outputs(args), **self.replies.get(args.typ, {})}
        self._outputs[args.typ, args.name] = outputs
        return outputs["id"], outputs

    def call(self, args: pulumi.runtime.MockCallArgs) -> tuple[dict[Any, Any], list[tuple[str, str]]]:
        """Return the result of a function, and no failures."""
        is_document = args.token == _POLICY_DOCUMENT
        known = _policy_document(args.args) if is_document else _filled(REPLIES.get(args.token, {}), args.args)
        return {**known, **args.args, **self.replies.get(args.token, {})}, []

    def inputs(self, typ: str, name: str) -> Mapping[str, Any]:
        """Return the inputs of the resource *name* of the type *typ*. Raises `KeyError` with those there are."""
        return self._declared(typ, name, {(item.typ, item.name): item.inputs for item in self.resources})

    def outputs(self, typ: str, name: str) -> Mapping[str, Any]:
        """Return the outputs of the resource, with its ``id``. Raises `KeyError` with those there are."""
        return self._declared(typ, name, self._outputs)

    @staticmethod
    def _declared(typ: str, name: str, values: Mapping[tuple[str, str], Mapping[str, Any]]) -> Mapping[str, Any]:
        if (typ, name) not in values:
            raise KeyError(f"no {typ} {name}; there are {', '.join(f'{kind} {name}' for kind, name in sorted(values))}")
        return values[typ, name]


def _outputs(args: pulumi.runtime.MockResourceArgs) -> dict[str, Any]:
    """Return the outputs of a resource: its inputs, and what AWS and the engine add."""
    package, _, module = args.typ.partition(":")
    service, _, kind = module.partition("/")
    if package != "aws" or not kind:
        return {"id": args.resource_id or f"{args.name}-id", **OUTPUTS.get(args.typ, {}), **args.inputs}
    digest = hashlib.sha256(f"{args.typ} {args.name}".encode()).hexdigest()
    named = _name(args, service, kind.partition(":")[2], digest[:7])
    words = {
        "name": args.inputs.get("name") or named.get("name") or args.name,
        "digits": digest[:17],
        "uuid": "-".join((digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:32])),
    }
    words["id"] = args.resource_id or _IDS.get(args.typ, "{name}").format(**words)
    path = _ARNS.get(args.typ, re.sub(r"(?<!^)(?=[A-Z])", "-", kind.partition(":")[2]).lower() + "/{id}")
    region = "" if service == "iam" else REGION
    arn = f"arn:aws:{_SERVICES.get(service, service)}:{region}:{ACCOUNT}:{path.format(**words)}"
    return {"id": words["id"], "arn": arn, **_filled(OUTPUTS.get(args.typ, {}), words), **named, **args.inputs}


def _name(args: pulumi.runtime.MockResourceArgs, service: str, kind: str, suffix: str) -> dict[str, str]:
    """Return the ``name`` that the engine gives a resource whose class takes one."""
    module = importlib.import_module(f"pulumi_aws.{service}{'_' if keyword.iskeyword(service) else ''}")
    constructor = getattr(getattr(module, kind, None), "_internal_init", None)
    if constructor is None or "name" not in inspect.signature(constructor).parameters:
        return {}
    return {"name": f"{args.inputs.get('namePrefix', f'{args.name}-')}{suffix}"}


def _filled(texts: Mapping[str, Any], words: Mapping[str, Any]) -> dict[str, Any]:
    return {key: text.format_map(words) if isinstance(text, str) else text for key, text in texts.items()}


def _policy_document(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document of *arguments* as JSON."""
    statements = [_statement(statement) for statement in arguments.get("statements", ())]
    text = json.dumps({"Version": arguments.get("version", "2012-10-17"), "Statement": statements})
    return {"json": text, "minifiedJson": text, "id": str(len(text))}


def _statement(given: Mapping[str, Any]) -> dict[str, Any]:
    conditions: dict[str, dict[str, Any]] = {}
    for condition in given.get("conditions", ()):
        conditions.setdefault(condition["test"], {})[condition["variable"]] = condition["values"]
    statement = {
        "Sid": given.get("sid"),
        "Effect": given.get("effect", "Allow"),
        "Action": given.get("actions"),
        "NotAction": given.get("notActions"),
        "Resource": given.get("resources"),
        "NotResource": given.get("notResources"),
        "Principal": {each["type"]: each["identifiers"] for each in given.get("principals", ())},
        "NotPrincipal": {each["type"]: each["identifiers"] for each in given.get("notPrincipals", ())},
        "Condition": conditions,
    }
    return {key: value for key, value in statement.items() if value}
