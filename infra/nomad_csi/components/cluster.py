"""
The tag that says of which cluster the storage is that a component makes: nothing else tells two clusters apart there.

The id is asked of the provider, a function of which stands here beside the tag, because only it is connected to Nomad.
"""

from collections.abc import Mapping

import pulumi

from nomad_csi.deploy import cluster_identity
from nomad_csi.plan import volumes


def tagged(component: pulumi.Resource, tags: pulumi.Input[Mapping[str, str]]) -> pulumi.Output[Mapping[str, str]]:
    """
    Return *tags*, and the id of the cluster that the provider of *component* talks to.

    A cluster without one is given it, not by a preview. Where the token may not read it, there is no such tag.
    """
    arguments = {"make": not pulumi.runtime.is_dry_run()}
    reply = pulumi.runtime.invoke_output(
        cluster_identity.FUNCTION, arguments, pulumi.InvokeOutputOptions(parent=component)
    )
    return pulumi.Output.all(tags, reply).apply(lambda known: _with_id(known[0], known[1]["id"]))


def _with_id(tags: Mapping[str, str], cluster_id: str) -> Mapping[str, str]:
    return {**tags, volumes.CLUSTER_ID_TAG: cluster_id} if cluster_id else tags
