"""
Values for the variables of job files, as ``nomad job run`` takes them: ``NOMAD_VAR_name``, ``-var-file``, ``-var``.

A later source wins. Source: hashicorp/nomad, ``jobspec2/parse.go`` (``ParseWithConfig``) and
``jobspec2/types.variables.go`` (``collectInputVariableValues``), 2026-08-21.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nomad_csi import errors

PREFIX = "NOMAD_VAR_"


@dataclass(frozen=True, kw_only=True)
class Given:
    """Values by the name of the variable."""

    texts: Mapping[str, str] = field(default_factory=dict)
    """As text: of type string or number, or an expression for another type."""

    values: Mapping[str, Any] = field(default_factory=dict)
    """From files of variables."""


NONE = Given()


def given(environment: Mapping[str, str], files: Iterable[Path], options: Iterable[str]) -> Given:
    """
    Return the values from all sources; *options* are ``name=value``.

    Raises `errors.SpecError` for a file that cannot be read and an option of another form.
    """
    from nomad_csi.hcl import read, source  # noqa: PLC0415  # the reader takes `Given`

    texts = {name.removeprefix(PREFIX): value for name, value in environment.items() if name.startswith(PREFIX)}
    found: dict[str, Any] = {}
    for path in files:
        content = read.reading(source.read(path), str(path), "job").content
        found |= {name: content.written(name) for name in content}
    for option in options:
        name, sign, value = option.partition("=")
        if not sign or not name:
            problem = errors.Problem(path="--var", got=repr(option), allowed="NAME=VALUE")
            raise errors.SpecError((problem,), source="the command line")
        texts[name] = value
        found.pop(name, None)
    return Given(texts={name: value for name, value in texts.items() if name not in found}, values=found)
