"""Apply all rules to all files."""

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Sequence

from nomad_csi.diagnosis.file_rules import consumers, plugins, policies, subjects, volumes
from nomad_csi.diagnosis.file_rules.subjects import LintedPlugin, LintedVolume, finding_at_line
from nomad_csi.drivers import catalogue, storage_identity
from nomad_csi.findings import Finding
from nomad_csi.hcl import files as parsed
from nomad_csi.hcl import job as jobs
from nomad_csi.hcl import values
from nomad_csi.plan import registration, rules

_Rule = tuple[str, str, Iterable[Finding]]
"""A file, the subject of findings that name none, and the findings of a rule."""


def judge(files: Sequence[parsed.File]) -> tuple[Finding, ...]:
    """Return the findings for *files*, in their order, by line."""
    order = {file.name: index for index, file in enumerate(files)}
    findings = set(_findings(_rules(files)))
    return tuple(sorted(findings, key=lambda item: (order[item.file], item.line, item.code, item.subject, item.found)))


def judge_plugins(file: parsed.File, driver: catalogue.Driver | None) -> tuple[Finding, ...]:
    """Return the findings for the plugins of *file*, which run *driver*; ``None``: the one that their image shows."""
    known = (dataclasses.replace(plugin, driver=driver or plugin.driver) for plugin in subjects.plugins_of([file]))
    return tuple(_findings(rule for plugin in known for rule in _plugin(plugin)))


def _findings(ruled: Iterable[_Rule]) -> Iterator[Finding]:
    for file, subject, rule in ruled:
        for item in rules.known(rule, ended=_not_checked):
            yield dataclasses.replace(item, file=file, subject=subject)


def _not_checked(error: rules.UnknownValueError) -> Finding:
    """Return the warning of a check that ended at a value that only Nomad computes."""
    value = error.value  # type: ignore[attr-defined]  # files raise `values.UnevaluatedError`
    return finding_at_line("value-unknown", value.line, f"the value of {value.expression}")


def _rules(files: Sequence[parsed.File]) -> Iterator[_Rule]:
    known_plugins = list(subjects.plugins_of(files))
    known_volumes = list(subjects.volumes_of(files, known_plugins))
    for plugin in known_plugins:
        yield from _plugin(plugin)
    for volume in known_volumes:
        yield volume.file, _subject(volume), volumes.check(volume)
    for file in files:
        if file.policy is not None:
            yield file.name, "IAM policy", policies.check(file.policy)
        for job in file.jobs:
            yield from _consumers(file.name, job, known_volumes)
    for plugin, finding in check_plugins([plugin for plugin in known_plugins if plugin.has_known_id]):
        yield plugin.file, plugin.subject, [finding]
    for volume, finding in check_volumes(known_volumes, known_plugins):
        yield volume.file, _subject(volume), [finding]


def _subject(volume: LintedVolume) -> str:
    return f"volume {volume.id or 'without an id'}"


def _plugin(plugin: LintedPlugin) -> Iterator[_Rule]:
    for check in plugins.CHECKS:
        yield plugin.file, plugin.subject, check(plugin)


def _consumers(file: str, job: jobs.JobFile, volumes: Sequence[LintedVolume]) -> Iterator[_Rule]:
    namespace = jobs.shown(job.body, "namespace") or "default"
    for group in job.groups:
        yield file, f"group {group.name} of job {job.id}", consumers.check_group(group)
        for request in group.volumes:
            named = (namespace, jobs.shown(request.body, "source"))
            volume = next((item for item in volumes if (item.namespace, item.id) == named), None)
            consumer = subjects.Consumer(job=job, group=group, request=request, volume=volume)
            for check in consumers.CHECKS:
                yield file, f"volume block {request.name} of job {job.id}", check(consumer)


# Problems across files: ids that should be equal, and ids that should differ.


def check_plugins(plugins: Sequence[LintedPlugin]) -> Iterator[tuple[LintedPlugin, Finding]]:
    """Yield each plugin and a finding that concerns it and the other plugins."""
    for first, second in itertools.combinations(plugins, 2):
        line = second.plugin.body.at("id")
        if (first.plugin.id, first.plugin.type) == (second.plugin.id, second.plugin.type):
            evidence = f"job {second.job.id} beside job {first.job.id} of {first.file}"
            yield second, finding_at_line("plugin-twice", line, evidence)


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
            evidence = f"the plugin {plugin_id!a}; the jobs given run {', '.join(sorted(known))}"
            yield volume, finding_at_line("volume-plugin-unknown", volume.content.at("plugin_id"), evidence)


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
        context = {
            key: str(value) for block in values.blocks(volume.content, "context") for key, value in block.items()
        }
        located = tuple(storage_identity.located(context, volume.driver)) if volume.driver else ()
        storage = frozenset(located) or storage_identity.identify(external_id)
        first = firsts.setdefault((plugin_id, storage), volume)
        if _are_claimed_as_one(first, volume):
            shared = "place in its context" if located else "external id"
            evidence = f"volume {first.id} of {first.file} has the same {shared}"
            yield volume, finding_at_line("external-id-shared", line, evidence)
            continue
        first = firsts.setdefault((plugin_id, external_id), volume)
        if _are_claimed_as_one(first, volume):
            evidence = f"volume {first.id} of {first.file} has the external id {external_id!a}, and other storage"
            yield volume, finding_at_line("external-id-reused", line, evidence)


def _are_claimed_as_one(first: LintedVolume, second: LintedVolume) -> bool:
    """Return whether they are two volumes, of which one has no mode for several clients."""
    is_same = (first.namespace, first.id) == (second.namespace, second.id)
    modes = [mode for volume in (first, second) for mode, _ in volume.modes]
    return not is_same and not (modes and registration.is_shareable(modes))
