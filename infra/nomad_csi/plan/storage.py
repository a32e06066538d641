"""From a draft of the spec to the plan, or to all of its problems."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from nomad_csi import errors
from nomad_csi.drivers import catalogue
from nomad_csi.plan import jobs, model, plugin_plans, volumes
from nomad_csi.plan.rules import efs_rules, plugin_rules, snapshot_rules, volume_rules
from nomad_csi.spec import draft as drafts
from nomad_csi.spec import encrypted, problems
from nomad_csi.spec import model as spec

_OF_ANOTHER = "add it under plugins; for a plugin of another stack, declare the volume with a component"
"""Fix of a volume whose plugin is not in the spec: the rules between the two need its driver."""

_MISSPELT = "did you mean plugins?"
"""Fix of the problem that leaves all plugins unknown."""


def plan_document(document: Any, *, source: str = "", owner: str = "") -> model.StoragePlan:
    """
    Return the plan of a spec *document*: a mapping with ``plugins``, ``volumes`` and ``protect``.

    Strings in it may be `encrypted.Encrypted` where they stay secret.

    *source* names the document in errors; *owner* (``project/stack``) goes into AWS tags.
    Raises `errors.SpecError` with all problems of the spec's values and rules.
    """
    hidden = tuple(encrypted.check(document))
    plan = None if hidden else _sound_plan(document, owner)
    if plan is None:
        draft = drafts.read(document)
        known = [problem.path for problem in hidden]
        found = [*hidden, *_outside(known, (*draft.problems, *_problems(draft)))]
        raise errors.SpecError(drafts.fold_sets(found, document), source, drafts.ids(document))
    sizes = (plugin_plans.check_policy(plugin, f"plugins[{index}]") for index, plugin in enumerate(plan.plugins))
    if large := tuple(itertools.chain.from_iterable(sizes)):
        raise errors.SpecError(large, source, drafts.ids(document))
    return plan


def _sound_plan(document: Any, owner: str) -> model.StoragePlan | None:
    """
    Return the plan of *document*, or ``None`` where it has any problem.

    Each volume is read, checked and planned before the next, so that only the plans stay in memory.
    """
    if not isinstance(document, Mapping):
        return None
    head = drafts.read({key: value for key, value in document.items() if key != "volumes"})
    drivers = {plugin.id: jobs.driver(plugin) for plugin in head.plugins.values()}
    if head.problems or any(_plugin_problems(head.plugins)) or any(_file_system_problems(head)):
        return None
    plugins = {plugin.id: plugin for plugin in head.plugins.values()}
    # All volumes of a plugin with a policy, which names them; else one that the plugin creates, if there is any.
    served: dict[str, list[spec.VolumeSpec]] = {name: [] for name in plugins}
    taken = volume_rules.UsedIds()
    found: list[errors.Problem] = []
    planned = []
    for path, volume in drafts.each_volume(document, found):
        plugin = plugins.get(volume.plugin_id) if volume else None
        driver = drivers[plugin.id] if plugin else None
        if not (volume and plugin and driver) or any(taken.add(volume, driver, path)):
            return None
        found.extend(volume_rules.check_volume(volume, driver, plugin, path))
        found.extend(snapshot_rules.check(volume, head.snapshots, path))
        found.extend(efs_rules.check_named(volume, head.file_systems, plugin, path))
        planned.append(volumes.plan_volume(volume, driver, protect=head.protect, owner=owner))
        if plugin.iam or (volume.create and not served[plugin.id]):
            served[plugin.id].append(volume)
    if found or any(taken.check_moved()):
        return None
    made = tuple(
        plugin_plans.plan_plugin(plugin, driver, served[name])
        for name, plugin in plugins.items()
        if (driver := drivers[name])
    )
    systems = {
        name: volumes.tagged_file_system(name, system, owner) for name, system in (head.file_systems or {}).items()
    }
    return model.StoragePlan(plugins=made, volumes=tuple(planned), file_systems=systems, schedules=head.snapshots or {})


def _outside(places: Sequence[str], problems: Iterable[errors.Problem]) -> Iterator[errors.Problem]:
    """Yield the *problems* outside of *places*, which have problems already."""
    for problem in problems:
        if not any(place.startswith(problem.path) or problem.path.startswith(place) for place in places):
            yield problem


def _problems(draft: drafts.Draft) -> Iterator[errors.Problem]:
    """Yield the problems that the rules find in the valid plugins and volumes."""
    by_id = {plugin.id: (path, plugin) for path, plugin in draft.plugins.items()}
    drivers = {path: jobs.driver(plugin) for path, plugin in draft.plugins.items()}
    yield from _plugin_problems(draft.plugins)
    yield from _file_system_problems(draft)
    # The id of a plugin with a problem may be unknown.
    is_known = not any(item.path.startswith("plugins") or item.fix == _MISSPELT for item in draft.problems)
    for path, volume in draft.volumes.items():
        yield from snapshot_rules.check(volume, draft.snapshots, path)
        if volume.plugin_id in by_id:
            where, plugin = by_id[volume.plugin_id]
            yield from efs_rules.check_named(volume, draft.file_systems, plugin, path)
            if served := drivers[where]:
                yield from volume_rules.check_volume(volume, served, plugin, path)
        elif is_known:
            yield problems.unknown_name(f"{path}.plugin_id", volume.plugin_id, by_id, "plugin", _OF_ANOTHER)
    served_by = {name: driver for name, (path, _) in by_id.items() if (driver := drivers[path])}
    yield from volume_rules.check_volumes(draft.volumes, served_by)


def _plugin_problems(plugins: Mapping[str, spec.PluginSpec]) -> Iterator[errors.Problem]:
    drivers = {path: jobs.driver(plugin) for path, plugin in plugins.items()}
    for path, plugin in plugins.items():
        driver = drivers[path]
        if driver:
            yield from plugin_rules.check_plugin(plugin, driver, path)
        else:
            yield catalogue.unknown(str(plugin.driver), f"{path}.driver")
    yield from plugin_rules.check_plugins(plugins, drivers)


def _file_system_problems(draft: drafts.Draft) -> Iterator[errors.Problem]:
    former: dict[str, str] = {}
    for name, system in (draft.file_systems or {}).items():
        path = f"file_systems.{name}"
        yield from efs_rules.check_settings(system, path)
        yield from volume_rules.check_tags(system, path)
        yield from snapshot_rules.check_named(system.snapshots, draft.snapshots, path, is_efs=True)
        moved = system.moved_from
        if moved and (moved in (draft.file_systems or {}) or former.setdefault(moved, name) != name):
            allowed = "a former name that no file system has now, and no other one names"
            yield errors.Problem(path=f"{path}.moved_from", got=repr(moved), allowed=allowed)
