"""
Check the replacement of a working registration before that is removed.

The checks ask Nomad for its plugin and its id; those of its storage are `storage_checks`.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nomad_csi import errors
from nomad_csi.frame import resource
from nomad_csi.nomad import plugins, volumes
from nomad_csi.spec import names

# Whether a plugin, as Nomad has it, can serve a volume.


_SHOWN = 8
_LOOK = "check its jobs: `nomad-csi verify` says what is wrong"


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


def plugin_problems(
    plugin: plugins.Plugin, news: Mapping[str, Any], *, needs_controller: bool
) -> Iterator[errors.Problem]:
    """
    Yield the problems of *plugin* in serving the volume of *news*.

    For a plugin without an instance that was ever healthy Nomad accepts any registration (tried on Nomad 2.0.6-dev).
    """
    from nomad_csi.volumes import storage_checks  # noqa: PLC0415  # seldom needed, and 0.3 s to import

    healthy = [item for item in (*plugin.controllers, *plugin.nodes) if item.healthy]
    if not healthy:
        yield _unfit(plugin, "a healthy plugin", "no instance is healthy")
    elif needs_controller and not plugin.controllers:
        yield _unfit(plugin, "a plugin with a controller", "it has none")
    elif (plugin.controller_required or needs_controller) and not any(item.healthy for item in plugin.controllers):
        yield _unfit(plugin, "a plugin with a healthy controller", f"0 of {len(plugin.controllers)} are healthy")
    yield from storage_checks.form_problems(plugin, news)


def out_of_reach(plugin: plugins.Plugin, news: Mapping[str, Any]) -> str:
    """
    Return that *plugin* is healthy on no client in a place that the volume of *news* requires; else empty.

    Empty also where a place is unknown, and where no instance is healthy or reports its place.
    """
    there = [item.segments for item in plugin.nodes if item.healthy and item.segments]
    places = [place.get("segments", {}) for place in _places(news)]
    if not there or not places or any(place.items() <= segments.items() for place in places for segments in there):
        return ""
    keys = {key for place in places for key in place}
    named = [{key: value for key, value in segments.items() if key in keys} for segments in there]
    wanted, found = (" or ".join(sorted({_shown(item) for item in items})) for items in (places, named))
    return (
        f"no job can claim the volume in {wanted}: plugin {plugin.plugin_id} has healthy clients only in {found}; "
        "add a client there, or correct the zone of the volume"
    )


def _places(news: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the required places of *news*; none where one of them is unknown."""
    places = news.get("requiredTopologies", ())
    is_known = resource.UNKNOWN not in str(places)
    return list(places) if is_known else []


def _shown(segments: Mapping[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in sorted(segments.items())) or "places without that key"


def _unfit(plugin: plugins.Plugin, allowed: str, found: str) -> errors.Problem:
    return errors.Problem(path="pluginId", got=f"{plugin.plugin_id!r}: {found}", allowed=allowed, fix=_LOOK)


# The checks together.


def problems(
    context: resource.Context,
    news: Mapping[str, Any],
    recorded: Mapping[str, Any],
    unchecked: list[str],
    *,
    is_created: bool,
    in_preview: bool = False,
) -> tuple[str, ...]:
    """
    Return all problems of replacing the volume *recorded* by *news*; checks not made are added to *unchecked*.

    *is_created*: its plugin creates the storage of *news*. A preview ignores unknown values, and a plugin that this
    run creates first. Raises `errors.NomadApiError` where Nomad does not answer.
    """
    found = _problems(context, news, recorded, unchecked, is_created=is_created, in_preview=in_preview)
    return tuple(map(str, found))


def warn_of_missing_plugin(context: resource.Context, news: Mapping[str, Any]) -> None:
    """Warn in a preview of a plugin that the cluster does not have, and that nothing declared so far creates."""
    plugin_id = news["pluginId"]
    if plugin_id == resource.UNKNOWN or is_awaited(context, plugin_id):
        return
    known = context.operation.once("plugin ids", lambda: plugins.list_ids(context.client))
    if plugin_id not in known:
        context.warn(f"{missing(plugin_id, known)}; `up` fails unless this run starts it first")


def warn_out_of_reach(context: resource.Context, news: Mapping[str, Any]) -> None:
    """Warn in a preview of a volume in a place where its plugin is healthy on no client. Nomad registers it anyway."""
    plugin_id = news["pluginId"]
    if plugin_id == resource.UNKNOWN or not news.get("requiredTopologies"):
        return
    plugin = context.operation.once(f"plugin {plugin_id}", lambda: plugins.get(context.client, plugin_id))
    if plugin is not None and (why := out_of_reach(plugin, news)):
        context.warn(why)


def problems_of_owned_storage(
    context: resource.Context, news: Mapping[str, Any]
) -> tuple[tuple[errors.Problem, ...], list[str]]:
    """
    Return the problems of storage that the program created before, and the checks that were not made.

    A copied or kept state can refer to deleted storage. Unknown storage may be another account's.
    """
    unchecked: list[str] = []
    if not news.get("storage", {}).get("owned") or resource.UNKNOWN in (news["externalId"], news["pluginId"]):
        return (), unchecked
    from nomad_csi.volumes import storage_checks  # noqa: PLC0415  # seldom needed, and 0.3 s to import

    found = storage_checks.storage_problems(plugins.get(context.client, news["pluginId"]), news, {}, unchecked)
    return tuple(found), unchecked


def is_awaited(context: resource.Context, plugin_id: str) -> bool:
    """Return whether the program waits for *plugin_id* to become healthy, so that a preview may not find it yet."""
    declared = context.operation.all_declared(names.PLUGIN_HEALTH_TYPE)
    return any(item.get("pluginId") == plugin_id for item in declared)


def _problems(
    context: resource.Context,
    news: Mapping[str, Any],
    recorded: Mapping[str, Any],
    unchecked: list[str],
    *,
    is_created: bool,
    in_preview: bool,
) -> Iterator[errors.Problem]:
    plugin_id = news["pluginId"]
    plugin = None if plugin_id == resource.UNKNOWN else plugins.get(context.client, plugin_id)
    is_settled = not (in_preview and is_awaited(context, plugin_id))
    if plugin is None and plugin_id != resource.UNKNOWN and is_settled:
        yield missing(plugin_id, plugins.list_ids(context.client))
    if plugin is not None and is_settled:
        yield from plugin_problems(plugin, news, needs_controller=is_created)
    if is_created:
        return
    from nomad_csi.volumes import storage_checks  # noqa: PLC0415  # seldom needed, and 0.3 s to import

    yield from storage_checks.storage_problems(plugin, news, recorded, unchecked)
    if plugin is not None:
        yield from storage_checks.controller_problems(context, plugin, news, unchecked)


def hidden_flags(found: volumes.Volume, recorded: Mapping[str, Any]) -> str:
    """Return why *found* could not be put back: its mount flags are not known; empty where it could."""
    if not found.has_mount_flags or recorded.get("mountOptions", {}).get("mountFlags"):
        return ""
    return (
        "Nomad holds mount flags of it that the state does not have and Nomad does not show, so that it could not be "
        "put back if its replacement failed; write them into the program, or change them there, in an `up` of its own "
        "first"
    )
