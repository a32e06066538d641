"""Result of an import: the document of a spec, and remarks on missing or changed values."""

import dataclasses
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from nomad_csi.drivers import catalogue, recognise
from nomad_csi.hcl import job as jobs
from nomad_csi.hcl import values

Kind = Literal["missing", "wrong", "left out", "changed", "note", "not read"]
"""
``missing``: the spec requires it and no file has it; ``wrong``: a spec refuses the file's value; ``left out``: the spec
has no key for it; ``changed``: rendered differently than in the file; ``note``: for information; ``not read``: the
token may not read it in the cluster.
"""

OPEN: tuple[Kind, ...] = ("wrong", "missing")
"""Kinds that must be resolved before the spec can be used."""

CLUSTER = "the cluster"
"""File of remarks that concern no single job or volume."""


@dataclass(frozen=True)
class Remark:
    """One remark on the import. Never holds the value of a secret."""

    kind: Kind
    line: int
    """0: not in a file."""

    text: str
    """What it is; behind a semicolon, what to do instead."""

    code: str = field(default="", compare=False)
    """Code of the finding of `check` at this line that the import resolves or keeps; empty: none."""

    file: str = ""
    """`Remarks` adds it."""

    def __str__(self) -> str:
        """Return ``FILE:LINE: kind: text``."""
        return f"{self.file_and_line}: {self.kind}: {self.text}"

    @property
    def file_and_line(self) -> str:
        """``FILE:LINE``."""
        return f"{self.file}:{self.line}" if self.line else self.file


_REFERENCE = re.compile(r"\$\{(?:env\.)?(\w+)\}")


@dataclass(frozen=True, kw_only=True)
class Part:
    """One task of a plugin, with its file, job and group."""

    file: str
    job: jobs.JobFile
    group: jobs.GroupBlock
    task: jobs.TaskBlock
    plugin: jobs.CsiPluginBlock

    @property
    def arguments(self) -> list[str]:
        """The arguments, with the values of the task's own environment in the place of ``${NAME}``."""
        given = {name: jobs.as_text(value) for name, value in self.task.env.items() if name != values.LABELS}
        return [
            _REFERENCE.sub(lambda match: given.get(match[1], match[0]), argument) for argument in self.task.arguments
        ]

    @property
    def restarts(self) -> list[values.Map]:
        """The ``restart`` blocks in effect."""
        return values.blocks(self.task.body, "restart") or values.blocks(self.group.body, "restart")

    @property
    def constraints(self) -> list[values.Map]:
        """The ``constraint`` blocks of job, group and task."""
        bodies = (self.job.body, self.group.body, self.task.body)
        return [block for body in bodies for block in values.blocks(body, "constraint")]


def is_distinct_hosts(constraint: values.Map) -> bool:
    """Return whether *constraint* keeps instances on different clients."""
    return constraint.get("operator") == "distinct_hosts" or "distinct_hosts" in constraint


def row_of(task: jobs.TaskBlock) -> catalogue.Driver | None:
    """Return the driver of the catalogue that *task* runs, in any version, as far as its values are known."""
    return recognise.recognise_plugin(
        image=jobs.shown(task.config, "image"),
        command=jobs.shown(task.config, "command"),
        plugin_id=jobs.shown(task.plugin.body, "id") if task.plugin else "",
        arguments=task.shown_arguments,
    )


@dataclass(kw_only=True)
class Remarks:
    """Collects remarks."""

    entries: list[Remark] = field(default_factory=list)

    def add(self, kind: Kind, file: str, line: int, text: str, *, code: str = "") -> None:
        """Add a remark, unless it exists."""
        self.take(file, [Remark(kind, line, text, code)])

    def take(self, file: str, remarks: Iterable[Remark]) -> None:
        """Add the remarks on *file*, each once."""
        for each in remarks:
            remark = dataclasses.replace(each, file=file)
            if remark not in self.entries:
                self.entries.append(remark)


@dataclass(frozen=True, kw_only=True)
class Adoption:
    """The result of an import."""

    document: Mapping[str, Any]
    """A spec as plain values, for YAML. It may lack values that no file has."""

    remarks: tuple[Remark, ...]

    @property
    def is_complete(self) -> bool:
        """Whether the document is not empty, and nothing in it is missing or wrong."""
        return bool(self.document) and all(remark.kind not in OPEN for remark in self.remarks)

    @property
    def is_all(self) -> bool:
        """Whether everything could be read."""
        return all(remark.kind != "not read" for remark in self.remarks)


def filled(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return *document* without absent and empty values; false, 0 and an empty ``create`` stay."""
    return {name: value for name, value in document.items() if name == "create" or value not in (None, "", [], {})}
