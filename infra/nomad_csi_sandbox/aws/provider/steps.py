"""
What a row of the table cannot say as one call: several calls, or a look first.

Source: hashicorp/terraform-provider-aws, ``internal/service`` (``ec2``, ``kms``, ``iam``, ``s3``, ``secretsmanager``),
read 2026-11.
"""

import json
from collections.abc import Mapping
from typing import Any

from nomad_csi import errors
from nomad_csi_sandbox.aws.provider import clients, kinds, refusals, tags

MAX_POLICY_VERSIONS = 5
"""Versions that IAM keeps of a policy. Source: IAM user guide, "IAM and AWS STS quotas", read 2026-11."""

ROUTE = {
    "cidrBlock": "DestinationCidrBlock",
    "ipv6CidrBlock": "DestinationIpv6CidrBlock",
    "gatewayId": "GatewayId",
    "natGatewayId": "NatGatewayId",
    "networkInterfaceId": "NetworkInterfaceId",
    "vpcPeeringConnectionId": "VpcPeeringConnectionId",
}
"""Parts of a route inside a route table: Pulumi's names and those of CreateRoute."""

Values = Mapping[str, Any]


def vpc_attribute(aws: clients.Clients, vpc_id: str, attribute: str) -> bool:
    """Return an attribute of a VPC, such as ``enableDnsSupport``."""
    key = attribute[0].upper() + attribute[1:]
    return bool(aws.ec2.describe_vpc_attribute(VpcId=vpc_id, Attribute=attribute)[key]["Value"])


def main_route_table_id(aws: clients.Clients, vpc_id: str) -> str:
    """Return the route table of subnets that have none of their own; empty when there is none."""
    filters = [{"Name": "vpc-id", "Values": [vpc_id]}, {"Name": "association.main", "Values": ["true"]}]
    tables = aws.ec2.describe_route_tables(Filters=filters)["RouteTables"]
    return str(tables[0]["RouteTableId"]) if tables else ""


def vpc_parts(aws: clients.Clients, identity: str, _found: Values) -> kinds.Properties:
    """Return what AWS makes with a VPC, and its attributes."""
    of_vpc = [{"Name": "vpc-id", "Values": [identity]}]
    default_group = [*of_vpc, {"Name": "group-name", "Values": ["default"]}]
    groups = aws.ec2.describe_security_groups(Filters=default_group)["SecurityGroups"]
    acls = aws.ec2.describe_network_acls(Filters=[*of_vpc, {"Name": "default", "Values": ["true"]}])["NetworkAcls"]
    table = main_route_table_id(aws, identity)
    return {
        "defaultNetworkAclId": acls[0]["NetworkAclId"] if acls else "",
        "defaultRouteTableId": table,
        "defaultSecurityGroupId": groups[0]["GroupId"] if groups else "",
        "enableDnsHostnames": vpc_attribute(aws, identity, "enableDnsHostnames"),
        "enableDnsSupport": vpc_attribute(aws, identity, "enableDnsSupport"),
        "mainRouteTableId": table,
    }


def default_vpc(aws: clients.Clients, _inputs: Values) -> str:
    """Return the default VPC of the region, made when there is none."""
    found = aws.ec2.describe_vpcs(Filters=[{"Name": "is-default", "Values": ["true"]}])["Vpcs"]
    return str((found[0] if found else aws.ec2.create_default_vpc()["Vpc"])["VpcId"])


def default_subnet(aws: clients.Clients, inputs: Values) -> str:
    """Return the default subnet of a zone, made when there is none."""
    zone = inputs["availabilityZone"]
    filters = [{"Name": "default-for-az", "Values": ["true"]}, {"Name": "availability-zone", "Values": [zone]}]
    found = aws.ec2.describe_subnets(Filters=filters)["Subnets"]
    return str((found[0] if found else aws.ec2.create_default_subnet(AvailabilityZone=zone)["Subnet"])["SubnetId"])


def attach_gateway(aws: clients.Clients, identity: str, values: Values) -> None:
    """Attach an internet gateway to the wanted VPC alone."""
    detach_gateway(aws, identity, values)
    if values.get("vpcId"):
        aws.ec2.attach_internet_gateway(InternetGatewayId=identity, VpcId=values["vpcId"])


def detach_gateway(aws: clients.Clients, identity: str, _values: Values) -> None:
    """Detach an internet gateway from its VPC."""
    [gateway] = aws.ec2.describe_internet_gateways(InternetGatewayIds=[identity])["InternetGateways"]
    for one in gateway["Attachments"]:
        aws.ec2.detach_internet_gateway(InternetGatewayId=identity, VpcId=one["VpcId"])


def routes(_aws: clients.Clients, _identity: str, found: Values) -> kinds.Properties:
    """Return the routes of a table, without the local one."""
    own = [one for one in found["Routes"] if one.get("GatewayId") != "local"]
    return {"routes": [{ours: one[theirs] for ours, theirs in ROUTE.items() if one.get(theirs)} for one in own]}


def set_routes(aws: clients.Clients, identity: str, values: Values) -> None:
    """Make the routes of a table equal to the wanted ones."""
    [table] = aws.ec2.describe_route_tables(RouteTableIds=[identity])["RouteTables"]
    live = canonical_routes(routes(aws, identity, table)["routes"])
    wanted = canonical_routes(values.get("routes"))
    for one in live:
        if one not in wanted:
            target = {key: value for key, value in _route(one).items() if key.startswith("Destination")}
            aws.ec2.delete_route(RouteTableId=identity, **target)
    for one in wanted:
        if one not in live:
            aws.ec2.create_route(RouteTableId=identity, **_route(one))


def canonical_routes(wanted: Any) -> Any:
    """Return routes without empty parts and without their order; a value that is not known yet stays as it is."""
    return wanted if isinstance(wanted, str) else sorted((kinds.compact(one) for one in wanted or []), key=str)


def _route(route: Values) -> dict[str, Any]:
    unknown = sorted(route.keys() - ROUTE.keys())
    if unknown:
        raise errors.AwsError(f"the emulator of the aws provider does not know {', '.join(unknown)} of a route")
    return {ROUTE[name]: value for name, value in route.items()}


def replace_main_table(aws: clients.Clients, inputs: Values) -> str:
    """Make another table the main one of its VPC, and return the id of that association."""
    return _set_main_table(aws, inputs["vpcId"], inputs["routeTableId"])


def original_table(aws: clients.Clients, _identity: str, found: Values) -> kinds.Properties:
    """Return the table that was made with the VPC; moto lists the tables of a VPC in the order of their creation."""
    tables = aws.ec2.describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [found["VpcId"]]}])["RouteTables"]
    return {"originalRouteTableId": tables[0]["RouteTableId"]}


def restore_main_table(aws: clients.Clients, _identity: str, values: Values) -> None:
    """Make the original table the main one again; a table that is one cannot be deleted."""
    _set_main_table(aws, values["vpcId"], values["originalRouteTableId"])


def _set_main_table(aws: clients.Clients, vpc_id: str, table_id: str) -> str:
    filters = [{"Name": "vpc-id", "Values": [vpc_id]}, {"Name": "association.main", "Values": ["true"]}]
    [table] = aws.ec2.describe_route_tables(Filters=filters)["RouteTables"]
    [association] = [one["RouteTableAssociationId"] for one in table["Associations"] if one["Main"]]
    reply = aws.ec2.replace_route_table_association(AssociationId=association, RouteTableId=table_id)
    return str(reply["NewAssociationId"])


def key_policy(aws: clients.Clients, identity: str, _found: Values) -> kinds.Properties:
    """Return the policy of a KMS key."""
    return {"policy": aws.of("kms").get_key_policy(KeyId=identity, PolicyName="default")["Policy"]}


def key_parts(aws: clients.Clients, identity: str, found: Values) -> kinds.Properties:
    """Return the policy of a KMS key, and whether it rotates."""
    rotates = aws.of("kms").get_key_rotation_status(KeyId=identity)["KeyRotationEnabled"]
    return {**key_policy(aws, identity, found), "enableKeyRotation": rotates}


def key_id(key: Any) -> Any:
    """Return the id of a key that is named by id or ARN."""
    return str(key).rpartition("key/")[2]


def alias_parts(aws: clients.Clients, _identity: str, found: Values) -> kinds.Properties:
    """Return the ARN of the key that an alias is for."""
    return {"targetKeyArn": aws.arn("kms", f"key/{found['TargetKeyId']}")}


def rotate_key(aws: clients.Clients, identity: str, values: Values) -> None:
    """Switch the rotation of a key on or off."""
    kms = aws.of("kms")
    (kms.enable_key_rotation if values.get("enableKeyRotation") else kms.disable_key_rotation)(KeyId=identity)


def enable_key(aws: clients.Clients, identity: str, values: Values) -> None:
    """Enable or disable a key."""
    kms = aws.of("kms")
    (kms.disable_key if values.get("isEnabled") is False else kms.enable_key)(KeyId=identity)


def replicate_key(aws: clients.Clients, inputs: Values) -> str:
    """Ask the region of the primary key for a replica here."""
    primary = inputs["primaryKeyArn"]
    kms = aws.in_region(primary.split(":")[3]).of("kms")
    reply = kms.replicate_key(KeyId=key_id(primary), ReplicaRegion=aws.region)
    return str(reply["ReplicaKeyMetadata"]["KeyId"])


def set_role_of_profile(aws: clients.Clients, identity: str, values: Values) -> None:
    """Give an instance profile the wanted role alone; it can have one."""
    empty_profile(aws, identity, values)
    if values.get("role"):
        aws.iam.add_role_to_instance_profile(InstanceProfileName=identity, RoleName=values["role"])


def empty_profile(aws: clients.Clients, identity: str, _values: Values) -> None:
    """Take the role out of an instance profile."""
    for role in aws.iam.get_instance_profile(InstanceProfileName=identity)["InstanceProfile"]["Roles"]:
        aws.iam.remove_role_from_instance_profile(InstanceProfileName=identity, RoleName=role["RoleName"])


def policy_parts(aws: clients.Clients, identity: str, found: Values) -> kinds.Properties:
    """Return the document of a policy's default version, and its description."""
    version = aws.iam.get_policy_version(PolicyArn=identity, VersionId=found["DefaultVersionId"])["PolicyVersion"]
    return {"description": found.get("Description", ""), "policy": _text(version["Document"])}


def put_policy_version(aws: clients.Clients, identity: str, values: Values) -> None:
    """Make the document the default version of a policy; the oldest one goes where IAM keeps no more."""
    versions = _policy_versions(aws, identity)
    if len(versions) >= MAX_POLICY_VERSIONS:
        oldest = min((one for one in versions if not one["IsDefaultVersion"]), key=_age)
        aws.iam.delete_policy_version(PolicyArn=identity, VersionId=oldest["VersionId"])
    aws.iam.create_policy_version(PolicyArn=identity, PolicyDocument=values["policy"], SetAsDefault=True)


def drop_policy_versions(aws: clients.Clients, identity: str, _values: Values) -> None:
    """Remove the versions of a policy beside the default one; what a role still has is refused."""
    refusals.attached_policy(aws, identity)
    for version in _policy_versions(aws, identity):
        if not version["IsDefaultVersion"]:
            aws.iam.delete_policy_version(PolicyArn=identity, VersionId=version["VersionId"])


def _policy_versions(aws: clients.Clients, arn: str) -> list[dict[str, Any]]:
    return list(aws.iam.list_policy_versions(PolicyArn=arn)["Versions"])


def _age(version: Values) -> int:
    return int(version["VersionId"].removeprefix("v"))


def role_parts(aws: clients.Clients, identity: str, found: Values) -> kinds.Properties:
    """Return the trust policy of a role as text, its description, and the policies that it has."""
    return {
        "assumeRolePolicy": _text(found["AssumeRolePolicyDocument"]),
        "description": found.get("Description", ""),
        "managedPolicyArns": _attached_policies(aws, identity),
    }


def update_role(aws: clients.Clients, identity: str, values: Values) -> None:
    """Change the description and the longest session of a role; without a description it has an empty one."""
    duration = int(values["maxSessionDuration"])
    aws.iam.update_role(RoleName=identity, Description=values.get("description") or "", MaxSessionDuration=duration)


def empty_role(aws: clients.Clients, identity: str, values: Values) -> None:
    """Take a role out of its instance profiles; detach its policies only where that is wanted."""
    for profile in aws.iam.list_instance_profiles_for_role(RoleName=identity)["InstanceProfiles"]:
        aws.iam.remove_role_from_instance_profile(InstanceProfileName=profile["InstanceProfileName"], RoleName=identity)
    for arn in _attached_policies(aws, identity) if values.get("forceDetachPolicies") else []:
        aws.iam.detach_role_policy(RoleName=identity, PolicyArn=arn)


def _attached_policies(aws: clients.Clients, role_name: str) -> list[str]:
    pages = aws.iam.get_paginator("list_attached_role_policies").paginate(RoleName=role_name)
    return sorted(policy["PolicyArn"] for page in pages for policy in page["AttachedPolicies"])


def _text(policy: Any) -> str:
    """Return a policy document as text; botocore has parsed it already."""
    return policy if isinstance(policy, str) else json.dumps(policy)


def document(_aws: clients.Clients, _identity: str, found: Values) -> kinds.Properties:
    """Return the document of a role's own policy as text; botocore has parsed it."""
    return {"policy": _text(found["PolicyDocument"])}


def make_bucket(aws: clients.Clients, inputs: Values) -> str:
    """Make a bucket; ``us-east-1`` is the one region that may not be named."""
    place = {} if aws.region == "us-east-1" else {"CreateBucketConfiguration": {"LocationConstraint": aws.region}}
    aws.of("s3").create_bucket(Bucket=inputs["bucket"], **place)
    return str(inputs["bucket"])


def bucket_parts(aws: clients.Clients, identity: str, _found: Values) -> kinds.Properties:
    """Return the names of a bucket, and its tags: a bucket without tags has an error for them."""
    tagged = aws.of("resourcegroupstaggingapi").get_resources(
        ResourceARNList=[f"arn:{aws.partition}:s3:::{identity}"], ResourceTypeFilters=[]
    )
    pairs = [pair for one in tagged["ResourceTagMappingList"] for pair in one["Tags"]]
    return {
        "arn": f"arn:{aws.partition}:s3:::{identity}",
        "bucket": identity,
        "bucketDomainName": f"{identity}.s3.{aws.dns_suffix}",
        "bucketRegionalDomainName": f"{identity}.s3.{aws.region}.{aws.dns_suffix}",
        "tagsAll": tags.to_map(pairs),
    }


def empty_bucket(aws: clients.Clients, identity: str, values: Values) -> None:
    """Remove what is in a bucket whose program says ``forceDestroy``."""
    if values.get("forceDestroy"):
        s3 = aws.of("s3")
        pages = s3.get_paginator("list_objects_v2").paginate(Bucket=identity)
        for key in [one["Key"] for page in pages for one in page.get("Contents", ())]:
            s3.delete_object(Bucket=identity, Key=key)


def delete_secret(aws: clients.Clients, identity: str, values: Values) -> None:
    """Delete a secret after its days of grace, at once when there are none."""
    days = int(values.get("recoveryWindowInDays") or 0)
    how = {"RecoveryWindowInDays": days} if days else {"ForceDeleteWithoutRecovery": True}
    aws.of("secretsmanager").delete_secret(SecretId=identity, **how)
