"""What a plugin's controller says of a volume before it is registered: Nomad asks it the same when it is."""

from collections.abc import Iterator, Mapping
from typing import Any

from nomad_csi import errors
from nomad_csi.csi import endpoint, validation
from nomad_csi.health import gather
from nomad_csi.nomad import plugins
from nomad_csi.resources import plugin_health, volume_document
from nomad_csi.resources.frame import properties, resource
from nomad_csi.text import foreign

TIMEOUT_S = 10.0

_LATER = frozenset(
    {"ABORTED", "CANCELLED", "DEADLINE_EXCEEDED", "NOT_ASKED", "RESOURCE_EXHAUSTED", "UNAVAILABLE", "UNIMPLEMENTED"}
)
"""Codes that say nothing of the volume."""


def problems(
    context: resource.Context, plugin: plugins.Plugin, news: Mapping[str, Any], unchecked: list[str]
) -> Iterator[errors.Problem]:
    """Yield what the controller has against the volume of *news*; where it was not asked, that is *unchecked*."""
    if not plugin.controllers or _has_unknown(news):
        return
    socket = _socket(context, plugin)
    if not socket:
        unchecked.append(f"the controller of {plugin.plugin_id} (its socket is not reachable from here)")
        return
    document = volume_document.from_inputs(news)
    key = (document.namespace, document.volume_id)
    question = validation.ValidationQuestion(
        key=key,
        external_id=document.external_id,
        uses=tuple((item.access_mode, item.attachment_mode) for item in document.capabilities),
        context=document.context,
        parameters=document.parameters,
    )
    answer = validation.ask(socket, [question], secrets={key: document.secrets}, timeout_s=TIMEOUT_S)[key]
    said = foreign.clean(answer.message or "no reason given")
    if answer.code in _LATER:
        unchecked.append(f"the controller of {plugin.plugin_id} ({answer.code}: {said})")
    elif answer.code:
        got = f"{document.external_id!r}: {answer.code}: {said}"
        allowed = f"a volume that the controller of {plugin.plugin_id} knows"
        yield errors.Problem(path="externalId", got=got, allowed=allowed)
    elif not answer.confirmed:
        context.warn(f"the controller of {plugin.plugin_id} does not confirm the capabilities of the volume: {said}")


def _socket(context: resource.Context, plugin: plugins.Plugin) -> str:
    """Return the socket of a healthy controller on this machine; empty where there is none."""
    declared = context.operation.all_declared(plugin_health.PluginHealthResource.token)
    folders = {item.get("clientDataDir", "") for item in declared if item.get("pluginId") == plugin.plugin_id}
    paths = (
        gather.socket_path(folder, item.alloc_id)
        for folder in sorted(folders - {"", properties.UNKNOWN})
        for item in plugin.controllers
        if item.healthy
    )
    return next((path for path in paths if _is_open(path)), "")


def _is_open(path: str) -> bool:
    try:
        return endpoint.obstacle(endpoint.parse(path)) is None
    except errors.CsiError:
        return False


def _has_unknown(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_has_unknown, value.values()))
    if isinstance(value, list):
        return any(map(_has_unknown, value))
    return bool(value == properties.UNKNOWN)
