"""
Check whether a desired volume would work, before it is registered, or a working registration is removed for it.

The checks ask Nomad for its plugin.
"""

from collections.abc import Iterator, Sequence

from nomad_csi import errors
from nomad_csi.frame import resource
from nomad_csi.nomad import plugins
from nomad_csi.spec import names
from nomad_csi.text import listing
from nomad_csi.volumes.desired import UNKNOWN, DesiredVolume

# Whether a plugin, as Nomad has it, can serve a volume.


_LOOK = "check its jobs: `nomad-csi verify` names the problems"


def plugin_problems(plugin: plugins.Plugin, volume: DesiredVolume) -> Iterator[errors.Problem]:
    """
    Yield the problems of *plugin* in serving *volume*.

    For a plugin without an instance that was ever healthy Nomad accepts any registration (tried on Nomad 2.0.6-dev).
    """
    healthy = [item for item in (*plugin.controllers, *plugin.nodes) if item.healthy]
    if not healthy:
        yield _unfit(plugin, "a healthy plugin", "no instance is healthy")
    elif (plugin.controller_required or volume.is_created) and not any(item.healthy for item in plugin.controllers):
        yield _unfit(plugin, "a plugin with a healthy controller", f"0 of {len(plugin.controllers)} are healthy")


def _missing(plugin_id: str, known: Sequence[str]) -> errors.Problem:
    """Return the problem of a *plugin_id* that is not among those *known* to Nomad."""
    return errors.Problem(
        path="pluginId",
        got=repr(plugin_id),
        allowed=f"a CSI plugin that Nomad has ({listing.shortened(known) or 'none'})",
        fix="run the plugin's job first",
    )


def _unfit(plugin: plugins.Plugin, allowed: str, reason: str) -> errors.Problem:
    return errors.Problem(path="pluginId", got=f"{plugin.plugin_id!r}: {reason}", allowed=allowed, fix=_LOOK)


# The checks together.


def problems(context: resource.Context, volume: DesiredVolume, *, in_preview: bool = False) -> tuple[str, ...]:
    """
    Return all problems of registering *volume* in place of what is registered.

    A preview ignores unknown values, and a plugin that this run creates first. Raises `errors.NomadApiError` where
    Nomad does not answer.
    """
    plugin_id = volume.document.plugin_id
    if plugin_id == UNKNOWN or (in_preview and is_awaited(context, plugin_id)):
        return ()
    plugin = plugins.get(context.client, plugin_id)
    if plugin is None:
        return (str(_missing(plugin_id, plugins.list_ids(context.client))),)
    return tuple(map(str, plugin_problems(plugin, volume)))


def warn_in_preview(context: resource.Context, volume: DesiredVolume) -> None:
    """Warn of the plugin of a new volume that the cluster does not have, and nothing declared so far creates."""
    plugin_id = volume.document.plugin_id
    known = context.operation.once("plugin ids", lambda: plugins.list_ids(context.client))
    if plugin_id not in {UNKNOWN, *known} and not is_awaited(context, plugin_id):
        context.warn(f"{_missing(plugin_id, known)}; `up` fails unless this run starts it first")


def is_awaited(context: resource.Context, plugin_id: str) -> bool:
    """Return whether the program waits for *plugin_id* to become healthy, so that a preview may not find it yet."""
    declared = context.operation.all_declared(names.PLUGIN_HEALTH_TYPE)
    return any(item.get("pluginId") == plugin_id for item in declared)
