"""Apply all rules to all files."""

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from nomad_csi.drivers import model as drivers
from nomad_csi.drivers import storage_identity
from nomad_csi.findings import Finding
from nomad_csi.hcl import files as parsed
from nomad_csi.hcl import job as jobs
from nomad_csi.lint import consumers, model, plugins, policies, volume_forms
from nomad_csi.lint.model import Consumer, LintedPlugin, LintedPolicy, LintedVolume, finding_at_line
from nomad_csi.plan import registration, unknown

# Problems across files: ids that should be equal, and ids that should differ.


_HALVES = ("controller", "node")


def check_plugins(plugins: Sequence[LintedPlugin]) -> Iterator[tuple[LintedPlugin, Finding]]:
    """Yield each plugin and a finding that concerns it and the other plugins."""
    for first, second in itertools.combinations(plugins, 2):
        line = second.plugin.body.at("id")
        if (first.plugin.id, first.plugin.type) == (second.plugin.id, second.plugin.type):
            found = f"job {second.job.id} beside job {first.job.id} of {first.file}"
            yield second, finding_at_line("plugin-twice", line, found)
    for plugin in plugins:
        other = _half_elsewhere(plugin, plugins)
        if other is not None:
            found = f"the {other.plugin.type} of {other.file} has the id {other.plugin.id}"
            yield plugin, finding_at_line("plugin-id-mismatch", plugin.plugin.body.at("id"), found)


def _half_elsewhere(plugin: LintedPlugin, plugins: Sequence[LintedPlugin]) -> LintedPlugin | None:
    """Return the likely node plugin of a controller without one: a node plugin of the driver without a controller."""
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
    """Yield each volume and a finding that concerns it and the other volumes or the plugins."""
    yield from _twice(volumes)
    yield from _sharing(volumes)
    known = {plugin.plugin.id for plugin in plugins if plugin.has_known_id}
    for volume in volumes:
        plugin_id = jobs.text(volume.content, "plugin_id")
        if known and plugin_id and plugin_id not in known and all(item.has_known_id for item in plugins):
            found = f"the plugin {plugin_id!a}; the jobs given run {', '.join(sorted(known))}"
            yield volume, finding_at_line("volume-plugin-unknown", volume.content.at("plugin_id"), found)


def _twice(volumes: Sequence[LintedVolume]) -> Iterator[tuple[LintedVolume, Finding]]:
    """Yield each volume whose id an earlier one has."""
    firsts: dict[tuple[str, str], LintedVolume] = {}
    for volume in volumes:
        first = firsts.setdefault((volume.namespace, volume.id), volume)
        if first is not volume:
            yield volume, finding_at_line("volume-twice", volume.content.at("id"), f"{first.file} has it too")


def _sharing(volumes: Sequence[LintedVolume]) -> Iterator[tuple[LintedVolume, Finding]]:
    """Yield each volume that has the storage of an earlier one of its plugin, or its external id and other storage."""
    firsts: dict[tuple[object, ...], LintedVolume] = {}
    for volume in volumes:
        external_id, plugin_id = (jobs.text(volume.content, name) for name in ("external_id", "plugin_id"))
        if not external_id:
            continue
        line = volume.content.at("external_id")
        located = volume.located
        storage = frozenset(located) or storage_identity.identify(external_id)
        first = firsts.setdefault((plugin_id, storage), volume)
        if _are_claimed_as_one(first, volume):
            shared = "place in its context" if located else "external id"
            found = f"volume {first.id} of {first.file} has the same {shared}"
            yield volume, finding_at_line("external-id-shared", line, found)
            continue
        first = firsts.setdefault((plugin_id, external_id), volume)
        if located and _are_claimed_as_one(first, volume):
            found = f"volume {first.id} of {first.file} has the external id {external_id!a}, and other storage"
            yield volume, finding_at_line("external-id-reused", line, found)


def _are_claimed_as_one(first: LintedVolume, second: LintedVolume) -> bool:
    """Return whether they are two volumes, of which one has no mode for several clients."""
    is_same = (first.namespace, first.id) == (second.namespace, second.id)
    modes = [mode for volume in (first, second) for mode, _, _ in volume.modes]
    return not is_same and not (modes and registration.is_shareable(modes))


# All rules, all files.


_CHECKS: Mapping[type, tuple[Callable[[Any], Iterator[Finding]], ...]] = {
    LintedPlugin: plugins.CHECKS,
    LintedVolume: (volume_forms.check, volume_forms.check_as_spec),
    Consumer: consumers.CHECKS,
    LintedPolicy: (policies.check,),
}


def judge(files: Sequence[parsed.File]) -> tuple[Finding, ...]:
    """Return the findings for *files*, in their order, by line."""
    order = {file.name: index for index, file in enumerate(files)}
    found = {*_lint_files(files), *_lint_subjects(model.subjects_of(files))}
    return tuple(sorted(found, key=lambda item: (order[item.file], item.line, item.code, item.subject, item.found)))


def lint_with_driver(file: parsed.File, driver: drivers.Driver) -> tuple[Finding, ...]:
    """Return the findings for the plugins of *file*, which are known to run *driver*."""
    known = (dataclasses.replace(plugin, driver=driver) for plugin in model.subjects_of([file]).plugins)
    return tuple(_checked(known))


def _lint_files(files: Iterable[parsed.File]) -> Iterator[Finding]:
    for file in files:
        for job in file.jobs:
            found_in_job = unknown.known(consumers.check_job(job), ended=_not_checked)
            subject = f"job {job.id}"
            yield from (
                dataclasses.replace(item, file=file.name, subject=item.subject or subject) for item in found_in_job
            )


def _lint_subjects(found: model.Subjects) -> Iterator[Finding]:
    yield from _checked((*found.plugins, *found.volumes, *found.consumers, *found.policies))
    known = [plugin for plugin in found.plugins if plugin.has_known_id]
    yield from (_lint_subject(plugin, item) for plugin, item in check_plugins(known))
    yield from (_lint_subject(volume, item) for volume, item in check_volumes(found.volumes, found.plugins))


def _checked(subjects: Iterable[LintedPlugin | LintedVolume | Consumer | LintedPolicy]) -> Iterator[Finding]:
    for subject in subjects:
        for check in _CHECKS[type(subject)]:
            yield from (_lint_subject(subject, item) for item in unknown.known(check(subject), ended=_not_checked))


def _not_checked(error: unknown.UnknownValueError) -> Finding:
    """Return the warning of a check that ended at a value that only Nomad computes."""
    value = error.value  # type: ignore[attr-defined]  # files raise `values.UnevaluatedError`
    return finding_at_line("value-unknown", value.line, f"the value of {value.expression}")


def _lint_subject(subject: LintedPlugin | LintedVolume | Consumer | LintedPolicy, found: Finding) -> Finding:
    return dataclasses.replace(found, file=subject.file, subject=subject.subject)
