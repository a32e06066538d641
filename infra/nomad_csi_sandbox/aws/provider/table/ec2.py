"""Networks of EC2. Source: hashicorp/terraform-provider-aws, ``internal/service/ec2``, read 2026-11."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from nomad_csi import errors
from nomad_csi_sandbox.aws.provider import clients, forms
from nomad_csi_sandbox.aws.provider.rows import Properties, Row, Tagging, Values, call

ARN = "arn:{partition}:ec2:{region}:{account}:"
"""How the ARNs of EC2 begin, for `Row.derived`."""

TAGS = Tagging(
    tag=call("create_tags", Resources=["$id"], Tags="$tags"),
    untag=call("delete_tags", Resources=["$id"], Tags="$droppedPairs"),
)


def tagged(resource_type: str) -> Mapping[str, Any]:
    """Return the argument of a create of EC2 that sets the tags."""
    return {"TagSpecifications": [{"ResourceType": resource_type, "Tags": "$tags"}]}


ROUTE = {
    "cidrBlock": "DestinationCidrBlock",
    "ipv6CidrBlock": "DestinationIpv6CidrBlock",
    "gatewayId": "GatewayId",
    "natGatewayId": "NatGatewayId",
    "networkInterfaceId": "NetworkInterfaceId",
    "vpcPeeringConnectionId": "VpcPeeringConnectionId",
}
"""Parts of a route inside a route table: Pulumi's names and those of CreateRoute."""


DNS = {"enableDnsSupport": "EnableDnsSupport", "enableDnsHostnames": "EnableDnsHostnames"}


def _vpc_parts(aws: clients.Clients, identity: str, _found: Values) -> Properties:
    """Return what AWS makes with a VPC, and its attributes."""
    of_vpc = [{"Name": "vpc-id", "Values": [identity]}]
    default_group = [*of_vpc, {"Name": "group-name", "Values": ["default"]}]
    groups = aws.ec2.describe_security_groups(Filters=default_group)["SecurityGroups"]
    acls = aws.ec2.describe_network_acls(Filters=[*of_vpc, {"Name": "default", "Values": ["true"]}])["NetworkAcls"]
    main = _main_tables(aws, identity)
    table = main[0]["RouteTableId"] if main else ""
    return {
        "defaultNetworkAclId": acls[0]["NetworkAclId"] if acls else "",
        "defaultRouteTableId": table,
        "defaultSecurityGroupId": groups[0]["GroupId"] if groups else "",
        "mainRouteTableId": table,
        **{
            name: aws.ec2.describe_vpc_attribute(VpcId=identity, Attribute=name)[capital]["Value"]
            for name, capital in DNS.items()
        },
    }


def _main_tables(aws: clients.Clients, vpc_id: str) -> list[dict[str, Any]]:
    """Return the route table of subnets that have none of their own, if there is one."""
    filters = [{"Name": "vpc-id", "Values": [vpc_id]}, {"Name": "association.main", "Values": ["true"]}]
    return list(aws.ec2.describe_route_tables(Filters=filters)["RouteTables"])


def _default_vpc(aws: clients.Clients, _inputs: Values) -> str:
    """Return the default VPC of the region, made when there is none."""
    found = aws.ec2.describe_vpcs(Filters=[{"Name": "is-default", "Values": ["true"]}])["Vpcs"]
    return str((found[0] if found else aws.ec2.create_default_vpc()["Vpc"])["VpcId"])


def _default_subnet(aws: clients.Clients, inputs: Values) -> str:
    """Return the default subnet of a zone, made when there is none."""
    zone = inputs["availabilityZone"]
    filters = [{"Name": "default-for-az", "Values": ["true"]}, {"Name": "availability-zone", "Values": [zone]}]
    found = aws.ec2.describe_subnets(Filters=filters)["Subnets"]
    return str((found[0] if found else aws.ec2.create_default_subnet(AvailabilityZone=zone)["Subnet"])["SubnetId"])


def _attach_gateway(aws: clients.Clients, identity: str, values: Values) -> None:
    """Attach an internet gateway to the wanted VPC alone."""
    _detach_gateway(aws, identity, values)
    if values.get("vpcId"):
        aws.ec2.attach_internet_gateway(InternetGatewayId=identity, VpcId=values["vpcId"])


def _detach_gateway(aws: clients.Clients, identity: str, _values: Values) -> None:
    [gateway] = aws.ec2.describe_internet_gateways(InternetGatewayIds=[identity])["InternetGateways"]
    for one in gateway["Attachments"]:
        aws.ec2.detach_internet_gateway(InternetGatewayId=identity, VpcId=one["VpcId"])


def _routes(_aws: clients.Clients, _identity: str, found: Values) -> Properties:
    """Return the routes of a table, without the local one."""
    own = [one for one in found["Routes"] if one.get("GatewayId") != "local"]
    return {"routes": [{ours: one[theirs] for ours, theirs in ROUTE.items() if one.get(theirs)} for one in own]}


def _set_routes(aws: clients.Clients, identity: str, values: Values) -> None:
    """Make the routes of a table equal to the wanted ones."""
    [table] = aws.ec2.describe_route_tables(RouteTableIds=[identity])["RouteTables"]
    live = [_route(one) for one in _routes(aws, identity, table)["routes"]]
    wanted = [_route(one) for one in values.get("routes") or []]
    for one in (route for route in live if route not in wanted):
        target = {key: value for key, value in one.items() if key.startswith("Destination")}
        aws.ec2.delete_route(RouteTableId=identity, **target)
    for one in (route for route in wanted if route not in live):
        aws.ec2.create_route(RouteTableId=identity, **one)


def _route(route: Values) -> dict[str, Any]:
    given = forms.present(**route)
    if unknown := sorted(given.keys() - ROUTE.keys()):
        raise errors.AwsError(f"the emulator of the aws provider does not know {', '.join(unknown)} of a route")
    return {ROUTE[name]: value for name, value in given.items()}


VPC = Row(
    token="aws:ec2/vpc:Vpc",
    title="EC2 VPC",
    inputs="cidrBlock enableDnsHostnames? enableDnsSupport? instanceTenancy?",
    outputs="arn defaultNetworkAclId defaultRouteTableId defaultSecurityGroupId dhcpOptionsId mainRouteTableId ownerId",
    create=call("create_vpc"),
    identity="Vpc.VpcId",
    settings={
        name: call("modify_vpc_attribute", VpcId="$id", **{capital: {"Value": f"${name}"}})
        for name, capital in DNS.items()
    },
    read=call("describe_vpcs", VpcIds=["$id"]),
    found="Vpcs[0]",
    derived={"arn": ARN + "vpc/{id}"},
    more=_vpc_parts,
    delete=(call("delete_vpc", VpcId="$id"),),
    tagging=TAGS,
    tags_in_create=tagged("vpc"),
)

SUBNET = Row(
    token="aws:ec2/subnet:Subnet",
    title="EC2 Subnet",
    inputs="vpcId! cidrBlock availabilityZone? availabilityZoneId? mapPublicIpOnLaunch?",
    outputs="arn ownerId",
    create=call("create_subnet"),
    identity="Subnet.SubnetId",
    settings={
        "mapPublicIpOnLaunch": call(
            "modify_subnet_attribute", SubnetId="$id", MapPublicIpOnLaunch={"Value": "$mapPublicIpOnLaunch"}
        )
    },
    read=call("describe_subnets", SubnetIds=["$id"]),
    found="Subnets[0]",
    names={"arn": "SubnetArn"},
    delete=(call("delete_subnet", SubnetId="$id"),),
    tagging=TAGS,
    tags_in_create=tagged("subnet"),
)

ROUTE_TABLE = Row(
    token="aws:ec2/routeTable:RouteTable",
    title="EC2 Route Table",
    inputs="vpcId! routes?",
    outputs="arn ownerId",
    create=call("create_route_table"),
    identity="RouteTable.RouteTableId",
    settings={"routes": _set_routes},
    read=call("describe_route_tables", RouteTableIds=["$id"]),
    found="RouteTables[0]",
    derived={"arn": ARN + "route-table/{id}"},
    more=_routes,
    delete=(call("delete_route_table", RouteTableId="$id"),),
    forms={"routes": forms.SET},
    tagging=TAGS,
    tags_in_create=tagged("route-table"),
)

ROUTE_TABLE_ASSOCIATION = Row(
    token="aws:ec2/routeTableAssociation:RouteTableAssociation",
    title="EC2 Route Table Association",
    inputs="routeTableId! subnetId gatewayId",
    create=call("associate_route_table"),
    identity="AssociationId",
    read=call("describe_route_tables", Filters=[{"Name": "association.route-table-association-id", "Values": ["$id"]}]),
    found="RouteTables[].Associations[] | [?RouteTableAssociationId=='{id}'] | [0]",
    delete=(call("disassociate_route_table", AssociationId="$id"),),
    delete_before_replace=True,
)

ROWS = (
    VPC,
    SUBNET,
    dataclasses.replace(
        VPC,
        token="aws:ec2/defaultVpc:DefaultVpc",
        title="EC2 Default VPC",
        inputs="enableDnsHostnames? enableDnsSupport? forceDestroy",
        outputs=f"{VPC.outputs} cidrBlock instanceTenancy",
        create=_default_vpc,
        unsent="forceDestroy",
        delete=(),
    ),
    dataclasses.replace(
        SUBNET,
        token="aws:ec2/defaultSubnet:DefaultSubnet",
        title="EC2 Default Subnet",
        inputs="availabilityZone! mapPublicIpOnLaunch? forceDestroy",
        outputs=f"{SUBNET.outputs} availabilityZoneId cidrBlock vpcId",
        create=_default_subnet,
        unsent="forceDestroy",
        delete=(),
    ),
    Row(
        token="aws:ec2/internetGateway:InternetGateway",
        title="EC2 Internet Gateway",
        inputs="vpcId?",
        outputs="arn ownerId",
        create=call("create_internet_gateway"),
        identity="InternetGateway.InternetGatewayId",
        settings={"vpcId": _attach_gateway},
        read=call("describe_internet_gateways", InternetGatewayIds=["$id"]),
        found="InternetGateways[0]",
        names={"vpcId": "Attachments[0].VpcId"},
        derived={"arn": ARN + "internet-gateway/{id}"},
        delete=(_detach_gateway, call("delete_internet_gateway", InternetGatewayId="$id")),
        tagging=TAGS,
        tags_in_create=tagged("internet-gateway"),
    ),
    ROUTE_TABLE,
    Row(
        token="aws:ec2/route:Route",
        title="EC2 Route",
        inputs="routeTableId! destinationCidrBlock! gatewayId natGatewayId networkInterfaceId",
        outputs="origin state",
        create=call("create_route"),
        identity="{routeTableId}:{destinationCidrBlock}",
        separator=":",
        read=call("describe_route_tables", RouteTableIds=["$1"]),
        found="RouteTables[0].Routes[?DestinationCidrBlock=='{2}'] | [0]",
        delete=(call("delete_route", RouteTableId="$1", DestinationCidrBlock="$2"),),
        delete_before_replace=True,
    ),
    ROUTE_TABLE_ASSOCIATION,
)
