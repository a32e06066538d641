"""What a rule is, what it finds, and what is looked at: the plugins, volumes, consumers and policies of the files."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from nomad_csi.drivers import model as drivers
from nomad_csi.hcl import job as jobs
from nomad_csi.hcl import values

Severity = Literal["error", "warning"]


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One thing that is looked for, in files by the linter or in a cluster by the doctor."""

    code: str
    """Kept once released."""

    severity: Severity
    """``error``: it does not work, or loses something; ``warning``: it works until something else happens."""

    explanation: str
    """What is wrong and what comes of it, as sentences."""

    fix: str
    """What to do, as an imperative phrase."""

    source: str
    """Where this is known from: a file and symbol, or a page or run and its date."""


@dataclass(frozen=True, kw_only=True)
class Hit:
    """A rule that fired, as the check saw it."""

    code: str
    line: int
    found: str
    """What is there, as a phrase. Never the value of a secret."""

    fix: str = ""
    """A fix better than the rule's own; empty: the rule's."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """A rule that fired, for people and programs."""

    code: str
    severity: Severity
    file: str
    line: int
    subject: str
    """Such as ``plugin aws-ebs0 (controller)`` or ``volume mysql``."""

    found: str
    fix: str

    def __str__(self) -> str:
        """Return ``FILE:LINE: severity: CODE: subject: found; fix``."""
        where = f"{self.file}:{self.line}" if self.line else self.file  # what a server says has no lines
        return f"{where}: {self.severity}: {self.code}: {self.subject}: {self.found}; {self.fix}"


@dataclass(frozen=True, kw_only=True)
class Plugin:
    """A task that runs a CSI plugin."""

    file: str
    job: jobs.Job
    group: jobs.Group
    task: jobs.Task
    plugin: jobs.CsiPlugin
    driver: drivers.Driver | None
    """``None``: not in the catalogue."""

    @property
    def role(self) -> drivers.Role | None:
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
class Volume:
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
    job: jobs.Job
    group: jobs.Group
    request: jobs.VolumeRequest
    volume: Volume | None
    """The volume, where its file was given too."""

    @property
    def subject(self) -> str:
        """``volume block mysql of job mysql-server``."""
        return f"volume block {self.request.name} of job {self.job.id}"


@dataclass(frozen=True, kw_only=True)
class Policy:
    """An IAM policy."""

    file: str
    content: values.Map

    @property
    def subject(self) -> str:
        """What it is called in verdicts."""
        return "IAM policy"


PluginCheck = Callable[[Plugin], Iterator[Hit]]
VolumeCheck = Callable[[Volume], Iterator[Hit]]
