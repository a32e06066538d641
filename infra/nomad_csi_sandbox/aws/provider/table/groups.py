"""
Security groups, with rules inside them or as objects of their own.

Source: hashicorp/terraform-provider-aws, ``internal/service/ec2/vpc_security_group.go``,
``vpc_security_group_ingress_rule.go`` and ``vpc_security_group_rule.go``, read 2026-11.
"""

import json
from typing import Any

from nomad_csi_sandbox.aws.provider import clients, forms, refusals
from nomad_csi_sandbox.aws.provider.rows import Properties, Row, Values, call
from nomad_csi_sandbox.aws.provider.table import ec2

RANGES = {
    "cidrBlocks": ("IpRanges", "CidrIp"),
    "ipv6CidrBlocks": ("Ipv6Ranges", "CidrIpv6"),
    "prefixListIds": ("PrefixListIds", "PrefixListId"),
    "securityGroups": ("UserIdGroupPairs", "GroupId"),
}
"""Lists of peers in a rule: Pulumi's name, and where EC2 keeps the same."""

PEERS = {
    "cidrIpv4": "cidrBlocks",
    "cidrIpv6": "ipv6CidrBlocks",
    "prefixListId": "prefixListIds",
    "referencedSecurityGroupId": "securityGroups",
    "sourceSecurityGroupId": "securityGroups",
}
"""The one peer of a rule that is an object of its own, and the list that it would be in."""

PERMISSIONS = {"ingress": "IpPermissions", "egress": "IpPermissionsEgress"}
"""Where EC2 keeps the rules of a direction."""

Permission = dict[str, Any]
"""One element of EC2's ``IpPermissions``."""


def _change(aws: clients.Clients, verb: str, direction: str, group_id: str, permissions: list[Permission]) -> Any:
    """``authorize`` or ``revoke`` *permissions*; nothing is sent when there are none."""
    work = getattr(aws.ec2, f"{verb}_security_group_{direction}")
    return work(GroupId=group_id, IpPermissions=permissions) if permissions else None


def _group(aws: clients.Clients, identity: str) -> dict[str, Any]:
    return dict(aws.ec2.describe_security_groups(GroupIds=[identity])["SecurityGroups"][0])


def _set_rules(aws: clients.Clients, identity: str, values: Values) -> None:
    """Make the rules of each direction in *values* equal to it, one peer at a time; the other direction stays."""
    group = _group(aws, identity)
    for direction, key in PERMISSIONS.items():
        if values.get(direction) is not None:
            have = {_key(one): one for one in _split(group[key])}
            want = {_key(one): one for one in _split(_permissions(values[direction], identity))}
            _change(aws, "revoke", direction, identity, [one for name, one in have.items() if name not in want])
            _change(aws, "authorize", direction, identity, [one for name, one in want.items() if name not in have])


def _split(permissions: list[Permission]) -> list[Permission]:
    """Return one permission for each peer; EC2 counts them as rules of their own."""
    return [
        {
            **{name: rule[name] for name in ("IpProtocol", "FromPort", "ToPort") if rule.get(name) is not None},
            key: [{part: peer[part] for part in (name, "Description") if peer.get(part)}],
        }
        for rule in permissions
        for key, name in RANGES.values()
        for peer in rule.get(key) or []
    ]


def _key(permission: Permission) -> str:
    """Return a text that is equal for equal permissions; a rule for all protocols has no ports."""
    ports = {} if permission["IpProtocol"] != "-1" else {"FromPort": None, "ToPort": None}
    return json.dumps({**permission, **ports}, sort_keys=True)


def _permissions(rules: Any, group_id: str) -> list[Permission]:
    """Return Pulumi's rules as EC2's."""
    return [_permission(rule, group_id) for rule in rules or []]


def _permission(rule: Values, group_id: str) -> Permission:
    description = forms.present(Description=rule.get("description"))
    one = {PEERS[name]: [rule[name]] for name in PEERS if rule.get(name)}
    peers = {
        key: [{name: value, **description} for value in rule.get(ours) or one.get(ours) or []]
        for ours, (key, name) in RANGES.items()
    }
    if rule.get("self"):
        peers["UserIdGroupPairs"].append({"GroupId": group_id, **description})
    protocol = rule.get("protocol") or rule["ipProtocol"]
    all_protocols = protocol in ("-1", "all")
    ports = {} if all_protocols else forms.present(FromPort=rule.get("fromPort"), ToPort=rule.get("toPort"))
    return {
        "IpProtocol": "-1" if all_protocols else protocol,
        **ports,
        **{key: one for key, one in peers.items() if one},
    }


def _rules(permissions: list[Permission], group_id: str) -> list[dict[str, Any]]:
    """Return EC2's permissions as Pulumi's rules, one for each protocol, port range and description."""
    rules: dict[tuple[Any, ...], dict[str, Any]] = {}
    for one in _split(permissions):
        [(ours, peer, name)] = [(ours, one[key][0], name) for ours, (key, name) in RANGES.items() if key in one]
        protocol, description = one["IpProtocol"], peer.get("Description", "")
        ports = (0, 0) if protocol == "-1" else (one.get("FromPort", 0), one.get("ToPort", 0))
        shown = {"protocol": protocol, "fromPort": ports[0], "toPort": ports[1]}
        rule = rules.setdefault((protocol, *ports, description), shown | forms.present(description=description))
        if peer[name] == group_id:
            rule["self"] = True
        else:
            rule.setdefault(ours, []).append(peer[name])
    return list(rules.values())


def _single_permissions(rules: Any) -> Any:
    """Return the single permissions that *rules* come to, without order; a value not known yet stays as it is."""
    return rules if isinstance(rules, str) else sorted(_key(one) for one in _split(_permissions(rules, "self")))


def _both_directions(_aws: clients.Clients, identity: str, group: Values) -> Properties:
    return {direction: _rules(group[key], identity) for direction, key in PERMISSIONS.items()}


RULES = forms.Form(meaning=_single_permissions)
GROUP = Row(
    token="aws:ec2/securityGroup:SecurityGroup",
    title="Security Group",
    inputs="description egress? ingress? name vpcId?",
    outputs="arn ownerId",
    create=call("create_security_group"),
    identity="GroupId",
    # the rule that EC2 makes itself goes, as with the real provider
    finish=lambda aws, identity, _: _set_rules(aws, identity, {"egress": []}),
    settings={"egress ingress": _set_rules},
    read=call("describe_security_groups", GroupIds=["$id"]),
    found="SecurityGroups[0]",
    names={"name": "GroupName"},
    derived={"arn": ec2.ARN + "security-group/{id}"},
    more=_both_directions,
    delete=(refusals.group_in_use, call("delete_security_group", GroupId="$id")),
    defaults={"description": "Managed by Pulumi"},
    autonamed="name",
    forms={"egress": RULES, "ingress": RULES},
    tagging=ec2.TAGS,
    tags_in_create=ec2.tagged("security-group"),
)


RULE = "cidrIpv4 cidrIpv6 description fromPort prefixListId referencedSecurityGroupId toPort"
"""What can be left out of a rule that is an object of its own."""


def _modify_rule(aws: clients.Clients, identity: str, values: Values) -> None:
    names = forms.Nested(names={"referencedSecurityGroupId": "ReferencedGroupId"})
    rule = names.to_aws({name: values.get(name) for name in f"{RULE} ipProtocol".split()})
    changes = [{"SecurityGroupRuleId": identity, "SecurityGroupRule": rule}]
    aws.ec2.modify_security_group_rules(GroupId=values["securityGroupId"], SecurityGroupRules=changes)


def _rule(direction: str) -> Row:
    """Return the type of an ``ingress`` or ``egress`` rule that is an object of its own."""
    capital = direction.capitalize()

    def create(aws: clients.Clients, inputs: Values) -> str:
        group = inputs["securityGroupId"]
        made = _change(aws, "authorize", direction, group, [_permission(inputs, group)])
        return str(made["SecurityGroupRules"][0]["SecurityGroupRuleId"])

    return Row(
        token=f"aws:vpc/securityGroup{capital}Rule:SecurityGroup{capital}Rule",
        client="ec2",
        title="VPC Security Group Rule",
        inputs=f"{RULE} ipProtocol! securityGroupId!",
        outputs="arn securityGroupRuleId",
        create=create,
        changes={f"{RULE} ipProtocol": _modify_rule},
        read=call("describe_security_group_rules", SecurityGroupRuleIds=["$id"]),
        found="SecurityGroupRules[0]",
        names={
            "fromPort": "[@][?IpProtocol!='-1'] | [0].FromPort",
            "referencedSecurityGroupId": "ReferencedGroupInfo.GroupId",
            "securityGroupId": "GroupId",
            "toPort": "[@][?IpProtocol!='-1'] | [0].ToPort",
        },
        derived={"arn": ec2.ARN + "security-group-rule/{id}"},
        delete=(call(f"revoke_security_group_{direction}", GroupId="$securityGroupId", SecurityGroupRuleIds=["$id"]),),
        tagging=ec2.TAGS,
    )


def _create_described(aws: clients.Clients, inputs: Values) -> str:
    group = inputs["securityGroupId"]
    _change(aws, "authorize", inputs["type"], group, [_permission(inputs, group)])
    lists = [peer for name in ("cidrBlocks", "ipv6CidrBlocks", "prefixListIds") for peer in inputs.get(name) or []]
    source = [inputs["sourceSecurityGroupId"]] if inputs.get("sourceSecurityGroupId") else []
    peers = [*(["self"] if inputs.get("self") else []), *source, *lists]
    return "_".join([group, *(str(inputs[name]) for name in ("type", "protocol", "fromPort", "toPort")), *peers])


def _described(identity: str) -> dict[str, Any]:
    """Return what ``sg-1_ingress_tcp_2049_2049_10.0.0.0/16`` says; the provider imports rules by such ids."""
    group, direction, protocol, from_port, to_port, *peers = identity.split("_")
    [source] = [peer for peer in peers if peer.startswith("sg-")] or [""]
    return {
        "securityGroupId": group,
        "type": direction,
        "protocol": protocol,
        "fromPort": int(from_port),
        "toPort": int(to_port),
        "self": "self" in peers,
        "sourceSecurityGroupId": source,
        "cidrBlocks": [peer for peer in peers if "/" in peer and ":" not in peer],
        "ipv6CidrBlocks": [peer for peer in peers if ":" in peer],
        "prefixListIds": [peer for peer in peers if peer.startswith("pl-")],
    }


def _read_described(aws: clients.Clients, identity: str, _values: Values) -> list[str]:
    """Return the permissions that the id describes, none when the group lacks one of them."""
    rule = _described(identity)
    group = _group(aws, rule["securityGroupId"])
    live = {_bare(one) for one in _split(group[PERMISSIONS[rule["type"]]])}
    wanted = {_bare(one) for one in _split([_permission(rule, rule["securityGroupId"])])}
    return sorted(wanted) if wanted <= live else []


def _bare(permission: Permission) -> str:
    """Return `_key` of a permission of one peer without its description."""
    [list_name] = permission.keys() - {"IpProtocol", "FromPort", "ToPort"}
    [peer] = permission[list_name]
    return _key({**permission, list_name: {name: peer[name] for name in peer if name != "Description"}})


def _delete_described(aws: clients.Clients, identity: str, _values: Values) -> None:
    rule = _described(identity)
    group = rule["securityGroupId"]
    _change(aws, "revoke", rule["type"], group, _split([_permission(rule, group)]))


ROWS = (
    GROUP,
    _rule("ingress"),
    _rule("egress"),
    Row(
        token="aws:ec2/securityGroupRule:SecurityGroupRule",
        title="Security Group Rule",
        inputs=(
            "cidrBlocks description fromPort! ipv6CidrBlocks prefixListIds protocol! securityGroupId! self? "
            "sourceSecurityGroupId toPort! type!"
        ),
        outputs="securityGroupRuleId",
        create=_create_described,
        read=_read_described,
        more=lambda _, identity, __: _described(identity) | {"securityGroupRuleId": ""},
        delete=(_delete_described,),
        delete_before_replace=True,
    ),
)
