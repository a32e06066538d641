"""From a draft of the spec to the plan, or to all of its problems at once."""

from collections.abc import Iterator
from typing import Any

from nomad_csi import errors
from nomad_csi.drivers import catalogue
from nomad_csi.plan import jobs, model, rules, volumes
from nomad_csi.spec import draft as drafts
from nomad_csi.spec import model as spec


def plan_document(document: Any, *, source: str = "", owner: str = "") -> model.StoragePlan:
    """
    Return the plan of a spec *document*: a mapping with ``plugins``, ``volumes`` and ``protect``.

    *source* names the document in errors; *owner* (``project/stack``) goes into AWS tags.
    Raises `errors.SpecError` with every problem of the spec, its values and its rules.
    """
    draft = drafts.read(document)
    problems = (*draft.problems, *_problems(draft))
    if problems:
        raise errors.SpecError(problems, source)
    plugins = {plugin.id: plugin for plugin in draft.plugins.values()}
    served: dict[str, list[spec.VolumeSpec]] = {name: [] for name in plugins}
    for volume in draft.volumes.values():
        served[volume.plugin_id].append(volume)
    return model.StoragePlan(
        plugins=tuple(
            jobs.plan_plugin(plugin, catalogue.DRIVERS[plugin.driver], served[plugin.id]) for plugin in plugins.values()
        ),
        volumes=tuple(
            volumes.plan_volume(
                volume,
                catalogue.DRIVERS[plugins[volume.plugin_id].driver],
                protect=draft.protect,
                owner=owner,
            )
            for volume in draft.volumes.values()
        ),
    )


def _problems(draft: drafts.Draft) -> Iterator[errors.Problem]:
    by_id = {plugin.id: plugin for plugin in draft.plugins.values()}
    for path, plugin in draft.plugins.items():
        yield from rules.check_plugin(plugin, catalogue.DRIVERS[plugin.driver], path)
    yield from rules.check_plugins(draft.plugins)
    broken = any(problem.path.startswith("plugins[") for problem in draft.problems)
    for path, volume in draft.volumes.items():
        if volume.plugin_id in by_id:
            plugin = by_id[volume.plugin_id]
            yield from rules.check_volume(volume, catalogue.DRIVERS[plugin.driver], plugin.aws_region, path)
        elif not broken:
            allowed = f"the id of a plugin of this spec: {', '.join(by_id) or 'there is none'}"
            yield errors.Problem(path=f"{path}.plugin_id", got=repr(volume.plugin_id), allowed=allowed)
    shared = frozenset(plugin.id for plugin in by_id.values() if catalogue.DRIVERS[plugin.driver].external_id.shared)
    yield from rules.check_volumes(draft.volumes, shared)
