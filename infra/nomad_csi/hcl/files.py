"""Detect the kind of a file (job file, volume file, IAM policy) and read its content."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nomad_csi import errors
from nomad_csi.hcl import job, read, tokens, values

Kind = Literal["job", "volume", "host volume", "policy"]

_JOB = re.compile(r"^[ \t]*(?:job|variable|variables|locals)\b[^=\n]*\{", re.MULTILINE)
"""Start of a job file; no name in a volume file matches."""

_VOLUME_NAMES = frozenset({"capability", "external_id", "id", "plugin_id", "type"})


@dataclass(frozen=True, kw_only=True)
class File:
    """One parsed file."""

    name: str
    kind: Kind
    jobs: tuple[job.JobFile, ...] = ()
    volumes: tuple[values.Map, ...] = ()
    """Content of a volume file."""

    policy: values.Map | None = None
    unknown: tuple[values.Unevaluated, ...] = ()
    """Values that only Nomad computes."""


def load(path: Path, given: read.Given = read.NOTHING_GIVEN) -> File:
    """
    Return the file at *path*; *given* are values for the variables of a job file.

    Raises `errors.SpecError` for binary, unreadable or unrecognised content.
    """
    return parse(tokens.read(path), str(path), given)


def parse(text: str, name: str, given: read.Given = read.NOTHING_GIVEN) -> File:
    """Return the file with this *text*. Raises `errors.SpecError` with every problem and its line."""
    is_job = _JOB.search(text) is not None
    reading = read.reading(text, name, "job" if is_job else "volume", given)
    content = reading.content
    if "Statement" in content:
        return File(name=name, kind="policy", policy=content)
    jobs = job.jobs(content)
    if jobs:
        _refuse_unknown_blocks(jobs, name)
        return File(name=name, kind="job", jobs=jobs, unknown=reading.unknown)
    if is_job or not _VOLUME_NAMES & set(content):
        raise _refusal(name, "a job file, a volume file or an IAM policy", "none of them")
    kind = content.get("type", "csi")
    if kind not in ("csi", "host"):
        raise _refusal(name, 'a CSI volume (type = "csi")', "a volume of another type")
    if kind == "host":
        return File(name=name, kind="host volume")
    return File(name=name, kind="volume", volumes=(content,))


def _refuse_unknown_blocks(jobs: tuple[job.JobFile, ...], name: str) -> None:
    """Raise `errors.SpecError` where it is not known which volumes and plugins the jobs have."""
    try:
        for each in jobs:
            for group in each.groups:
                _ = group.volumes, [task.plugin for task in group.tasks]
    except values.UnevaluatedError as error:
        fix = "give the output of `nomad job run -output FILE`"
        got = error.value.expression
        problem = errors.Problem(
            path=f"line {error.value.line}", got=got, allowed="blocks that are written out", fix=fix
        )
        raise errors.SpecError((problem,), source=name) from None


def _refusal(name: str, allowed: str, got: str) -> errors.SpecError:
    return errors.SpecError((errors.Problem(path="", got=got, allowed=allowed),), source=name)
