"""The functions of the real provider that the stack calls: what they return, in Pulumi's names."""

import json
import zlib
from collections.abc import Callable, Mapping
from typing import Any

from botocore import exceptions

from nomad_csi import errors
from nomad_csi_sandbox.aws.provider import clients, faults, kinds, steps, tags

Function = Callable[[clients.Clients, Mapping[str, Any]], kinds.Properties]


def _caller_identity(aws: clients.Clients, _arguments: Mapping[str, Any]) -> kinds.Properties:
    caller = aws.caller()
    return {"accountId": caller["Account"], "arn": caller["Arn"], "id": caller["Account"], "userId": caller["UserId"]}


def _region(aws: clients.Clients, arguments: Mapping[str, Any]) -> kinds.Properties:
    region = arguments.get("region") or arguments.get("name") or aws.region
    suffix = aws.in_region(region).dns_suffix
    return {
        "description": "emulator: moto",
        "endpoint": f"ec2.{region}.{suffix}",
        "id": region,
        "name": region,
        "region": region,
    }


def _partition(aws: clients.Clients, _arguments: Mapping[str, Any]) -> kinds.Properties:
    return {
        "dnsSuffix": aws.dns_suffix,
        "id": aws.partition,
        "partition": aws.partition,
        "reverseDnsPrefix": ".".join(reversed(aws.dns_suffix.split("."))),
    }


def _availability_zones(aws: clients.Clients, arguments: Mapping[str, Any]) -> kinds.Properties:
    state = arguments.get("state")
    filters = _filters({"state": state}, arguments)
    zones = aws.ec2.describe_availability_zones(**kinds.present(Filters=filters))["AvailabilityZones"]
    zones = sorted(zones, key=lambda zone: zone["ZoneName"])
    return {
        "groupNames": sorted({zone.get("GroupName") or aws.region for zone in zones}),
        "id": aws.region,
        "names": [zone["ZoneName"] for zone in zones],
        "region": aws.region,
        "zoneIds": [zone["ZoneId"] for zone in zones],
    }


def _ebs_volumes(aws: clients.Clients, arguments: Mapping[str, Any]) -> kinds.Properties:
    pages = aws.ec2.get_paginator("describe_volumes").paginate(Filters=_filters({}, arguments))
    ids = sorted(volume["VolumeId"] for page in pages for volume in page["Volumes"])
    return {"id": aws.region, "ids": ids, "region": aws.region, "filters": arguments.get("filters") or []}


def _filters(named: Mapping[str, Any], arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return EC2 filters for *named* values, the tags and the explicit filters of a function's arguments."""
    given = {name: [str(value).lower() if value is True else value] for name, value in named.items() if value}
    tagged = {f"tag:{name}": [value] for name, value in (arguments.get("tags") or {}).items()}
    explicit = {one["name"]: one["values"] for one in arguments.get("filters") or []}
    return [{"Name": name, "Values": values} for name, values in {**given, **tagged, **explicit}.items()]


def _only(what: str, found: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the one object found. Raises `errors.AwsError` in the real provider's words when there is not one."""
    if not found:
        raise errors.AwsError(f"no matching {what} found")
    if len(found) > 1:
        raise errors.AwsError(
            f"multiple {what}s matched; use additional constraints to reduce matches to a single {what}"
        )
    return found[0]


def _subnet(aws: clients.Clients, arguments: Mapping[str, Any]) -> kinds.Properties:
    names = {
        "availability-zone": "availabilityZone",
        "availability-zone-id": "availabilityZoneId",
        "cidr-block": "cidrBlock",
        "default-for-az": "defaultForAz",
        "state": "state",
        "subnet-id": "id",
        "vpc-id": "vpcId",
    }
    filters = _filters({name: arguments.get(ours) for name, ours in names.items()}, arguments)
    subnet = _only("EC2 Subnet", aws.ec2.describe_subnets(**kinds.present(Filters=filters))["Subnets"])
    private_names = subnet.get("PrivateDnsNameOptionsOnLaunch", {})
    return {
        "arn": subnet["SubnetArn"],
        "assignIpv6AddressOnCreation": subnet["AssignIpv6AddressOnCreation"],
        "availabilityZone": subnet["AvailabilityZone"],
        "availabilityZoneId": subnet["AvailabilityZoneId"],
        "availableIpAddressCount": subnet["AvailableIpAddressCount"],
        "cidrBlock": subnet["CidrBlock"],
        "customerOwnedIpv4Pool": "",
        "defaultForAz": subnet["DefaultForAz"],
        "enableDns64": False,
        "enableLniAtDeviceIndex": 0,
        "enableResourceNameDnsARecordOnLaunch": private_names.get("EnableResourceNameDnsARecord", False),
        "enableResourceNameDnsAaaaRecordOnLaunch": private_names.get("EnableResourceNameDnsAAAARecord", False),
        "id": subnet["SubnetId"],
        "ipv6CidrBlock": "",
        "ipv6CidrBlockAssociationId": "",
        "ipv6Native": subnet["Ipv6Native"],
        "mapCustomerOwnedIpOnLaunch": False,
        "mapPublicIpOnLaunch": subnet["MapPublicIpOnLaunch"],
        "outpostArn": "",
        "ownerId": subnet["OwnerId"],
        "privateDnsHostnameTypeOnLaunch": private_names.get("HostnameType", "ip-name"),
        "region": aws.region,
        "state": subnet["State"],
        "tags": tags.to_map(subnet.get("Tags")),
        "vpcId": subnet["VpcId"],
    }


def _vpc(aws: clients.Clients, arguments: Mapping[str, Any]) -> kinds.Properties:
    names = {
        "cidr": "cidrBlock",
        "dhcp-options-id": "dhcpOptionsId",
        "is-default": "default",
        "state": "state",
        "vpc-id": "id",
    }
    filters = _filters({name: arguments.get(ours) for name, ours in names.items()}, arguments)
    vpc = _only("EC2 VPC", aws.ec2.describe_vpcs(**kinds.present(Filters=filters))["Vpcs"])
    vpc_id = vpc["VpcId"]
    associations = [
        {
            "associationId": one["AssociationId"],
            "cidrBlock": one["CidrBlock"],
            "state": one["CidrBlockState"]["State"],
        }
        for one in vpc["CidrBlockAssociationSet"]
    ]
    return {
        "arn": aws.arn("ec2", f"vpc/{vpc_id}"),
        "cidrBlock": vpc["CidrBlock"],
        "cidrBlockAssociations": associations,
        "default": vpc["IsDefault"],
        "dhcpOptionsId": vpc["DhcpOptionsId"],
        "enableDnsHostnames": steps.vpc_attribute(aws, vpc_id, "enableDnsHostnames"),
        "enableDnsSupport": steps.vpc_attribute(aws, vpc_id, "enableDnsSupport"),
        "enableNetworkAddressUsageMetrics": False,
        "id": vpc_id,
        "instanceTenancy": vpc["InstanceTenancy"],
        "ipv6AssociationId": "",
        "ipv6CidrBlock": "",
        "ipv6CidrBlockAssociations": [],
        "mainRouteTableId": steps.main_route_table_id(aws, vpc_id),
        "ownerId": vpc["OwnerId"],
        "region": aws.region,
        "state": vpc["State"],
        "tags": tags.to_map(vpc.get("Tags")),
    }


def _subnets(aws: clients.Clients, arguments: Mapping[str, Any]) -> kinds.Properties:
    pages = aws.ec2.get_paginator("describe_subnets").paginate(Filters=_filters({}, arguments))
    ids = sorted(subnet["SubnetId"] for page in pages for subnet in page["Subnets"])
    return {"id": aws.region, "ids": ids, "region": aws.region, "tags": arguments.get("tags") or {}}


POLICY_VERSION = "2012-10-17"

STATEMENT = {
    "actions": "Action",
    "notActions": "NotAction",
    "notResources": "NotResource",
    "resources": "Resource",
}
"""Lists of a statement: Pulumi's names and those of the policy language."""


def _policy_document(_aws: clients.Clients, arguments: Mapping[str, Any]) -> kinds.Properties:
    """Source: hashicorp/terraform-provider-aws, ``internal/service/iam/policy_document_data_source.go``, 2026-11."""
    overriding = {name for name in arguments if name.endswith(("PolicyDocuments", "Json"))}
    if unknown := sorted(overriding):
        raise errors.AwsError(f"the emulator of the aws provider does not know {', '.join(unknown)} of a document")
    version = arguments.get("version") or POLICY_VERSION
    statements = [_statement(one) for one in arguments.get("statements") or []]
    document = {"Version": version, **kinds.present(Id=arguments.get("policyId")), "Statement": statements}
    compact = json.dumps(document, separators=(",", ":"))
    return {"id": str(zlib.crc32(compact.encode())), "json": json.dumps(document, indent=2), "minifiedJson": compact}


def _statement(statement: Mapping[str, Any]) -> dict[str, Any]:
    lists = {theirs: _one_or_all(statement.get(ours) or []) for ours, theirs in STATEMENT.items()}
    conditions: dict[str, dict[str, Any]] = {}
    for one in statement.get("conditions") or []:
        conditions.setdefault(one["test"], {})[one["variable"]] = _one_or_all(one["values"])
    return kinds.present(
        Sid=statement.get("sid"),
        Effect=statement.get("effect") or "Allow",
        **lists,
        Principal=_principals(statement.get("principals") or []),
        NotPrincipal=_principals(statement.get("notPrincipals") or []),
        Condition=conditions,
    )


def _principals(principals: list[Mapping[str, Any]]) -> Any:
    if [(one["type"], one["identifiers"]) for one in principals] == [("*", ["*"])]:
        return "*"
    return {one["type"]: _one_or_all(one["identifiers"]) for one in principals}


def _one_or_all(values: list[str]) -> Any:
    return values[0] if len(values) == 1 else sorted(values)


FUNCTIONS: Mapping[str, Function] = {
    "aws:ebs/getEbsVolumes:getEbsVolumes": _ebs_volumes,
    "aws:ec2/getSubnet:getSubnet": _subnet,
    "aws:ec2/getSubnets:getSubnets": _subnets,
    "aws:ec2/getVpc:getVpc": _vpc,
    "aws:iam/getPolicyDocument:getPolicyDocument": _policy_document,
    "aws:index/getAvailabilityZones:getAvailabilityZones": _availability_zones,
    "aws:index/getCallerIdentity:getCallerIdentity": _caller_identity,
    "aws:index/getPartition:getPartition": _partition,
    "aws:index/getRegion:getRegion": _region,
}
"""By Pulumi's token."""


def call(token: str, aws: clients.Clients, arguments: Mapping[str, Any]) -> kinds.Properties:
    """
    Call the function *token* in the region it names.

    Raises `errors.AwsError` when this emulator lacks it, or with what AWS answered instead.
    """
    function = FUNCTIONS.get(token)
    if function is None:
        raise errors.AwsError(
            f"the emulator of the aws provider does not know the function {token}; it knows those of FUNCTIONS in "
            "nomad_csi_sandbox/aws/provider/functions.py: add one there, by its token"
        )
    try:
        return function(aws.in_region(arguments.get("region")), arguments)
    except (exceptions.ClientError, exceptions.BotoCoreError) as error:
        raise errors.AwsError(f"{token}: {faults.of_call('AWS', error)}") from error
