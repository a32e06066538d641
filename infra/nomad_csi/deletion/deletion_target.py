"""Which storage a deletion means, who would delete it, and how it is tagged. Only reads."""

from dataclasses import dataclass
from typing import NoReturn

from nomad_csi import errors, nomad
from nomad_csi.aws import deletion as aws_deletion
from nomad_csi.deletion import deletion_order, deletion_outcome, deletion_plugin, deletion_ways
from nomad_csi.nomad import plugins, volume_lookup, volumes
from nomad_csi.ownership import cluster_identity
from nomad_csi.plan import volumes as planned
from nomad_csi.probing import controller_endpoint


@dataclass(frozen=True, kw_only=True)
class Target:
    """The storage of an order."""

    order: deletion_order.DeletionRequest
    external_id: str
    plugin_id: str
    """Empty where Nomad does not hold the volume, and nobody named its plugin."""

    is_registered: bool
    """Whether Nomad holds the volume."""


def find(client: nomad.Nomad, order: deletion_order.DeletionRequest, options: deletion_order.DeletionOptions) -> Target:
    """
    Return what *order* means: what Nomad holds, else what the user or a stack named, else what is tagged as it.

    Raises `errors.RefusedError` where that is contradictory or several, `deletion_outcome.StoppedError` where it is
    nothing.
    """
    volume = volumes.get(client, order.namespace, order.volume_id)
    if volume is None:
        external_id = order.external_id or options.made.get(order.key, "") or _tagged(client, order, options.aws_region)
        return Target(order=order, external_id=external_id, plugin_id=order.plugin_id, is_registered=False)
    if order.external_id not in {"", volume.external_id}:
        raise errors.RefusedError(
            f"{order.key} stands for {volume.external_id}, not for {order.external_id}; nothing was changed"
        )
    return Target(order=order, external_id=volume.external_id, plugin_id=volume.plugin_id, is_registered=True)


def _tagged(client: nomad.Nomad, order: deletion_order.DeletionRequest, region: str) -> str:
    """Return the storage that has the volume in its tag."""
    if not region:
        _refuse_set(client, order)
        raise deletion_outcome.StoppedError(
            "unknown", "not registered, and AWS was not asked for its storage; name --aws-region"
        )
    tagged = {
        item.external_id: item.tags.get(planned.CLUSTER_ID_TAG, "") for item in aws_deletion.find(order.key, region)
    }
    here = cluster_identity.of(client)
    found = [item for item, of in tagged.items() if not cluster_identity.is_another(of, here)] or list(tagged)
    if len(found) > 1:
        raise errors.RefusedError(f"{', '.join(found)} are all tagged as {order.key}; name one: --external-id")
    if not found:
        _refuse_set(client, order)
        raise deletion_outcome.StoppedError("gone", f"not registered, and nothing is tagged as it in {region}")
    return found[0]


def _refuse_set(client: nomad.Nomad, order: deletion_order.DeletionRequest) -> None:
    """Raise `errors.RefusedError` where *order*, which is not registered, has the id of a set."""
    if members := volume_lookup.members(client, order.namespace, order.volume_id):
        raise errors.RefusedError(f"{members}; nothing was changed")


def way(client: nomad.Nomad, target: Target, options: deletion_order.DeletionOptions) -> deletion_ways.Way:
    """Return how the storage is to be deleted. Raises `errors.RefusedError` where there is no way."""
    if options.endpoint:
        plugin = _plugin(client, target)
        return deletion_plugin.PluginStorage(
            endpoint=controller_endpoint.find(client, plugin, options.endpoint),
            provider=plugin.provider,
            secrets=options.secrets.get(target.order.key, {}),
            accepts_unguarded=options.accepts_unguarded,
            insecure=client.connection.insecure_http,
        )
    if not aws_deletion.kind_of(target.external_id):
        raise errors.RefusedError(
            f"{target.external_id} is neither an EBS volume nor an access point of EFS; name the controller of its "
            "plugin (--endpoint), or delete it where it was made; nothing was changed"
        )
    if not options.aws_region:
        raise errors.RefusedError(f"{target.external_id} is in some region of AWS; name it: --aws-region")
    return deletion_ways.Cloud(aws_region=options.aws_region)


def _plugin(client: nomad.Nomad, target: Target) -> plugins.Plugin:
    """Return the plugin that the volume is one of, which has a name. Raises `errors.RefusedError`."""
    if not target.plugin_id:
        raise errors.RefusedError(f"{target.order.key} is not registered; name its plugin: --plugin")
    plugin = plugins.get(client, target.plugin_id)
    if plugin is None or not plugin.provider:
        raise errors.RefusedError(f"Nomad has seen no plugin {target.plugin_id}: run its job first")
    return plugin


def tags(client: nomad.Nomad, target: Target, options: deletion_order.DeletionOptions) -> dict[str, str]:
    """Return the tags of the storage, none where no cloud is asked. Raises as `say_missing` where it is not there."""
    if not (options.aws_region and aws_deletion.kind_of(target.external_id)):
        return {}
    found = aws_deletion.look(target.external_id, options.aws_region)
    if found is None:
        say_missing(client, target, f"{target.external_id} is not in {options.aws_region}")
    return dict(found.tags)


def say_missing(client: nomad.Nomad, target: Target, what: str) -> NoReturn:
    """Stop for storage that is not there: done where Nomad does not hold the volume either."""
    order = target.order
    if volumes.get(client, order.namespace, order.volume_id) is None:
        raise deletion_outcome.StoppedError("gone", f"not registered, and {what}")
    raise errors.RefusedError(f"{what}: it is elsewhere, or gone and to be deregistered; nothing was changed")
