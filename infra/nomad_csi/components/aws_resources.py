"""What the AWS resources of all components have in common: tags of cluster and stack, and a policy's attachment."""

from collections.abc import Mapping

import pulumi
import pulumi_aws as aws

from nomad_csi.components import identity
from nomad_csi.plan import volumes

# The tags with the ids of the cluster and the stack of a component's storage, independent of their names.


def tagged(
    component: pulumi.ComponentResource, tags: pulumi.Input[Mapping[str, str]], stack_id: pulumi.Output[str]
) -> pulumi.Output[Mapping[str, str]]:
    """Return *tags* with the ids of the stack and of the cluster of *component*'s provider, each where it is known."""
    found = pulumi.Output.all(tags, stack_id, identity.cluster_id(component))
    return found.apply(lambda known: _add_ids(*known))


def _add_ids(tags: Mapping[str, str], stack_id: str, cluster_id: str) -> Mapping[str, str]:
    ids = {volumes.STACK_ID_TAG: stack_id, volumes.CLUSTER_ID_TAG: cluster_id}
    return {**tags, **{name: value for name, value in ids.items() if value}}


# The attachment of a policy to a role, as every component makes it.


def attach(
    name: str, *, role: pulumi.Input[str], policy_arn: pulumi.Input[str], opts: pulumi.ResourceOptions
) -> "aws.iam.RolePolicyAttachment":  # in quotes: volumes need no module of IAM
    """
    Attach a policy to a role.

    ``delete_before_replace`` is set here, too. The provider requests it only where something differs; in the rollback
    of a failed replacement nothing does, and the engine would detach what it has just attached: the deletion identifies
    the object by role and policy. Source: pulumi/pulumi-terraform-bridge, ``Diff`` in ``pkg/tfbridge/provider.go``,
    2026-11.
    """
    options = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(delete_before_replace=True))
    return aws.iam.RolePolicyAttachment(name, role=role, policy_arn=policy_arn, opts=options)
