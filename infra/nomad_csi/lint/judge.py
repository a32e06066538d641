"""All rules applied to all files."""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

from nomad_csi.drivers import model as drivers
from nomad_csi.hcl import files as parsed
from nomad_csi.lint import (
    across,
    consumers,
    plugin_arguments,
    plugin_job,
    plugin_task,
    policies,
    subjects,
    table,
    volume_driver,
    volume_forms,
)
from nomad_csi.lint.model import Consumer, Hit, Plugin, Policy, Verdict, Volume

NOTES = {
    "json-surrogate": "json-surrogates",
    "not-normalised": "text-not-normalised",
    "one-line": "several-on-a-line",
    "quoted-name": "name-in-quotes",
}
"""Rules by what the reader notes."""

_NOTED = {
    "json-surrogate": "two escapes for one character",
    "not-normalised": "text in another form than NFC",
    "one-line": "another attribute in front of it",
    "quoted-name": "a name in quotes",
}
_PLUGIN_CHECKS = (plugin_job.check, plugin_task.check, plugin_arguments.check)
_VOLUME_CHECKS = (volume_forms.check, volume_driver.check)


def verdicts(files: Sequence[parsed.File]) -> tuple[Verdict, ...]:
    """Return what is wrong with *files*, in their order, by line."""
    order = {file.name: index for index, file in enumerate(files)}
    found = {*_of_files(files), *_of_subjects(subjects.of(files))}
    return tuple(sorted(found, key=lambda verdict: (order[verdict.file], verdict.line, verdict.code, verdict.found)))


def of_driver(file: parsed.File, driver: drivers.Driver) -> tuple[Verdict, ...]:
    """Return what is wrong with the plugins of *file*, of which somebody knows that they run *driver*."""
    known = (dataclasses.replace(plugin, driver=driver) for plugin in subjects.of([file]).plugins)
    return tuple(_of(plugin, hit) for plugin in known for check in _PLUGIN_CHECKS for hit in check(plugin))


def _of_files(files: Iterable[parsed.File]) -> Iterator[Verdict]:
    for file in files:
        for note, line in file.notes:
            yield _verdict(file.name, f"{file.kind} file", Hit(code=NOTES[note], line=line, found=_NOTED[note]))


def _of_subjects(found: subjects.Subjects) -> Iterator[Verdict]:
    for plugin in found.plugins:
        for check in _PLUGIN_CHECKS:
            yield from (_of(plugin, hit) for hit in check(plugin))
    for volume in found.volumes:
        for look in _VOLUME_CHECKS:
            yield from (_of(volume, hit) for hit in look(volume))
    for consumer in found.consumers:
        yield from (_of(consumer, hit) for hit in consumers.check(consumer))
    for policy in found.policies:
        yield from (_of(policy, hit) for hit in policies.check(policy))
    yield from (_of(plugin, hit) for plugin, hit in across.check_plugins(found.plugins))
    yield from (_of(volume, hit) for volume, hit in across.check_volumes(found.volumes, found.plugins))


def _of(subject: Plugin | Volume | Consumer | Policy, hit: Hit) -> Verdict:
    return _verdict(subject.file, subject.subject, hit)


def _verdict(file: str, subject: str, hit: Hit) -> Verdict:
    rule = table.RULES[hit.code]
    return Verdict(
        code=hit.code,
        severity=rule.severity,
        file=file,
        line=hit.line,
        subject=subject,
        found=hit.found,
        fix=hit.fix or rule.fix,
    )
