"""What is checked: the plugins, volumes, consumers and policies of the files."""

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from nomad_csi.drivers import model as drivers
from nomad_csi.findings import Finding, finding
from nomad_csi.hcl import job as jobs
from nomad_csi.hcl import values


def at_line(code: str, line: int, found: str, advice: str = "") -> Finding:
    """Return what is found at *line* of a file; file and subject are added by `judge`."""
    return dataclasses.replace(finding(code, "", found=found, advice=advice), line=line)


@dataclass(frozen=True, kw_only=True)
class LintedPlugin:
    """A task that runs a CSI plugin."""

    file: str
    job: jobs.JobFile
    group: jobs.GroupBlock
    task: jobs.TaskBlock
    plugin: jobs.CsiPluginBlock
    driver: drivers.Driver | None
    """``None``: not in the catalogue."""

    @property
    def role(self) -> drivers.DriverRole | None:
        """What the catalogue says of this role; ``None`` where it says nothing."""
        return self.driver.roles.get(self.plugin.type) if self.driver else None  # type: ignore[call-overload]  # any text may stand in a file

    @property
    def subject(self) -> str:
        """``plugin aws-ebs0 (controller)``."""
        return f"plugin {self.plugin.id or 'without an id'} ({self.plugin.type or 'no type'})"

    def line_of_argument(self, index: int) -> int:
        """Return the line of an argument of the task."""
        return values.line_of(self.task.config.get("args"), index, self.task.config.at("args"))


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
    def modes(self) -> list[tuple[str, str, int]]:
        """Access mode, attachment mode and line of each capability."""
        blocks = values.blocks(self.content, "capability")
        return [(jobs.text(block, "access_mode"), jobs.text(block, "attachment_mode"), block.line) for block in blocks]


@dataclass(frozen=True, kw_only=True)
class Consumer:
    """A group that asks for a volume."""

    file: str
    job: jobs.JobFile
    group: jobs.GroupBlock
    request: jobs.VolumeRequest
    volume: LintedVolume | None
    """The volume, where its file was given too."""

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
        """What it is called in findings."""
        return "IAM policy"


PluginCheck = Callable[[LintedPlugin], Iterator[Finding]]
VolumeCheck = Callable[[LintedVolume], Iterator[Finding]]
