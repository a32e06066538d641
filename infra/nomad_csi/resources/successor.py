"""
What is to take the place of something that works, checked before that is taken away.

Three are asked: Nomad for its plugin and its id, AWS for its storage, and the plugin's controller where its socket can
be reached from here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nomad_csi import errors, nomad
from nomad_csi.nomad import plugins
from nomad_csi.resources import plugin_health, successor_controller, successor_plugin, successor_storage, volume_changes
from nomad_csi.resources.created import created_changes
from nomad_csi.resources.frame import resource


@dataclass(frozen=True, kw_only=True)
class Successor:
    """Checked inputs of a volume, and the recorded outputs of what they follow."""

    news: Mapping[str, Any]
    recorded: Mapping[str, Any]
    is_created: bool = False
    """Whether the plugin makes its storage: it needs a controller then, and there is nothing to look up yet."""

    @property
    def key(self) -> str:
        """Namespace and id of what is to be taken away."""
        return f"{self.recorded['namespace']}/{self.recorded['volumeId']}"

    @property
    def has_other_id(self) -> bool:
        """Whether it has another namespace or id, which another volume may have already."""
        return any(self.news[name] != self.recorded[name] for name in ("namespace", "volumeId"))


def refuse(context: resource.Context, client: nomad.Nomad, wanted: Successor, *, in_preview: bool = False) -> None:
    """
    Raise `errors.RefusedError` with all that keeps *wanted* from working; what was not checked is one warning.

    In a preview values that are not known yet are left out, and so is a plugin that this run brings first. Raises
    `errors.NomadApiError` where Nomad does not answer.
    """
    if wanted.has_other_id:
        (created_changes if wanted.is_created else volume_changes).refuse_taken(client, wanted.news)
    unchecked: list[str] = []
    problems = tuple(_problems(context, client, wanted, unchecked, in_preview=in_preview))
    if problems:
        told = "; ".join(map(str, problems))
        raise errors.RefusedError(f"{wanted.key} stays as it is, because what is to follow would not work: {told}")
    if unchecked:
        context.warn(f"not checked before {wanted.key} is deregistered: {'; '.join(unchecked)}")


def warn_of_missing_plugin(context: resource.Context, client: nomad.Nomad, news: Mapping[str, Any]) -> None:
    """Warn in a preview of a plugin that the cluster does not have, and that nothing declared so far brings."""
    plugin_id = news["pluginId"]
    if plugin_id == resource.UNKNOWN or is_brought(context, plugin_id):
        return
    known = context.operation.once("plugin ids", lambda: plugins.list_ids(client))
    if plugin_id not in known:
        context.warn(f"{successor_plugin.missing(plugin_id, known)}; `up` fails unless this run starts it first")


def warn_out_of_reach(context: resource.Context, client: nomad.Nomad, news: Mapping[str, Any]) -> None:
    """Warn in a preview of a volume in a place where its plugin is healthy on no client. Nomad registers it anyway."""
    plugin_id = news["pluginId"]
    if plugin_id == resource.UNKNOWN or not news.get("requiredTopologies"):
        return
    plugin = context.operation.once(f"plugin {plugin_id}", lambda: plugins.get(client, plugin_id))
    if plugin is not None and (why := successor_plugin.out_of_reach(plugin, news)):
        context.warn(why)


def refuse_gone_storage(context: resource.Context, client: nomad.Nomad, news: Mapping[str, Any]) -> None:
    """
    Look in a preview for the storage of the new volume *news*, where the program made it before.

    A state that was copied, or kept, can be older than the end of its storage. What AWS knows to be unusable is
    refused; what it does not know may be another account's, and is a warning.
    """
    if not news.get("storage", {}).get("owned") or resource.UNKNOWN in (news["externalId"], news["pluginId"]):
        return
    unchecked: list[str] = []
    found = tuple(successor_storage.problems(plugins.get(client, news["pluginId"]), news, {}, unchecked))
    name = f"volume {news['namespace']}/{news['volumeId']}"
    if found:
        raise errors.RefusedError(f"{name} would be registered for unusable storage: {'; '.join(map(str, found))}")
    if unchecked:
        context.warn(
            f"{name} would be registered for storage that was not found: {'; '.join(unchecked)}; where it was deleted, "
            "run `pulumi refresh` first"
        )


def is_brought(context: resource.Context, plugin_id: str) -> bool:
    """Return whether the program waits for *plugin_id* to become healthy, so that it may not be there in a preview."""
    declared = context.operation.all_declared(plugin_health.PluginHealthResource.token)
    return any(item.get("pluginId") == plugin_id for item in declared)


def _problems(
    context: resource.Context, client: nomad.Nomad, wanted: Successor, unchecked: list[str], *, in_preview: bool
) -> Iterator[errors.Problem]:
    plugin_id = wanted.news["pluginId"]
    plugin = None if plugin_id == resource.UNKNOWN else plugins.get(client, plugin_id)
    if plugin is None and plugin_id != resource.UNKNOWN and not (in_preview and is_brought(context, plugin_id)):
        yield successor_plugin.missing(plugin_id, plugins.list_ids(client))
    if plugin is not None and not (in_preview and is_brought(context, plugin_id)):
        yield from successor_plugin.problems(plugin, wanted.news, needs_controller=wanted.is_created)
    if wanted.is_created:
        return
    yield from successor_storage.problems(plugin, wanted.news, wanted.recorded, unchecked)
    if plugin is not None:
        yield from successor_controller.problems(context, plugin, wanted.news, unchecked)
