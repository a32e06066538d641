"""Refusal of plugin jobs that would run beside another job of the plugin, before they are started."""

from collections.abc import Collection, Iterable

from nomad_csi import errors, findings
from nomad_csi.frame import resource
from nomad_csi.jobs import job_conflicts
from nomad_csi.nomad import plugin_jobs
from nomad_csi.volumes import registration_ownership


def refuse(
    context: resource.Context,
    tasks: Iterable[plugin_jobs.PluginTask],
    who: registration_ownership.Requester,
    own: Collection[job_conflicts.Key],
    *,
    is_whole: bool,
) -> None:
    """
    Raise `errors.RefusedError` where another job than *own* runs a plugin of *tasks* where these would.

    With *is_whole*, *own* are all jobs of the plugin. Then jobs that run another part of it are refused, too, before
    anything is started; but not those of the stack itself, *who*, which the same run may change after this one. A check
    that could not be made is a warning.
    """
    by_plugin: dict[str, list[plugin_jobs.PluginTask]] = {}
    for task in tasks:
        by_plugin.setdefault(task.plugin_id, []).append(task)
    for wanted in by_plugin.values():
        beside = job_conflicts.find_conflicts(context.client, wanted, own)
        mine = frozenset(key for key, owner in beside.owners.items() if who.is_same_stack(owner))
        judged = (
            *beside.only(mine, inside=True).check(wanted),
            *beside.only(mine, inside=False).check(wanted, every_part=is_whole),
        )
        for item in judged:
            if item.severity == "warning":
                context.warn(str(item))
        if beside.unchecked:
            context.warn(beside.unchecked)
        if refused := findings.errors_of(judged):
            raise errors.RefusedError("; ".join(["nothing was started", *map(str, refused)]))
