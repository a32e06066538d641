"""What comes out: the document of a spec, and remarks on what is not in it, or is in it otherwise."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from nomad_csi.drivers import model as drivers
from nomad_csi.drivers import recognise
from nomad_csi.hcl import job as jobs
from nomad_csi.hcl import values

Kind = Literal["missing", "wrong", "left out", "changed", "note", "not read"]
"""
``missing``: the spec needs it and no file says it; ``wrong``: a spec refuses what the file says; ``left out``: the file
says it and the spec has no place for it; ``changed``: rendered otherwise than it was; ``note``: worth knowing;
``not read``: the cluster has it, and the token may not read it.
"""

OPEN: tuple[Kind, ...] = ("wrong", "missing")
"""Kinds that keep a spec from being used as it is."""

CLUSTER = "the cluster"
"""Where remarks stand that belong to no job or volume alone."""


TERRAFORM = "the Terraform state"
"""Where remarks stand that belong to no resource of it alone."""


@dataclass(frozen=True, kw_only=True)
class Remark:
    """One thing to know about the import. Never the value of a secret."""

    kind: Kind
    file: str
    line: int
    """0: it stands in no file."""

    text: str
    code: str = field(default="", compare=False)
    """Code of the finding that `lint` has at this place, if any, where the remark says what becomes of it."""

    def __str__(self) -> str:
        """Return ``FILE:LINE: kind: text``."""
        return f"{self.place}: {self.kind}: {self.text}"

    @property
    def place(self) -> str:
        """``FILE:LINE``."""
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, kw_only=True)
class Part:
    """One task of a plugin: where it stands."""

    file: str
    job: jobs.JobFile
    group: jobs.GroupBlock
    task: jobs.TaskBlock
    plugin: jobs.CsiPluginBlock

    @property
    def restarts(self) -> list[values.Map]:
        """The ``restart`` blocks that count."""
        return values.blocks(self.task.body, "restart") or values.blocks(self.group.body, "restart")

    @property
    def constraints(self) -> list[values.Map]:
        """The ``constraint`` blocks of job, group and task."""
        bodies = (self.job.body, self.group.body, self.task.body)
        return [block for body in bodies for block in values.blocks(body, "constraint")]


def is_distinct_hosts(constraint: values.Map) -> bool:
    """Return whether *constraint* keeps instances on different clients."""
    return constraint.get("operator") == "distinct_hosts" or "distinct_hosts" in constraint


def row_of(task: jobs.TaskBlock) -> drivers.Driver | None:
    """Return the driver of the catalogue that *task* runs, whatever its version."""
    return recognise.of_plugin(
        image=task.image,
        command=jobs.text(task.config, "command"),
        plugin_id=task.plugin.id if task.plugin else "",
        arguments=task.arguments,
    )


@dataclass(kw_only=True)
class Remarks:
    """Collects remarks."""

    found: list[Remark] = field(default_factory=list)

    def add(self, kind: Kind, file: str, line: int, text: str, *, code: str = "") -> None:
        """Add one, once."""
        remark = Remark(kind=kind, file=file, line=line, text=text, code=code)
        if remark not in self.found:
            self.found.append(remark)

    def drop(self, beginning: str) -> None:
        """Take back those whose text begins so: what was missing is known."""
        self.found[:] = [remark for remark in self.found if not remark.text.startswith(beginning)]


@dataclass(frozen=True, kw_only=True)
class Adoption:
    """The result of an import."""

    document: Mapping[str, Any]
    """A spec as plain values, for YAML. It may lack what no file says."""

    remarks: tuple[Remark, ...]

    @property
    def is_complete(self) -> bool:
        """Whether there is something, and nothing is missing or wrong in it."""
        return bool(self.document) and all(remark.kind not in OPEN for remark in self.remarks)

    @property
    def is_all(self) -> bool:
        """Whether all that there is was read."""
        return all(remark.kind != "not read" for remark in self.remarks)


def filled(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return *document* without what a spec leaves out: absent and empty values, but not false and 0."""
    return {name: value for name, value in document.items() if value not in (None, "", [], {})}
