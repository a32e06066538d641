"""
Check whether a desired volume would work, before it is registered, or a working registration is removed for it.

The checks ask Nomad for its plugin, and for the other volumes of its storage; those of the storage itself are
`storage_checks`.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from nomad_csi import errors
from nomad_csi.frame import resource
from nomad_csi.nomad import plugins
from nomad_csi.nomad import volumes as volume_records
from nomad_csi.spec import names
from nomad_csi.volumes.desired import UNKNOWN, DesiredVolume

# Whether a plugin, as Nomad has it, can serve a volume.


_SHOWN = 8
_LOOK = "check its jobs: `nomad-csi verify` names the problems"


def missing(plugin_id: str, known: Iterable[str]) -> errors.Problem:
    """Return the problem of a *plugin_id* that is not among those *known* to Nomad."""
    there = tuple(known)
    close = difflib.get_close_matches(plugin_id, there, n=1)
    more = f" and {len(there) - _SHOWN} more" if len(there) > _SHOWN else ""
    return errors.Problem(
        path="pluginId",
        got=repr(plugin_id),
        allowed=f"a CSI plugin that Nomad has ({', '.join(there[:_SHOWN]) or 'none'}{more})",
        fix=f"did you mean {close[0]}" if close else "run the plugin's job first",
    )


def plugin_problems(plugin: plugins.Plugin, volume: DesiredVolume) -> Iterator[errors.Problem]:
    """
    Yield the problems of *plugin* in serving *volume*.

    For a plugin without an instance that was ever healthy Nomad accepts any registration (tried on Nomad 2.0.6-dev).
    """
    from nomad_csi.volumes import storage_checks  # noqa: PLC0415  # seldom needed, and 0.3 s to import

    needs_controller = volume.is_created
    healthy = [item for item in (*plugin.controllers, *plugin.nodes) if item.healthy]
    if not healthy:
        yield _unfit(plugin, "a healthy plugin", "no instance is healthy")
    elif needs_controller and not plugin.controllers:
        yield _unfit(plugin, "a plugin with a controller", "it has none")
    elif (plugin.controller_required or needs_controller) and not any(item.healthy for item in plugin.controllers):
        yield _unfit(plugin, "a plugin with a healthy controller", f"0 of {len(plugin.controllers)} are healthy")
    yield from storage_checks.form_problems(plugin, volume.document.external_id)


def out_of_reach(plugin: plugins.Plugin, places: Sequence[Mapping[str, str]]) -> str:
    """
    Return that *plugin* is healthy on no client in one of the *places* that a volume requires; else empty.

    Empty also where a place is unknown, and where no instance is healthy or reports its place.
    """
    there = [item.segments for item in plugin.nodes if item.healthy and item.segments]
    if not there or UNKNOWN in str(places) or any(volume_records.reaches(places, segments) for segments in there):
        return ""
    wanted = " or ".join(sorted(map(volume_records.place_text, places)))
    return (
        f"no job can claim the volume in {wanted}: plugin {plugin.plugin_id} is healthy on no client there; add a "
        "client, or correct the zone of the volume"
    )


def _unfit(plugin: plugins.Plugin, allowed: str, found: str) -> errors.Problem:
    return errors.Problem(path="pluginId", got=f"{plugin.plugin_id!r}: {found}", allowed=allowed, fix=_LOOK)


# The checks together.


def problems(
    context: resource.Context,
    volume: DesiredVolume,
    recorded: Mapping[str, Any],
    unchecked: list[str],
    *,
    in_preview: bool = False,
) -> tuple[str, ...]:
    """
    Return all problems of replacing the volume *recorded* by *volume*; checks not made are added to *unchecked*.

    A preview ignores unknown values, and a plugin that this run creates first. Raises `errors.NomadApiError` where
    Nomad does not answer.
    """
    plugin_id, found = volume.document.plugin_id, list[errors.Problem]()
    plugin = None if plugin_id == UNKNOWN else plugins.get(context.client, plugin_id)
    is_settled = not (in_preview and is_awaited(context, plugin_id))
    if plugin is None and plugin_id != UNKNOWN and is_settled:
        found.append(missing(plugin_id, plugins.list_ids(context.client)))
    if plugin is not None and is_settled:
        found += plugin_problems(plugin, volume)
    if not volume.is_created:
        from nomad_csi.volumes import storage_checks  # noqa: PLC0415  # seldom needed, and 0.3 s to import

        old = str(recorded.get("externalId", ""))
        found += storage_checks.storage_problems(plugin, volume.document, old, unchecked)
    return tuple(map(str, found))


def problems_of_owned_storage(
    context: resource.Context, volume: DesiredVolume
) -> tuple[tuple[errors.Problem, ...], list[str]]:
    """
    Return the problems of storage that the program created before, and the checks that were not made.

    A copied or kept state can refer to deleted storage. Unknown storage may be another account's.
    """
    unchecked: list[str] = []
    document = volume.document
    if not volume.storage.owned or UNKNOWN in (document.external_id, document.plugin_id):
        return (), unchecked
    from nomad_csi.volumes import storage_checks  # noqa: PLC0415  # seldom needed, and 0.3 s to import

    plugin = plugins.get(context.client, document.plugin_id)
    return tuple(storage_checks.storage_problems(plugin, document, "", unchecked)), unchecked


def warn_in_preview(context: resource.Context, volume: DesiredVolume, *, is_new: bool) -> None:
    """
    Warn of a plugin that the cluster does not have, and nothing declared so far creates; or that is out of reach.

    The latter: it is healthy on no client in a place of the volume. Nomad registers it anyway.
    """
    document, plugin_id = volume.document, volume.document.plugin_id
    if plugin_id == UNKNOWN:
        return
    if is_new and not is_awaited(context, plugin_id):
        known = context.operation.once("plugin ids", lambda: plugins.list_ids(context.client))
        if plugin_id not in known:
            context.warn(f"{missing(plugin_id, known)}; `up` fails unless this run starts it first")
    if document.required_topologies:
        plugin = context.operation.once(f"plugin {plugin_id}", lambda: plugins.get(context.client, plugin_id))
        if plugin is not None and (why := out_of_reach(plugin, document.required_topologies)):
            context.warn(why)


def is_awaited(context: resource.Context, plugin_id: str) -> bool:
    """Return whether the program waits for *plugin_id* to become healthy, so that a preview may not find it yet."""
    declared = context.operation.all_declared(names.PLUGIN_HEALTH_TYPE)
    return any(item.get("pluginId") == plugin_id for item in declared)
