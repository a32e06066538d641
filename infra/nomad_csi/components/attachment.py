"""The attachment of a policy to a role, as every component makes it."""

import pulumi
import pulumi_aws as aws


def attach(
    name: str, *, role: pulumi.Input[str], policy_arn: pulumi.Input[str], opts: pulumi.ResourceOptions
) -> aws.iam.RolePolicyAttachment:
    """
    Attach a policy to a role.

    Deletion ahead of a replacement is asked for here, too. The provider asks for it only where something differs; when
    a replacement failed and is taken back, nothing does, and the engine would detach what it has just attached: the
    deletion goes by role and policy. Source: pulumi/pulumi-terraform-bridge, ``Diff`` in ``pkg/tfbridge/provider.go``,
    2026-11.
    """
    first = pulumi.ResourceOptions(delete_before_replace=True)
    options = pulumi.ResourceOptions.merge(opts, first)
    return aws.iam.RolePolicyAttachment(name, role=role, policy_arn=policy_arn, opts=options)
