"""Lifecycle policies. Source: hashicorp/terraform-provider-aws, ``internal/service/dlm/lifecycle_policy.go``."""

from collections.abc import Mapping
from typing import Any

from nomad_csi_sandbox.aws.provider import clients, kinds, naming, tags

LISTS = frozenset({"resourceLocations", "times"})
"""Lists of one element, which Pulumi shows as the element. Source: pulumi-aws 7.51, ``dlm/_inputs.py``."""

AS_THEY_ARE = frozenset({"targetTags", "tagsToAdd", "variableTags"})
"""Maps of tags: their keys are the operator's, and AWS has them as lists of pairs."""


def _details(details: Mapping[str, Any]) -> dict[str, Any]:
    """Return Pulumi's policy details as AWS's."""
    return dict(naming.to_aws(details, lists=LISTS, tags=AS_THEY_ARE))


def _create(aws: clients.Clients, inputs: kinds.Properties) -> str:
    reply = aws.dlm.create_lifecycle_policy(
        ExecutionRoleArn=inputs["executionRoleArn"],
        Description=inputs["description"],
        State=inputs["state"],
        PolicyDetails=_details(inputs["policyDetails"]),
        **kinds.present(Tags=inputs.get("tagsAll")),
    )
    return str(reply["PolicyId"])


def _read(aws: clients.Clients, identity: str) -> kinds.Properties:
    policy = aws.dlm.get_lifecycle_policy(PolicyId=identity)["Policy"]
    return {
        "arn": policy["PolicyArn"],
        "description": policy["Description"],
        "executionRoleArn": policy["ExecutionRoleArn"],
        "policyDetails": naming.to_pulumi(policy["PolicyDetails"], lists=LISTS, tags=AS_THEY_ARE),
        "state": policy["State"],
        "tagsAll": dict(policy.get("Tags") or {}),
    }


def _update(aws: clients.Clients, identity: str, old_inputs: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
    aws.dlm.update_lifecycle_policy(
        PolicyId=identity,
        ExecutionRoleArn=inputs["executionRoleArn"],
        Description=inputs["description"],
        State=inputs["state"],
        PolicyDetails=_details(inputs["policyDetails"]),
    )
    arn = aws.dlm.get_lifecycle_policy(PolicyId=identity)["Policy"]["PolicyArn"]
    if dropped := tags.dropped(old_inputs, inputs):
        aws.dlm.untag_resource(ResourceArn=arn, TagKeys=dropped)
    if inputs.get("tagsAll"):
        aws.dlm.tag_resource(ResourceArn=arn, Tags=inputs["tagsAll"])


def _delete(aws: clients.Clients, identity: str, _state: kinds.Properties) -> None:
    aws.dlm.delete_lifecycle_policy(PolicyId=identity)


def _essence(details: Any) -> Any:
    """Return *details* with what AWS fills in: the type of the policy, and where it works."""
    if not isinstance(details, Mapping):
        return details
    filled = {"policyType": "EBS_SNAPSHOT_MANAGEMENT", "resourceLocations": "CLOUD", **details}
    return kinds.compact(filled)


LIFECYCLE_POLICY = kinds.Kind(
    token="aws:dlm/lifecyclePolicy:LifecyclePolicy",  # noqa: S106  # a type token, no secret
    service="DLM",
    title="DLM Lifecycle Policy",
    inputs=frozenset({"description", "executionRoleArn", "policyDetails", "state"}),
    outputs=frozenset({"arn"}),
    required=frozenset({"description", "executionRoleArn", "policyDetails"}),
    defaults={"state": "ENABLED"},
    canonical={"policyDetails": _essence},
    create=_create,
    read=_read,
    update=_update,
    delete=_delete,
)
