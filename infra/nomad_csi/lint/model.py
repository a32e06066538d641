"""Subjects of the checks: plugins, volumes, consumers and policies of the files."""

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nomad_csi.drivers import catalogue, recognise, storage_identity
from nomad_csi.drivers import model as drivers
from nomad_csi.findings import Finding, finding
from nomad_csi.hcl import files as parsed
from nomad_csi.hcl import job as jobs
from nomad_csi.hcl import values
from nomad_csi.migration import model, volumes
from nomad_csi.spec import plugin_jobs


def finding_at_line(code: str, line: int, found: str, advice: str = "") -> Finding:
    """Return a finding at *line* of a file; `judge` adds file and subject."""
    return dataclasses.replace(finding(code, "", found=found, advice=advice), line=line)


@dataclass(frozen=True, kw_only=True)
class LintedPlugin(model.Part):
    """A task that runs a CSI plugin."""

    driver: drivers.Driver | None
    """``None``: not in the catalogue."""

    @property
    def role(self) -> drivers.DriverRole | None:
        """The catalogue's description of this role; ``None`` where it has none."""
        return self.driver.roles.get(self.plugin.type) if self.driver else None  # type: ignore[call-overload]  # any text may stand in a file

    @property
    def runs_own_command(self) -> bool:
        """Whether the container runs something else than the image's entrypoint with the arguments of the driver."""
        is_container = self.task.driver in plugin_jobs.CONTAINERS
        return is_container and bool({"command", "entrypoint"} & self.task.config.keys())

    @property
    def subject(self) -> str:
        """``plugin aws-ebs0 (controller)``."""
        plugin_id, role = (jobs.shown(self.plugin.body, name) for name in ("id", "type"))
        return f"plugin {plugin_id or 'without an id'} ({role or 'no type'})"

    @property
    def mount_dir(self) -> str:
        """Folder of the plugin's socket in the container."""
        return self.plugin.mount_dir or "/csi"

    @property
    def has_known_id(self) -> bool:
        """Whether id and type are known."""
        body = self.plugin.body
        return not any(isinstance(body.written(name), values.Unevaluated) for name in ("id", "type"))


@dataclass(frozen=True, kw_only=True)
class LintedVolume:
    """A volume file, or one volume of a file."""

    file: str
    content: values.Map
    driver: drivers.Driver | None

    @property
    def id(self) -> str:
        """The volume's id."""
        return jobs.text(self.content, "id")

    @property
    def namespace(self) -> str:
        """Its namespace, ``default`` where it names none."""
        return jobs.text(self.content, "namespace") or "default"

    @property
    def subject(self) -> str:
        """``volume mysql``."""
        return f"volume {self.id or 'without an id'}"

    @property
    def located(self) -> tuple[storage_identity.StorageIdentity, ...]:
        """The place that its context names, where the driver reads it instead of the external id."""
        texts = {key: str(value) for block in values.blocks(self.content, "context") for key, value in block.items()}
        return tuple(storage_identity.located(texts, self.driver)) if self.driver else ()

    @property
    def modes(self) -> list[tuple[str, str, int]]:
        """Access mode, attachment mode and line of each capability."""
        blocks = values.blocks(self.content, "capability")
        return [(jobs.text(block, "access_mode"), jobs.text(block, "attachment_mode"), block.line) for block in blocks]


@dataclass(frozen=True, kw_only=True)
class Consumer:
    """A group that requests a volume."""

    file: str
    job: jobs.JobFile
    group: jobs.GroupBlock
    request: jobs.VolumeRequest
    volume: LintedVolume | None
    """The volume; ``None`` where its file was not given."""

    @property
    def subject(self) -> str:
        """``volume block mysql of job mysql-server``."""
        return f"volume block {self.request.name} of job {self.job.id}"


@dataclass(frozen=True, kw_only=True)
class LintedPolicy:
    """An IAM policy."""

    file: str
    content: values.Map

    @property
    def subject(self) -> str:
        """Its name in findings."""
        return "IAM policy"


# From parsed files to subjects, each with its driver if that is in the catalogue.


@dataclass(frozen=True, kw_only=True)
class Subjects:
    """Subjects of all files."""

    plugins: tuple[LintedPlugin, ...]
    volumes: tuple[LintedVolume, ...]
    consumers: tuple[Consumer, ...]
    policies: tuple[LintedPolicy, ...]


def subjects_of(files: Sequence[parsed.File]) -> Subjects:
    """Return the subjects in *files*. A volume's driver is that of its plugin, if the plugin's job is among them."""
    plugins = tuple(plugin for file in files for job in file.jobs for plugin in _plugins(file, job))
    volumes = tuple(_volume(file, content, plugins) for file in files for content in file.volumes)
    return Subjects(
        plugins=plugins,
        volumes=volumes,
        consumers=tuple(item for file in files for job in file.jobs for item in _consumers(file, job, volumes)),
        policies=tuple(LintedPolicy(file=file.name, content=file.policy) for file in files if file.policy is not None),
    )


def driver_of(task: jobs.TaskBlock) -> drivers.Driver | None:
    """Return the driver of *task*, in its image's version; ``None`` where it is not in the catalogue."""
    row = model.row_of(task)
    return row and (catalogue.select_version(row, recognise.tag(jobs.shown(task.config, "image"))) or row)


def _plugins(file: parsed.File, job: jobs.JobFile) -> Iterable[LintedPlugin]:
    for group, task, plugin in job.plugins():
        yield LintedPlugin(file=file.name, job=job, group=group, task=task, plugin=plugin, driver=driver_of(task))


def _volume(file: parsed.File, content: values.Map, plugins: Sequence[LintedPlugin]) -> LintedVolume:
    plugin_id = jobs.text(content, "plugin_id")
    by_plugin = next((plugin.driver for plugin in plugins if jobs.shown(plugin.plugin.body, "id") == plugin_id), None)
    return LintedVolume(file=file.name, content=content, driver=by_plugin or volumes.driver_of(content))


def _consumers(file: parsed.File, job: jobs.JobFile, volumes: Sequence[LintedVolume]) -> Iterable[Consumer]:
    namespace = jobs.shown(job.body, "namespace") or "default"
    for group in job.groups:
        for request in group.volumes:
            named = (namespace, jobs.shown(request.body, "source"))
            found = next((item for item in volumes if (item.namespace, item.id) == named), None)
            yield Consumer(file=file.name, job=job, group=group, request=request, volume=found)
