"""IAM policies and roles. Source: hashicorp/terraform-provider-aws, ``internal/service/iam`` (2026-11)."""

import json
from collections.abc import Mapping
from typing import Any

from nomad_csi_sandbox.aws.provider import clients, kinds, refusals, tags

MAX_POLICY_VERSIONS = 5
"""Versions that IAM keeps of a policy. Source: IAM user guide, "IAM and AWS STS quotas", read 2026-11."""


def _create_policy(aws: clients.Clients, inputs: kinds.Properties) -> str:
    reply = aws.iam.create_policy(
        PolicyName=inputs["name"],
        PolicyDocument=inputs["policy"],
        **kinds.present(Description=inputs.get("description"), Path=inputs.get("path"), Tags=tags.to_list(inputs)),
    )
    return str(reply["Policy"]["Arn"])


def _read_policy(aws: clients.Clients, arn: str) -> kinds.Properties:
    policy = aws.iam.get_policy(PolicyArn=arn)["Policy"]
    version = aws.iam.get_policy_version(PolicyArn=arn, VersionId=policy["DefaultVersionId"])["PolicyVersion"]
    return {
        "arn": arn,
        "attachmentCount": policy["AttachmentCount"],
        "description": policy.get("Description", ""),
        "name": policy["PolicyName"],
        "path": policy["Path"],
        "policy": _text(version["Document"]),
        "policyId": policy["PolicyId"],
        "tagsAll": tags.to_map(policy.get("Tags")),
    }


def _text(document: Any) -> str:
    """Return a policy document as text; botocore has parsed it already."""
    return document if isinstance(document, str) else json.dumps(document)


def _update_policy(aws: clients.Clients, arn: str, old_inputs: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
    live = _read_policy(aws, arn)
    if kinds.as_document(live["policy"]) != kinds.as_document(inputs["policy"]):
        _make_room_for_a_version(aws, arn)
        aws.iam.create_policy_version(PolicyArn=arn, PolicyDocument=inputs["policy"], SetAsDefault=True)
    _retag(aws.iam.tag_policy, aws.iam.untag_policy, {"PolicyArn": arn}, old_inputs, inputs)


def _make_room_for_a_version(aws: clients.Clients, arn: str) -> None:
    versions = aws.iam.list_policy_versions(PolicyArn=arn)["Versions"]
    spare = sorted((version for version in versions if not version["IsDefaultVersion"]), key=_age)
    if len(versions) >= MAX_POLICY_VERSIONS:
        aws.iam.delete_policy_version(PolicyArn=arn, VersionId=spare[0]["VersionId"])


def _age(version: Mapping[str, Any]) -> int:
    return int(version["VersionId"].removeprefix("v"))


def _retag(
    tag: Any, untag: Any, target: Mapping[str, str], old_inputs: Mapping[str, Any], inputs: Mapping[str, Any]
) -> None:
    dropped = tags.dropped(old_inputs, inputs)
    if dropped:
        untag(**target, TagKeys=dropped)
    wanted = tags.to_list(inputs)
    if wanted:
        tag(**target, Tags=wanted)


def _delete_policy(aws: clients.Clients, arn: str, _state: kinds.Properties) -> None:
    refusals.attached_policy(aws, arn)
    for version in aws.iam.list_policy_versions(PolicyArn=arn)["Versions"]:
        if not version["IsDefaultVersion"]:
            aws.iam.delete_policy_version(PolicyArn=arn, VersionId=version["VersionId"])
    aws.iam.delete_policy(PolicyArn=arn)


def _create_role(aws: clients.Clients, inputs: kinds.Properties) -> str:
    reply = aws.iam.create_role(
        RoleName=inputs["name"],
        AssumeRolePolicyDocument=inputs["assumeRolePolicy"],
        **kinds.present(
            Description=inputs.get("description"),
            MaxSessionDuration=inputs.get("maxSessionDuration"),
            Path=inputs.get("path"),
            Tags=tags.to_list(inputs),
        ),
    )
    return str(reply["Role"]["RoleName"])


def _read_role(aws: clients.Clients, name: str) -> kinds.Properties:
    role = aws.iam.get_role(RoleName=name)["Role"]
    return {
        "arn": role["Arn"],
        "assumeRolePolicy": _text(role["AssumeRolePolicyDocument"]),
        "createDate": role["CreateDate"].isoformat(),
        "description": role.get("Description", ""),
        "managedPolicyArns": _attached_policies(aws, name),
        "maxSessionDuration": role["MaxSessionDuration"],
        "name": role["RoleName"],
        "path": role["Path"],
        "tagsAll": tags.to_map(role.get("Tags")),
        "uniqueId": role["RoleId"],
    }


def _attached_policies(aws: clients.Clients, role_name: str) -> list[str]:
    pages = aws.iam.get_paginator("list_attached_role_policies").paginate(RoleName=role_name)
    return sorted(policy["PolicyArn"] for page in pages for policy in page["AttachedPolicies"])


def _update_role(aws: clients.Clients, name: str, old_inputs: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
    aws.iam.update_assume_role_policy(RoleName=name, PolicyDocument=inputs["assumeRolePolicy"])
    aws.iam.update_role(
        RoleName=name,
        Description=inputs.get("description") or "",
        MaxSessionDuration=inputs["maxSessionDuration"],
    )
    _retag(aws.iam.tag_role, aws.iam.untag_role, {"RoleName": name}, old_inputs, inputs)


def _delete_role(aws: clients.Clients, name: str, state: kinds.Properties) -> None:
    """Delete it, as the real provider does: out of its instance profiles first, detached only when that is wanted."""
    for profile in aws.iam.list_instance_profiles_for_role(RoleName=name)["InstanceProfiles"]:
        aws.iam.remove_role_from_instance_profile(InstanceProfileName=profile["InstanceProfileName"], RoleName=name)
    for arn in _attached_policies(aws, name) if state.get("forceDetachPolicies") else []:
        aws.iam.detach_role_policy(RoleName=name, PolicyArn=arn)
    aws.iam.delete_role(RoleName=name)


POLICY = kinds.Kind(
    token="aws:iam/policy:Policy",  # noqa: S106  # a type token, no secret
    service="IAM",
    title="IAM Policy",
    inputs=frozenset({"description", "name", "path", "policy"}),
    outputs=frozenset({"arn", "attachmentCount", "policyId"}),
    required=frozenset({"policy"}),
    fixed=frozenset({"description", "name", "path"}),
    defaults={"path": "/"},
    autonamed="name",
    canonical={"policy": kinds.as_document},
    has_region=False,
    create=_create_policy,
    read=_read_policy,
    update=_update_policy,
    delete=_delete_policy,
)

ROLE = kinds.Kind(
    token="aws:iam/role:Role",  # noqa: S106  # a type token, no secret
    service="IAM",
    title="IAM Role",
    inputs=frozenset({"assumeRolePolicy", "description", "forceDetachPolicies", "maxSessionDuration", "name", "path"}),
    outputs=frozenset({"arn", "createDate", "managedPolicyArns", "uniqueId"}),
    required=frozenset({"assumeRolePolicy"}),
    fixed=frozenset({"name", "path"}),
    defaults={"forceDetachPolicies": False, "maxSessionDuration": 3600, "path": "/"},
    autonamed="name",
    canonical={"assumeRolePolicy": kinds.as_document},
    has_region=False,
    create=_create_role,
    read=_read_role,
    update=_update_role,
    delete=_delete_role,
)
