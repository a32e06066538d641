"""From parsed files to what is checked, each with its driver where the catalogue knows it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nomad_csi.drivers import catalogue, recognise
from nomad_csi.drivers import model as drivers
from nomad_csi.hcl import files as parsed
from nomad_csi.hcl import job as jobs
from nomad_csi.hcl import values
from nomad_csi.lint.model import Consumer, LintedPlugin, LintedPolicy, LintedVolume


@dataclass(frozen=True, kw_only=True)
class Subjects:
    """What the files hold."""

    plugins: tuple[LintedPlugin, ...]
    volumes: tuple[LintedVolume, ...]
    consumers: tuple[Consumer, ...]
    policies: tuple[LintedPolicy, ...]


def of(files: Sequence[parsed.File]) -> Subjects:
    """Return what *files* hold. A volume's driver is that of its plugin, where the plugin's job is among them."""
    plugins = tuple(plugin for file in files for job in file.jobs for plugin in _plugins(file, job))
    volumes = tuple(_volume(file, content, plugins) for file in files for content in file.volumes)
    return Subjects(
        plugins=plugins,
        volumes=volumes,
        consumers=tuple(item for file in files for job in file.jobs for item in _consumers(file, job, volumes)),
        policies=tuple(LintedPolicy(file=file.name, content=file.policy) for file in files if file.policy is not None),
    )


def driver_of(task: jobs.TaskBlock) -> drivers.Driver | None:
    """Return the driver that *task* runs, in its image's version; ``None`` where it is not in the catalogue."""
    row = recognise.of_plugin(
        image=task.image,
        command=jobs.text(task.config, "command"),
        plugin_id=task.plugin.id if task.plugin else "",
        arguments=task.arguments,
    )
    return row and (catalogue.of_version(row, recognise.tag(task.image)) or row)


def driver_of_volume(content: values.Map) -> drivers.Driver | None:
    """Return the driver that the content of a volume file belongs to, by itself."""
    segments = (
        segment
        for request in values.blocks(content, "topology_request")
        for name in ("required", "preferred")
        for block in values.blocks(request, name)
        for topology in values.blocks(block, "topology")
        for segment in values.blocks(topology, "segments")
    )
    return recognise.of_volume(
        plugin_id=jobs.text(content, "plugin_id"),
        external_id=jobs.text(content, "external_id"),
        context={key: value for block in values.blocks(content, "context") for key, value in block.items()},
        topology_keys=[key for segment in segments for key in segment],
    )


def _plugins(file: parsed.File, job: jobs.JobFile) -> Iterable[LintedPlugin]:
    for group, task, plugin in job.plugins():
        yield LintedPlugin(file=file.name, job=job, group=group, task=task, plugin=plugin, driver=driver_of(task))


def _volume(file: parsed.File, content: values.Map, plugins: Sequence[LintedPlugin]) -> LintedVolume:
    plugin_id = jobs.text(content, "plugin_id")
    by_plugin = next((plugin.driver for plugin in plugins if plugin.plugin.id == plugin_id), None)
    return LintedVolume(file=file.name, content=content, driver=by_plugin or driver_of_volume(content))


def _consumers(file: parsed.File, job: jobs.JobFile, volumes: Sequence[LintedVolume]) -> Iterable[Consumer]:
    namespace = job.namespace or "default"
    for group in job.groups:
        for request in group.volumes:
            found = next((item for item in volumes if (item.namespace, item.id) == (namespace, request.source)), None)
            yield Consumer(file=file.name, job=job, group=group, request=request, volume=found)
