"""Roles, policies and instance profiles of IAM. Source: hashicorp/terraform-provider-aws, ``internal/service/iam``."""

from typing import Any

from nomad_csi_sandbox.aws.provider import clients, forms, refusals
from nomad_csi_sandbox.aws.provider.rows import Properties, Row, Tagging, Values, call

MAX_POLICY_VERSIONS = 5
"""Versions that IAM keeps of a policy. Source: IAM user guide, "IAM and AWS STS quotas", read 2026-11."""


def _tagging(kind: str, identity: str) -> Tagging:
    """Return the calls that tag an object of IAM, such as a ``role``, whose id is the argument *identity*."""
    return Tagging(
        tag=call(f"tag_{kind}", **{identity: "$id"}, Tags="$tags"),
        untag=call(f"untag_{kind}", **{identity: "$id"}, TagKeys="$dropped"),
    )


def _set_role_of_profile(aws: clients.Clients, identity: str, values: Values) -> None:
    """Give an instance profile the wanted role alone; it can have one."""
    _empty_profile(aws, identity, values)
    if values.get("role"):
        aws.iam.add_role_to_instance_profile(InstanceProfileName=identity, RoleName=values["role"])


def _empty_profile(aws: clients.Clients, identity: str, _values: Values) -> None:
    for role in aws.iam.get_instance_profile(InstanceProfileName=identity)["InstanceProfile"]["Roles"]:
        aws.iam.remove_role_from_instance_profile(InstanceProfileName=identity, RoleName=role["RoleName"])


def _default_version(aws: clients.Clients, identity: str, found: Values) -> Properties:
    version = aws.iam.get_policy_version(PolicyArn=identity, VersionId=found["DefaultVersionId"])["PolicyVersion"]
    return {"policy": forms.to_text(version["Document"])}


def _put_policy_version(aws: clients.Clients, identity: str, values: Values) -> None:
    """Make the document the default version of a policy; the oldest one goes where IAM keeps no more."""
    versions = _policy_versions(aws, identity)
    if len(versions) >= MAX_POLICY_VERSIONS:
        others = (one["VersionId"] for one in versions if not one["IsDefaultVersion"])
        oldest = min(others, key=lambda version: int(version.removeprefix("v")))
        aws.iam.delete_policy_version(PolicyArn=identity, VersionId=oldest)
    aws.iam.create_policy_version(PolicyArn=identity, PolicyDocument=values["policy"], SetAsDefault=True)


def _drop_policy_versions(aws: clients.Clients, identity: str, _values: Values) -> None:
    """Remove the versions of a policy beside the default one."""
    for version in _policy_versions(aws, identity):
        if not version["IsDefaultVersion"]:
            aws.iam.delete_policy_version(PolicyArn=identity, VersionId=version["VersionId"])


def _policy_versions(aws: clients.Clients, arn: str) -> list[dict[str, Any]]:
    return list(aws.iam.list_policy_versions(PolicyArn=arn)["Versions"])


def _update_role(aws: clients.Clients, identity: str, values: Values) -> None:
    """Change the description and the longest session of a role; without a description it has an empty one."""
    duration = values["maxSessionDuration"]
    aws.iam.update_role(RoleName=identity, Description=values.get("description") or "", MaxSessionDuration=duration)


def _empty_role(aws: clients.Clients, identity: str, values: Values) -> None:
    """Take a role out of its instance profiles; detach its policies only where that is wanted."""
    for profile in aws.iam.list_instance_profiles_for_role(RoleName=identity)["InstanceProfiles"]:
        aws.iam.remove_role_from_instance_profile(InstanceProfileName=profile["InstanceProfileName"], RoleName=identity)
    for arn in _attached_policies(aws, identity) if values.get("forceDetachPolicies") else []:
        aws.iam.detach_role_policy(RoleName=identity, PolicyArn=arn)


def _attached_policies(aws: clients.Clients, role_name: str) -> list[str]:
    pages = aws.iam.get_paginator("list_attached_role_policies").paginate(RoleName=role_name)
    return sorted(policy["PolicyArn"] for page in pages for policy in page["AttachedPolicies"])


ROWS = (
    Row(
        token="aws:iam/instanceProfile:InstanceProfile",
        title="IAM Instance Profile",
        inputs="name path role",
        outputs="arn createDate uniqueId",
        create=call("create_instance_profile"),
        identity="InstanceProfile.InstanceProfileName",
        settings={"role": _set_role_of_profile},
        read=call("get_instance_profile", InstanceProfileName="$id"),
        found="InstanceProfile",
        names={"name": "InstanceProfileName", "uniqueId": "InstanceProfileId", "role": "Roles[0].RoleName"},
        delete=(_empty_profile, call("delete_instance_profile", InstanceProfileName="$id")),
        defaults={"path": "/"},
        autonamed="name",
        tagging=_tagging("instance_profile", "InstanceProfileName"),
    ),
    Row(
        token="aws:iam/policy:Policy",
        title="IAM Policy",
        inputs="policy! description name path",
        outputs="arn attachmentCount policyId",
        create=call("create_policy"),
        identity="Policy.Arn",
        changes={"policy": _put_policy_version},
        read=call("get_policy", PolicyArn="$id"),
        found="Policy",
        names={"name": "PolicyName", "policy": "PolicyDocument"},
        empty="description",
        more=_default_version,
        delete=(refusals.attached_policy, _drop_policy_versions, call("delete_policy", PolicyArn="$id")),
        defaults={"path": "/"},
        autonamed="name",
        forms={"policy": forms.DOCUMENT},
        tagging=_tagging("policy", "PolicyArn"),
    ),
    Row(
        token="aws:iam/role:Role",
        title="IAM Role",
        inputs="assumeRolePolicy! description forceDetachPolicies maxSessionDuration name path",
        outputs="arn createDate managedPolicyArns uniqueId",
        create=call("create_role", AssumeRolePolicyDocument="$assumeRolePolicy"),
        identity="Role.RoleName",
        changes={
            "assumeRolePolicy": call("update_assume_role_policy", RoleName="$id", PolicyDocument="$assumeRolePolicy"),
            "description maxSessionDuration": _update_role,
        },
        unsent="forceDetachPolicies",
        read=call("get_role", RoleName="$id"),
        found="Role",
        names={"name": "RoleName", "assumeRolePolicy": "@.AssumeRolePolicyDocument", "uniqueId": "RoleId"},
        empty="description",
        more=lambda aws, identity, _: {"managedPolicyArns": _attached_policies(aws, identity)},
        delete=(_empty_role, call("delete_role", RoleName="$id")),
        defaults={"forceDetachPolicies": False, "maxSessionDuration": 3600, "path": "/"},
        autonamed="name",
        forms={"assumeRolePolicy": forms.DOCUMENT},
        tagging=_tagging("role", "RoleName"),
    ),
    Row(
        token="aws:iam/rolePolicy:RolePolicy",
        title="IAM Role Policy",
        inputs="role! policy! name",
        create=call("put_role_policy"),
        identity="{role}:{name}",
        separator=":",
        changes={"policy": call("put_role_policy", RoleName="$1", PolicyName="$2")},
        read=call("get_role_policy", RoleName="$1", PolicyName="$2"),
        names={"role": "RoleName", "name": "PolicyName", "policy": "PolicyDocument"},
        delete=(call("delete_role_policy", RoleName="$1", PolicyName="$2"),),
        autonamed="name",
        forms={"policy": forms.DOCUMENT},
    ),
    Row(
        token="aws:iam/rolePolicyAttachment:RolePolicyAttachment",
        title="IAM Role Policy Attachment",
        inputs="role! policyArn!",
        create=call("attach_role_policy"),
        identity="{role}/{policyArn}",
        separator="/",
        read=call("list_attached_role_policies", RoleName="$1"),
        found="AttachedPolicies[?PolicyArn=='{2}'] | [0]",
        names={"role": "RoleName"},
        delete=(call("detach_role_policy", RoleName="$1", PolicyArn="$2"),),
        delete_before_replace=True,
    ),
)
