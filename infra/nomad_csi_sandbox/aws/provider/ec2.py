"""
Security groups, with rules inside them or as objects of their own.

Source: hashicorp/terraform-provider-aws, ``internal/service/ec2/vpc_security_group.go`` and
``vpc_security_group_ingress_rule.go``, ``vpc_security_group_rule.go``, read 2026-11.
"""

import functools
import json
from collections.abc import Mapping
from typing import Any

from nomad_csi_sandbox.aws.provider import clients, ebs, kinds, refusals, tags

RANGES = {
    "cidrBlocks": ("IpRanges", "CidrIp"),
    "ipv6CidrBlocks": ("Ipv6Ranges", "CidrIpv6"),
    "prefixListIds": ("PrefixListIds", "PrefixListId"),
    "securityGroups": ("UserIdGroupPairs", "GroupId"),
}
"""Lists of peers in a rule: Pulumi's name, and where EC2 keeps the same."""

PERMISSIONS = {"ingress": "IpPermissions", "egress": "IpPermissionsEgress"}
"""Where EC2 keeps the rules of a direction."""

Permission = dict[str, Any]
"""One element of EC2's ``IpPermissions``."""


def _create_group(aws: clients.Clients, inputs: kinds.Properties) -> str:
    reply = aws.ec2.create_security_group(
        GroupName=inputs["name"],
        Description=inputs["description"],
        VpcId=inputs.get("vpcId") or _default_vpc_id(aws),
        **kinds.present(TagSpecifications=tags.to_specifications("security-group", inputs)),
    )
    return str(reply["GroupId"])


def _default_vpc_id(aws: clients.Clients) -> str:
    [vpc] = aws.ec2.describe_vpcs(Filters=[{"Name": "is-default", "Values": ["true"]}])["Vpcs"]
    return str(vpc["VpcId"])


def _finish_group(aws: clients.Clients, identity: str, inputs: Mapping[str, Any]) -> None:
    """Set the rules; those that EC2 makes itself (all egress) go, as with the real provider."""
    _set_rules(aws, identity, {"ingress": inputs.get("ingress"), "egress": inputs.get("egress") or []})


def _set_rules(aws: clients.Clients, identity: str, wanted: Mapping[str, Any]) -> None:
    """Make the rules of each direction named in *wanted* equal to it; a direction with ``None`` is left alone."""
    group = _group(aws, identity)
    for direction, key in PERMISSIONS.items():
        if wanted.get(direction) is not None:
            permissions = _permissions(wanted[direction], identity)
            _replace_permissions(identity, group[key], permissions, _authorize(aws, direction), _revoke(aws, direction))


def _replace_permissions(
    identity: str, live: list[Permission], wanted: list[Permission], authorize: Any, revoke: Any
) -> None:
    """Revoke what is too much, then authorize what is missing, one peer at a time."""
    have, want = ({_key(one): one for rule in rules for one in _split(rule)} for rules in (live, wanted))
    surplus = [one for key, one in have.items() if key not in want]
    missing = [one for key, one in want.items() if key not in have]
    if surplus:
        revoke(GroupId=identity, IpPermissions=surplus)
    if missing:
        authorize(GroupId=identity, IpPermissions=missing)


def _split(rule: Permission) -> list[Permission]:
    """Return one permission for each peer of *rule*; EC2 counts them as rules of their own."""
    ports = {name: rule[name] for name in ("IpProtocol", "FromPort", "ToPort") if rule.get(name) is not None}
    peers = [(key, name, peer) for key, name in RANGES.values() for peer in rule.get(key) or []]
    return [{**ports, key: [_peer(name, peer)]} for key, name, peer in peers]


def _peer(name: str, peer: Mapping[str, Any]) -> dict[str, Any]:
    return {part: peer[part] for part in (name, "Description") if peer.get(part)}


def _key(permission: Permission) -> str:
    """Return a text that is equal for equal permissions; a rule for all protocols has no ports."""
    ports = {} if permission["IpProtocol"] != "-1" else {"FromPort": None, "ToPort": None}
    return json.dumps({**permission, **ports}, sort_keys=True)


def _permissions(rules: Any, group_id: str) -> list[Permission]:
    """Return Pulumi's rules as EC2's."""
    return [_permission(rule, group_id) for rule in rules or []]


def _permission(rule: Mapping[str, Any], group_id: str) -> Permission:
    description = kinds.present(Description=rule.get("description"))
    peers = {
        key: [{name: value, **description} for value in rule.get(ours) or []] for ours, (key, name) in RANGES.items()
    }
    if rule.get("self"):
        peers["UserIdGroupPairs"].append({"GroupId": group_id, **description})
    all_protocols = rule["protocol"] in ("-1", "all")
    ports = {} if all_protocols else {"FromPort": rule["fromPort"], "ToPort": rule["toPort"]}
    return {"IpProtocol": "-1" if all_protocols else rule["protocol"], **ports, **peers}


def _rules(permissions: list[Permission], group_id: str) -> list[dict[str, Any]]:
    """Return EC2's permissions as Pulumi's rules, one for each protocol, port range and description."""
    rules: dict[tuple[Any, ...], dict[str, Any]] = {}
    for one in (one for permission in permissions for one in _split(permission)):
        [(ours, peer, name)] = [(ours, one[key][0], name) for ours, (key, name) in RANGES.items() if key in one]
        ports = (one["IpProtocol"], one.get("FromPort", 0), one.get("ToPort", 0), peer.get("Description", ""))
        rule = rules.setdefault(ports, _empty_rule(*ports))
        if peer[name] == group_id:
            rule["self"] = True
        else:
            rule.setdefault(ours, []).append(peer[name])
    return list(rules.values())


def _empty_rule(protocol: str, from_port: int, to_port: int, description: str) -> dict[str, Any]:
    ports = {"fromPort": 0, "toPort": 0} if protocol == "-1" else {"fromPort": from_port, "toPort": to_port}
    return {"protocol": protocol, **ports, **kinds.present(description=description)}


def _canonical_rules(rules: Any) -> Any:
    """Return the single permissions that *rules* come to, without order; a value not known yet stays as it is."""
    if isinstance(rules, str):
        return rules
    return sorted(_key(one) for permission in _permissions(rules, "self") for one in _split(permission))


def _group(aws: clients.Clients, identity: str) -> dict[str, Any]:
    return dict(aws.ec2.describe_security_groups(GroupIds=[identity])["SecurityGroups"][0])


def _read_group(aws: clients.Clients, identity: str) -> kinds.Properties:
    group = _group(aws, identity)
    return {
        "arn": aws.arn("ec2", f"security-group/{identity}"),
        "description": group["Description"],
        "egress": _rules(group["IpPermissionsEgress"], identity),
        "ingress": _rules(group["IpPermissions"], identity),
        "name": group["GroupName"],
        "ownerId": group["OwnerId"],
        "tagsAll": tags.to_map(group.get("Tags")),
        "vpcId": group["VpcId"],
    }


def _update_group(
    aws: clients.Clients, identity: str, old_inputs: Mapping[str, Any], inputs: Mapping[str, Any]
) -> None:
    _set_rules(aws, identity, inputs)
    ebs.retag(aws, identity, old_inputs, inputs)


def _delete_group(aws: clients.Clients, identity: str, _state: kinds.Properties) -> None:
    refusals.group_in_use(aws, identity)
    aws.ec2.delete_security_group(GroupId=identity)


PEERS = {
    "cidrIpv4": ("IpRanges", "CidrIp", "CidrIpv4"),
    "cidrIpv6": ("Ipv6Ranges", "CidrIpv6", "CidrIpv6"),
    "prefixListId": ("PrefixListIds", "PrefixListId", "PrefixListId"),
    "referencedSecurityGroupId": ("UserIdGroupPairs", "GroupId", "ReferencedGroupId"),
}
"""
The one peer of a rule that is an object of its own: Pulumi's name, where AuthorizeSecurityGroupIngress wants it (list,
member), and its name in ModifySecurityGroupRules.
"""


def _rule_kind(direction: str) -> kinds.Kind:
    """Return the type of an ``ingress`` or ``egress`` rule that is an object of its own."""
    capital = direction.capitalize()
    return kinds.Kind(
        token=f"aws:vpc/securityGroup{capital}Rule:SecurityGroup{capital}Rule",
        service="EC2",
        title="VPC Security Group Rule",
        inputs=frozenset({*PEERS, "description", "fromPort", "ipProtocol", "securityGroupId", "toPort"}),
        outputs=frozenset({"arn", "securityGroupRuleId"}),
        required=frozenset({"ipProtocol", "securityGroupId"}),
        fixed=frozenset({"securityGroupId"}),
        create=functools.partial(_create_rule, direction),
        read=_read_rule,
        update=_update_rule,
        delete=functools.partial(_delete_rule, direction),
    )


def _create_rule(direction: str, aws: clients.Clients, inputs: kinds.Properties) -> str:
    described = kinds.present(Description=inputs.get("description"))
    peers = {key: [{name: inputs[ours], **described}] for ours, (key, name, _) in PEERS.items() if inputs.get(ours)}
    reply = _authorize(aws, direction)(
        GroupId=inputs["securityGroupId"],
        IpPermissions=[{**_protocol(inputs), **peers}],
        **kinds.present(TagSpecifications=tags.to_specifications("security-group-rule", inputs)),
    )
    return str(reply["SecurityGroupRules"][0]["SecurityGroupRuleId"])


def _authorize(aws: clients.Clients, direction: str) -> Any:
    return getattr(aws.ec2, f"authorize_security_group_{direction}")


def _revoke(aws: clients.Clients, direction: str) -> Any:
    return getattr(aws.ec2, f"revoke_security_group_{direction}")


def _protocol(inputs: Mapping[str, Any]) -> dict[str, Any]:
    ports = {"FromPort": inputs.get("fromPort"), "ToPort": inputs.get("toPort")}
    return {"IpProtocol": inputs["ipProtocol"], **kinds.present(**ports)}


def _read_rule(aws: clients.Clients, identity: str) -> kinds.Properties:
    [rule] = aws.ec2.describe_security_group_rules(SecurityGroupRuleIds=[identity])["SecurityGroupRules"]
    all_protocols = rule["IpProtocol"] == "-1"
    return {
        "arn": aws.arn("ec2", f"security-group-rule/{identity}"),
        "cidrIpv4": rule.get("CidrIpv4"),
        "cidrIpv6": rule.get("CidrIpv6"),
        "description": rule.get("Description"),
        "fromPort": None if all_protocols else rule["FromPort"],
        "ipProtocol": rule["IpProtocol"],
        "prefixListId": rule.get("PrefixListId"),
        "referencedSecurityGroupId": rule.get("ReferencedGroupInfo", {}).get("GroupId"),
        "securityGroupId": rule["GroupId"],
        "securityGroupRuleId": identity,
        "tagsAll": tags.to_map(rule.get("Tags")),
        "toPort": None if all_protocols else rule["ToPort"],
    }


def _update_rule(aws: clients.Clients, identity: str, old_inputs: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
    peers = {name: inputs[ours] for ours, (_, _, name) in PEERS.items() if inputs.get(ours)}
    rule = {**_protocol(inputs), **peers, **kinds.present(Description=inputs.get("description"))}
    changes = [{"SecurityGroupRuleId": identity, "SecurityGroupRule": rule}]
    aws.ec2.modify_security_group_rules(GroupId=inputs["securityGroupId"], SecurityGroupRules=changes)
    ebs.retag(aws, identity, old_inputs, inputs)


def _delete_rule(direction: str, aws: clients.Clients, identity: str, state: kinds.Properties) -> None:
    _revoke(aws, direction)(GroupId=state["securityGroupId"], SecurityGroupRuleIds=[identity])


SECURITY_GROUP = kinds.Kind(
    token="aws:ec2/securityGroup:SecurityGroup",  # noqa: S106  # a type token, no secret
    service="EC2",
    title="Security Group",
    inputs=frozenset({"description", "egress", "ingress", "name", "vpcId"}),
    outputs=frozenset({"arn", "ownerId"}),
    fixed=frozenset({"description", "name", "vpcId"}),
    filled_in=frozenset({"egress", "ingress", "vpcId"}),
    defaults={"description": "Managed by Pulumi"},
    autonamed="name",
    canonical={"egress": _canonical_rules, "ingress": _canonical_rules},
    create=_create_group,
    finish=_finish_group,
    read=_read_group,
    update=_update_group,
    delete=_delete_group,
)

INGRESS_RULE = _rule_kind("ingress")
EGRESS_RULE = _rule_kind("egress")


def _create_group_rule(aws: clients.Clients, inputs: kinds.Properties) -> str:
    group = inputs["securityGroupId"]
    _authorize(aws, inputs["type"])(GroupId=group, IpPermissions=[_group_rule(inputs, group)])
    peers = [*_group_rule_peers(inputs)]
    ports = [str(int(inputs[name])) for name in ("fromPort", "toPort")]
    return "_".join([group, inputs["type"], inputs["protocol"], *ports, *peers])


def _group_rule(inputs: Mapping[str, Any], group: str) -> Permission:
    source = [inputs["sourceSecurityGroupId"]] if inputs.get("sourceSecurityGroupId") else []
    return _permission({**inputs, "securityGroups": source}, group)


def _group_rule_peers(inputs: Mapping[str, Any]) -> list[str]:
    """Return the peers of a rule as its id has them."""
    lists = [peer for name in ("cidrBlocks", "ipv6CidrBlocks", "prefixListIds") for peer in inputs.get(name) or []]
    source = [inputs["sourceSecurityGroupId"]] if inputs.get("sourceSecurityGroupId") else []
    return [*(["self"] if inputs.get("self") else []), *source, *lists]


def _read_group_rule(aws: clients.Clients, identity: str) -> kinds.Properties | None:
    """Return the rule that the id describes, ``None`` when the group lacks a part of it."""
    described = _described_rule(identity)
    group = _group(aws, described["securityGroupId"])
    live = {_bare(one) for rule in group[PERMISSIONS[described["type"]]] for one in _split(rule)}
    wanted = {_bare(one) for one in _split(_group_rule(described, described["securityGroupId"]))}
    return described | {"securityGroupRuleId": ""} if wanted <= live else None


def _bare(permission: Permission) -> str:
    """Return `_key` of a permission of one peer without its description."""
    lists = {
        key: [{name: peer[name] for name in peer if name != "Description"} for peer in value]
        for key, value in permission.items()
        if isinstance(value, list)
    }
    return _key({**permission, **lists})


def _described_rule(identity: str) -> dict[str, Any]:
    """Return what ``sg-1_ingress_tcp_2049_2049_10.0.0.0/16`` says; the provider imports rules by such ids."""
    group, direction, protocol, from_port, to_port, *peers = identity.split("_")
    named = {
        "cidrBlocks": [peer for peer in peers if "/" in peer and ":" not in peer],
        "ipv6CidrBlocks": [peer for peer in peers if ":" in peer],
        "prefixListIds": [peer for peer in peers if peer.startswith("pl-")],
    }
    [source] = [peer for peer in peers if peer.startswith("sg-")] or [""]
    return {
        "securityGroupId": group,
        "type": direction,
        "protocol": protocol,
        "fromPort": int(from_port),
        "toPort": int(to_port),
        "self": "self" in peers,
        "sourceSecurityGroupId": source,
        **named,
    }


def _delete_group_rule(aws: clients.Clients, identity: str, _state: kinds.Properties) -> None:
    described = _described_rule(identity)
    group = described["securityGroupId"]
    _revoke(aws, described["type"])(GroupId=group, IpPermissions=_split(_group_rule(described, group)))


_GROUP_RULE_INPUTS = (
    "cidrBlocks description fromPort ipv6CidrBlocks prefixListIds protocol securityGroupId self sourceSecurityGroupId "
    "toPort type"
)

GROUP_RULE = kinds.Kind(
    token="aws:ec2/securityGroupRule:SecurityGroupRule",  # noqa: S106  # a type token, no secret
    service="EC2",
    title="Security Group Rule",
    inputs=frozenset(_GROUP_RULE_INPUTS.split()),
    outputs=frozenset({"securityGroupRuleId"}),
    required=frozenset({"fromPort", "protocol", "securityGroupId", "toPort", "type"}),
    fixed=frozenset(_GROUP_RULE_INPUTS.split()),
    filled_in=frozenset({"self"}),
    delete_before_replace=True,
    has_tags=False,
    create=_create_group_rule,
    read=_read_group_rule,
    delete=_delete_group_rule,
)
