"""Whether a plugin, as Nomad has it, can serve a volume. Pure."""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nomad_csi import errors
from nomad_csi.drivers import catalogue, model
from nomad_csi.nomad import plugins
from nomad_csi.resources.frame import properties

_SHOWN = 8
_LOOK = "check its jobs: `nomad-csi verify` says what is wrong"


def missing(plugin_id: str, known: Iterable[str]) -> errors.Problem:
    """Return what is wrong with a *plugin_id* that is not among those *known* to Nomad."""
    there = tuple(known)
    close = difflib.get_close_matches(plugin_id, there, n=1)
    more = f" and {len(there) - _SHOWN} more" if len(there) > _SHOWN else ""
    return errors.Problem(
        path="pluginId",
        got=repr(plugin_id),
        allowed=f"a CSI plugin that Nomad has ({', '.join(there[:_SHOWN]) or 'none'}{more})",
        fix=f"did you mean {close[0]}" if close else "run the plugin's job first",
    )


def problems(plugin: plugins.Plugin, news: Mapping[str, Any], *, needs_controller: bool) -> Iterator[errors.Problem]:
    """
    Yield what keeps *plugin* from serving the volume of *news*.

    A plugin of which no instance was ever healthy takes any registration unchecked (tried on Nomad 2.0.6-dev).
    """
    healthy = [item for item in (*plugin.controllers, *plugin.nodes) if item.healthy]
    if not healthy:
        yield _unfit(plugin, "a healthy plugin", "no instance is healthy")
    elif needs_controller and not plugin.controllers:
        yield _unfit(plugin, "a plugin with a controller", "it has none")
    elif (plugin.controller_required or needs_controller) and not any(item.healthy for item in plugin.controllers):
        yield _unfit(plugin, "a plugin with a healthy controller", f"0 of {len(plugin.controllers)} are healthy")
    yield from _form(plugin, news)


def out_of_reach(plugin: plugins.Plugin, news: Mapping[str, Any]) -> str:
    """
    Return that no client on which *plugin* is healthy is in a place that the volume of *news* requires; else nothing.

    Nothing either where a place is not known yet, and where no instance is healthy or reports its place.
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
    """Return the required places of *news*; none where one of them is not known yet."""
    places = news.get("requiredTopologies", ())
    is_known = properties.UNKNOWN not in str(places)
    return list(places) if is_known else []


def _shown(segments: Mapping[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in sorted(segments.items())) or "places without that key"


def _unfit(plugin: plugins.Plugin, allowed: str, found: str) -> errors.Problem:
    return errors.Problem(path="pluginId", got=f"{plugin.plugin_id!r}: {found}", allowed=allowed, fix=_LOOK)


def _form(plugin: plugins.Plugin, news: Mapping[str, Any]) -> Iterator[errors.Problem]:
    """Yield that an external id is none of the plugin's driver, where the catalogue has that."""
    external_id, driver = news.get("externalId", properties.UNKNOWN), _driver(plugin)
    if driver is not None and external_id != properties.UNKNOWN and not driver.external_id.fits(external_id):
        yield errors.Problem(path="externalId", got=repr(external_id), allowed=driver.external_id.allowed)


def _driver(plugin: plugins.Plugin) -> model.Driver | None:
    found = (
        driver
        for driver in catalogue.DRIVERS.values()
        if plugin.provider == driver.provider.replace("{plugin_id}", plugin.plugin_id)
    )
    return next(found, None)
