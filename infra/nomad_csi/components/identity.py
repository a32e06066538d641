"""
What identifies the stack and the cluster on all that components create, and the attachment of a policy to a role.

The stack's random id: one `StackIdentity` at the root of the stack, declared by the first component that needs it.

Before a program creates storage under an id, it asks AWS for EBS volumes with that id that are not in the state: EC2
creates a second volume for the same request, so orphaned volumes of an interrupted run are reported first. EFS refuses
a second file system by its creation token.
"""

import functools
from collections.abc import Mapping, Sequence

import pulumi
import pulumi_aws as aws

from nomad_csi import errors
from nomad_csi.components import functions, program, resources, scope
from nomad_csi.plan import recorded_storage, volumes
from nomad_csi.spec import names


def stack_id(component: pulumi.ComponentResource) -> pulumi.Output[str]:
    """
    Return the id of the stack that *component* is in; known after its first `up`.

    Only where the cluster of its provider may be one of the stack's (`cluster_id`): else nothing is done that needs it.
    """
    own = scope.scope()
    if own.stack_id is None:
        provider = component.get_provider(scope.OF_NOMAD)
        options = pulumi.ResourceOptions(provider=provider) if provider else None
        own.stack_id = resources.StackIdentity(own.name, stack=program.owner(), opts=options).stack_id
    return pulumi.Output.all(own.stack_id, cluster_id(component)).apply(lambda known: str(known[0]))


def cluster_id(component: pulumi.ComponentResource) -> pulumi.Output[str]:
    """
    Return the id of the cluster of *component*'s provider; empty where the token may not read it.

    Creates one where the cluster has none, except in a preview. Where the stack's state records clusters, the run fails
    instead: the cluster may be one that lost its id, and its volumes would all be refused for another one.
    """
    own, key = scope.scope(), id(component.get_provider(scope.OF_NOMAD))
    if key not in own.clusters:
        # A secret anywhere in the state makes every value read from it secret; tags would be encrypted, too.
        recorded = pulumi.Output.unsecret(state()).apply(functions.clusters)
        own.clusters[key] = recorded.apply(functools.partial(_cluster_id, component))
    return own.clusters[key]


def _cluster_id(component: pulumi.ComponentResource, recorded: Sequence[str]) -> pulumi.Output[str]:
    arguments = {"make": not pulumi.runtime.is_dry_run(), "recorded": recorded}
    reply = functions.output(names.CLUSTER_ID_FUNCTION, arguments, pulumi.InvokeOptions(parent=component))
    return reply.apply(lambda outputs: outputs.get("id") or "")  # the mocks of a unit test may return none


def ebs_stack_id(component: pulumi.ComponentResource) -> pulumi.Output[str]:
    """Return the id as `stack_id` does, once AWS has no EBS volume of it that the state lacks; else the run fails."""
    own, key = scope.scope(), id(component.get_provider(recorded_storage.EBS_VOLUME))
    if key not in own.checked:
        stack = stack_id(component)
        filters = [{"name": f"tag:{volumes.STACK_ID_TAG}", "values": [stack]}]
        disks = aws.ebs.get_ebs_volumes_output(filters=filters, opts=pulumi.InvokeOutputOptions(parent=component))
        ids = disks.ids.apply(lambda known: known or [])  # the mocks of a unit test may return none
        known = pulumi.Output.all(stack, ids, state())
        # A secret anywhere in the state makes every value read from it secret; tags would be encrypted, too.
        own.checked[key] = pulumi.Output.unsecret(known.apply(lambda values: _refuse_unrecorded(*values)))
    return own.checked[key]


def state() -> pulumi.Output[functions.State]:
    """Return the outputs in the stack's last state by URN, read once for all components."""
    own = scope.scope()
    if own.state is None:
        own.state = functions.recorded()
    return own.state


def _refuse_unrecorded(stack: str, ids: Sequence[str], state: functions.State) -> str:
    if left := recorded_storage.unrecorded(ids, functions.arns(state)):
        raise errors.RefusedError(
            f"EBS volumes {', '.join(left)} were made for this stack (tag {volumes.STACK_ID_TAG}={stack}) and are not "
            "in its state: an interrupted run left them, or they were moved to another stack, which needs an `up` "
            f"then; the tag {volumes.VOLUME_TAG} names the volume of each: bring those that no other stack has in with "
            "`pulumi import`; or remove the tag and run again, but not while its deletion is pending in the state "
            "(`pulumi stack export`), which the next `up` would carry out"
        )
    return stack


def tagged(
    component: pulumi.ComponentResource, tags: pulumi.Input[Mapping[str, str]], stack_id: pulumi.Output[str]
) -> pulumi.Output[Mapping[str, str]]:
    """Return *tags* with the ids of the stack and of the cluster of *component*'s provider, each where it is known."""
    known = pulumi.Output.all(tags, stack_id, cluster_id(component))

    def with_ids(tags: Mapping[str, str], *ids: str) -> dict[str, str]:
        names_of_ids = volumes.STACK_ID_TAG, volumes.CLUSTER_ID_TAG
        return {**tags, **{name: value for name, value in zip(names_of_ids, ids, strict=True) if value}}

    return known.apply(lambda values: with_ids(*values))


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
