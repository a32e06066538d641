"""What is wrong between files: ids that should be the same, and ids that should not."""

import collections
import itertools
from collections.abc import Iterator, Sequence

from nomad_csi.findings import Finding
from nomad_csi.hcl import job as jobs
from nomad_csi.lint.model import LintedPlugin, LintedVolume, at_line
from nomad_csi.plan import shared_storage

_HALVES = ("controller", "node")


def check_plugins(plugins: Sequence[LintedPlugin]) -> Iterator[tuple[LintedPlugin, Finding]]:
    """Yield the plugin and what is wrong with it beside the others."""
    for first, second in itertools.combinations(plugins, 2):
        line = second.plugin.body.at("id")
        if (first.plugin.id, first.plugin.type) == (second.plugin.id, second.plugin.type):
            found = f"job {second.job.id} beside job {first.job.id} of {first.file}"
            yield second, at_line("plugin-twice", line, found)
    for plugin in plugins:
        other = _half_elsewhere(plugin, plugins)
        if other is not None:
            found = f"the {other.plugin.type} of {other.file} has the id {other.plugin.id}"
            yield plugin, at_line("plugin-id-mismatch", plugin.plugin.body.at("id"), found)


def _half_elsewhere(plugin: LintedPlugin, plugins: Sequence[LintedPlugin]) -> LintedPlugin | None:
    """Return the node plugin that seems to belong to a controller without one; each has lost the other."""
    if plugin.plugin.type != "controller" or plugin.driver is None or _has_half(plugin, plugins):
        return None
    nodes = (other for other in plugins if other.plugin.type == "node" and other.driver is plugin.driver)
    return next((other for other in nodes if not _has_half(other, plugins)), None)


def _has_half(plugin: LintedPlugin, plugins: Sequence[LintedPlugin]) -> bool:
    wanted = next(kind for kind in _HALVES if kind != plugin.plugin.type)
    return any(other.plugin.type == wanted and other.plugin.id == plugin.plugin.id for other in plugins)


def check_volumes(
    volumes: Sequence[LintedVolume], plugins: Sequence[LintedPlugin]
) -> Iterator[tuple[LintedVolume, Finding]]:
    """Yield the volume and what is wrong with it beside the others, and beside the plugins."""
    for first, second in _pairs(volumes):
        if (first.namespace, first.id) == (second.namespace, second.id):
            found = f"{first.file} has it too"
            yield second, at_line("volume-twice", second.content.at("id"), found)
        elif _is_one(first, second):
            found = f"volume {first.id} of {first.file} has the same external id"
            yield second, at_line("external-id-shared", second.content.at("external_id"), found)
    known = {plugin.plugin.id for plugin in plugins}
    for volume in volumes:
        plugin_id = jobs.text(volume.content, "plugin_id")
        if plugins and plugin_id and plugin_id not in known:
            found = f"the plugin {plugin_id!a}; the jobs given run {', '.join(sorted(known))}"
            yield volume, at_line("volume-plugin-unknown", volume.content.at("plugin_id"), found)


def _pairs(volumes: Sequence[LintedVolume]) -> Iterator[tuple[LintedVolume, LintedVolume]]:
    """Yield each two that have an id in common, of the volume or of its storage, in the order of *volumes*."""
    groups: dict[tuple[str, ...], list[int]] = collections.defaultdict(list)
    for index, volume in enumerate(volumes):
        groups[volume.namespace, volume.id].append(index)
        if external_id := jobs.text(volume.content, "external_id"):
            for identity in set(shared_storage.identities(external_id)):
                groups[(identity,)].append(index)
    pairs = {pair for group in groups.values() for pair in itertools.combinations(group, 2)}
    return ((volumes[first], volumes[second]) for first, second in sorted(pairs))


def _is_one(first: LintedVolume, second: LintedVolume) -> bool:
    """Return whether two volumes are one to their driver."""
    ids = [jobs.text(volume.content, "external_id") for volume in (first, second)]
    same_plugin = first.content.get("plugin_id") == second.content.get("plugin_id")
    modes = [mode for volume in (first, second) for mode, _, _ in volume.modes]
    is_shared = bool(modes) and shared_storage.is_shareable(modes)
    return bool(ids[0]) and shared_storage.is_same(*ids) and same_plugin and not is_shared
