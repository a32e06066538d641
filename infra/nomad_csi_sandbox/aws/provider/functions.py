"""The functions of the real provider that the stack calls: what they return, in Pulumi's names."""

import json
import zlib
from collections.abc import Callable, Mapping
from typing import Any

from botocore import exceptions

from nomad_csi import errors
from nomad_csi_sandbox.aws.provider import clients, faults, forms, rows
from nomad_csi_sandbox.aws.provider.table import ec2

Function = Callable[[clients.Clients, Mapping[str, Any]], rows.Properties]


def _caller_identity(aws: clients.Clients, _arguments: Mapping[str, Any]) -> rows.Properties:
    caller = aws.caller()
    return {"accountId": caller["Account"], "arn": caller["Arn"], "id": caller["Account"], "userId": caller["UserId"]}


def _region(aws: clients.Clients, arguments: Mapping[str, Any]) -> rows.Properties:
    region = arguments.get("region") or arguments.get("name") or aws.region
    suffix = aws.in_region(region).dns_suffix
    return {
        "description": "emulator: moto",
        "endpoint": f"ec2.{region}.{suffix}",
        "id": region,
        "name": region,
        "region": region,
    }


def _partition(aws: clients.Clients, _arguments: Mapping[str, Any]) -> rows.Properties:
    return {
        "dnsSuffix": aws.dns_suffix,
        "id": aws.partition,
        "partition": aws.partition,
        "reverseDnsPrefix": ".".join(reversed(aws.dns_suffix.split("."))),
    }


def _availability_zones(aws: clients.Clients, arguments: Mapping[str, Any]) -> rows.Properties:
    state = arguments.get("state")
    filters = _filters({"state": state}, arguments)
    zones = aws.ec2.describe_availability_zones(**forms.present(Filters=filters))["AvailabilityZones"]
    zones = sorted(zones, key=lambda zone: zone["ZoneName"])
    return {
        "groupNames": sorted({zone.get("GroupName") or aws.region for zone in zones}),
        "id": aws.region,
        "names": [zone["ZoneName"] for zone in zones],
        "region": aws.region,
        "zoneIds": [zone["ZoneId"] for zone in zones],
    }


def _ebs_volumes(aws: clients.Clients, arguments: Mapping[str, Any]) -> rows.Properties:
    found = _ids(aws, arguments, "describe_volumes", "Volumes[].VolumeId")
    return found | {"filters": arguments.get("filters") or []}


def _ids(aws: clients.Clients, arguments: Mapping[str, Any], operation: str, path: str) -> rows.Properties:
    """Return the ids at *path* of all pages that the filters of *arguments* leave."""
    pages = aws.ec2.get_paginator(operation).paginate(Filters=_filters({}, arguments))
    return {"id": aws.region, "ids": sorted(pages.search(path)), "region": aws.region}


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


def _subnet(aws: clients.Clients, arguments: Mapping[str, Any]) -> rows.Properties:
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
    subnet = _only("EC2 Subnet", aws.ec2.describe_subnets(**forms.present(Filters=filters))["Subnets"])
    private_names = subnet.get("PrivateDnsNameOptionsOnLaunch", {})
    shown = "arn availabilityZone availabilityZoneId cidrBlock mapPublicIpOnLaunch ownerId vpcId"
    return {
        **_shown(aws, ec2.SUBNET, subnet["SubnetId"], shown),
        **dict.fromkeys(("customerOwnedIpv4Pool", "ipv6CidrBlock", "ipv6CidrBlockAssociationId", "outpostArn"), ""),
        "assignIpv6AddressOnCreation": subnet["AssignIpv6AddressOnCreation"],
        "availableIpAddressCount": subnet["AvailableIpAddressCount"],
        "defaultForAz": subnet["DefaultForAz"],
        "enableDns64": False,
        "enableLniAtDeviceIndex": 0,
        "enableResourceNameDnsARecordOnLaunch": private_names.get("EnableResourceNameDnsARecord", False),
        "enableResourceNameDnsAaaaRecordOnLaunch": private_names.get("EnableResourceNameDnsAAAARecord", False),
        "ipv6Native": subnet["Ipv6Native"],
        "mapCustomerOwnedIpOnLaunch": False,
        "privateDnsHostnameTypeOnLaunch": private_names.get("HostnameType", "ip-name"),
        "state": subnet["State"],
    }


def _shown(aws: clients.Clients, row: rows.Row, identity: str, names: str) -> rows.Properties:
    """Return the properties *names* that a resource of the type has as well, its id, region and tags."""
    live = row.look(aws, identity) or {}
    own = {"id": identity, "region": aws.region, "tags": live["tagsAll"]}
    return {name: live[name] for name in names.split()} | own


def _vpc(aws: clients.Clients, arguments: Mapping[str, Any]) -> rows.Properties:
    names = {
        "cidr": "cidrBlock",
        "dhcp-options-id": "dhcpOptionsId",
        "is-default": "default",
        "state": "state",
        "vpc-id": "id",
    }
    filters = _filters({name: arguments.get(ours) for name, ours in names.items()}, arguments)
    vpc = _only("EC2 VPC", aws.ec2.describe_vpcs(**forms.present(Filters=filters))["Vpcs"])
    associations = [
        {"associationId": one["AssociationId"], "cidrBlock": one["CidrBlock"], "state": one["CidrBlockState"]["State"]}
        for one in vpc["CidrBlockAssociationSet"]
    ]
    shown = "arn cidrBlock dhcpOptionsId enableDnsHostnames enableDnsSupport instanceTenancy mainRouteTableId ownerId"
    return {
        **_shown(aws, ec2.VPC, vpc["VpcId"], shown),
        "cidrBlockAssociations": associations,
        "default": vpc["IsDefault"],
        "enableNetworkAddressUsageMetrics": False,
        "ipv6AssociationId": "",
        "ipv6CidrBlock": "",
        "ipv6CidrBlockAssociations": [],
        "state": vpc["State"],
    }


def _subnets(aws: clients.Clients, arguments: Mapping[str, Any]) -> rows.Properties:
    found = _ids(aws, arguments, "describe_subnets", "Subnets[].SubnetId")
    return found | {"tags": arguments.get("tags") or {}}


STATEMENT = {
    "actions": "Action",
    "notActions": "NotAction",
    "notResources": "NotResource",
    "resources": "Resource",
}
"""Lists of a statement: Pulumi's names and those of the policy language."""


def _policy_document(_aws: clients.Clients, arguments: Mapping[str, Any]) -> rows.Properties:
    """Source: hashicorp/terraform-provider-aws, ``internal/service/iam/policy_document_data_source.go``, 2026-11."""
    overriding = {name for name in arguments if name.endswith(("PolicyDocuments", "Json"))}
    if unknown := sorted(overriding):
        raise errors.AwsError(f"the emulator of the aws provider does not know {', '.join(unknown)} of a document")
    version = arguments.get("version") or "2012-10-17"
    statements = [_statement(one) for one in arguments.get("statements") or []]
    document = {"Version": version, **forms.present(Id=arguments.get("policyId")), "Statement": statements}
    compact = json.dumps(document, separators=(",", ":"))
    return {"id": str(zlib.crc32(compact.encode())), "json": json.dumps(document, indent=2), "minifiedJson": compact}


def _statement(statement: Mapping[str, Any]) -> dict[str, Any]:
    lists = {theirs: _one_or_all(statement.get(ours) or []) for ours, theirs in STATEMENT.items()}
    conditions: dict[str, dict[str, Any]] = {}
    for one in statement.get("conditions") or []:
        conditions.setdefault(one["test"], {})[one["variable"]] = _one_or_all(one["values"])
    return forms.present(
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


def call(token: str, aws: clients.Clients, arguments: Mapping[str, Any]) -> rows.Properties:
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
