"""Subjects of the checks: plugins, volumes and their consumers, each with its driver if that is in the catalogue."""

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nomad_csi.drivers import catalogue, recognise
from nomad_csi.findings import Finding, finding
from nomad_csi.hcl import files as parsed
from nomad_csi.hcl import job as jobs
from nomad_csi.hcl import values
from nomad_csi.migration import model, volumes
from nomad_csi.spec import plugin as plugin_spec


def finding_at_line(code: str, line: int, evidence: str, advice: str = "") -> Finding:
    """Return a finding at *line* of a file; `judge` adds file and subject."""
    return dataclasses.replace(finding(code, "", found=evidence, advice=advice), line=line)


@dataclass(frozen=True, kw_only=True)
class LintedPlugin(model.Part):
    """A task that runs a CSI plugin."""

    driver: catalogue.Driver | None
    """``None``: not in the catalogue."""

    @property
    def role(self) -> catalogue.DriverRole | None:
        """The catalogue's description of this role; ``None`` where it has none."""
        return self.driver.roles.get(self.plugin.type) if self.driver else None  # type: ignore[call-overload]  # any text may stand in a file

    @property
    def runs_own_command(self) -> bool:
        """Whether the container runs something else than the image's entrypoint with the arguments of the driver."""
        is_container = self.task.driver in plugin_spec.CONTAINERS
        return is_container and bool({"command", "entrypoint"} & self.task.config.keys())

    @property
    def subject(self) -> str:
        """``plugin aws-ebs0 (controller)``."""
        plugin_id, role = (jobs.shown(self.plugin.body, name) for name in ("id", "type"))
        return f"plugin {plugin_id or 'without an id'} ({role or 'no type'})"

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
    driver: catalogue.Driver | None

    @property
    def id(self) -> str:
        """The volume's id."""
        return jobs.text(self.content, "id")

    @property
    def namespace(self) -> str:
        """Its namespace, ``default`` where it names none."""
        return jobs.text(self.content, "namespace") or "default"

    @property
    def modes(self) -> list[tuple[str, str]]:
        """Access mode and attachment mode of each capability."""
        blocks = values.blocks(self.content, "capability")
        return [(jobs.text(block, "access_mode"), jobs.text(block, "attachment_mode")) for block in blocks]


@dataclass(frozen=True, kw_only=True)
class Consumer:
    """A group that requests a volume."""

    job: jobs.JobFile
    group: jobs.GroupBlock
    request: jobs.VolumeRequest
    volume: LintedVolume | None
    """The volume; ``None`` where its file was not given."""


def plugins_of(files: Sequence[parsed.File]) -> Iterator[LintedPlugin]:
    """Yield the plugins in *files*, each with its driver in its image's version."""
    for file in files:
        for job in file.jobs:
            for group, task, plugin in job.plugins():
                row = model.row_of(task)
                version = recognise.tag(jobs.shown(task.config, "image"))
                driver = row and (catalogue.select_version(row, version) or row)
                yield LintedPlugin(file=file.name, job=job, group=group, task=task, plugin=plugin, driver=driver)


def volumes_of(files: Sequence[parsed.File], plugins: Sequence[LintedPlugin]) -> Iterator[LintedVolume]:
    """Yield the volumes in *files*. Their driver is that of their plugin, if its job is among them."""
    by_plugin = {jobs.shown(plugin.plugin.body, "id"): plugin.driver for plugin in reversed(plugins)}
    for file in files:
        for content in file.volumes:
            driver = by_plugin.get(jobs.text(content, "plugin_id")) or volumes.driver_of(content)
            yield LintedVolume(file=file.name, content=content, driver=driver)
