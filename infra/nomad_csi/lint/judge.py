"""All rules applied to all files."""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

from nomad_csi.drivers import model as drivers
from nomad_csi.findings import Finding
from nomad_csi.hcl import files as parsed
from nomad_csi.lint import (
    across,
    consumers,
    plugin_arguments,
    plugin_job,
    plugin_task,
    policies,
    subjects,
    volume_forms,
    volume_rules,
)
from nomad_csi.lint.model import Consumer, LintedPlugin, LintedPolicy, LintedVolume, at_line

_NOTES = {
    "json-surrogate": ("json-surrogates", "two escapes for one character"),
    "not-normalised": ("text-not-normalised", "text in another form than NFC"),
    "one-line": ("several-on-a-line", "another attribute in front of it"),
    "quoted-name": ("name-in-quotes", "a name in quotes"),
}
"""Code, and what was found, by what the reader notes."""

_PLUGIN_CHECKS = (plugin_job.check, plugin_task.check, plugin_arguments.check)
_VOLUME_CHECKS = (volume_forms.check, volume_rules.check)


def judge(files: Sequence[parsed.File]) -> tuple[Finding, ...]:
    """Return what is wrong with *files*, in their order, by line."""
    order = {file.name: index for index, file in enumerate(files)}
    found = {*_of_files(files), *_of_subjects(subjects.of(files))}
    return tuple(sorted(found, key=lambda item: (order[item.file], item.line, item.code, item.found)))


def of_driver(file: parsed.File, driver: drivers.Driver) -> tuple[Finding, ...]:
    """Return what is wrong with the plugins of *file*, of which somebody knows that they run *driver*."""
    known = (dataclasses.replace(plugin, driver=driver) for plugin in subjects.of([file]).plugins)
    return tuple(_of(plugin, item) for plugin in known for check in _PLUGIN_CHECKS for item in check(plugin))


def _of_files(files: Iterable[parsed.File]) -> Iterator[Finding]:
    for file in files:
        for note, line in file.notes:
            code, found = _NOTES[note]
            yield dataclasses.replace(at_line(code, line, found), file=file.name, subject=f"{file.kind} file")
        for job in file.jobs:
            yield from (dataclasses.replace(item, file=file.name) for item in consumers.check_job(job))


def _of_subjects(found: subjects.Subjects) -> Iterator[Finding]:
    for plugin in found.plugins:
        for check in _PLUGIN_CHECKS:
            yield from (_of(plugin, item) for item in check(plugin))
    for volume in found.volumes:
        for look in _VOLUME_CHECKS:
            yield from (_of(volume, item) for item in look(volume))
    for consumer in found.consumers:
        yield from (_of(consumer, item) for item in consumers.check(consumer))
    for policy in found.policies:
        yield from (_of(policy, item) for item in policies.check(policy))
    yield from (_of(plugin, item) for plugin, item in across.check_plugins(found.plugins))
    yield from (_of(volume, item) for volume, item in across.check_volumes(found.volumes, found.plugins))


def _of(subject: LintedPlugin | LintedVolume | Consumer | LintedPolicy, found: Finding) -> Finding:
    return dataclasses.replace(found, file=subject.file, subject=subject.subject)
