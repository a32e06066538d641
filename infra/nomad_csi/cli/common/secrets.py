"""
Secrets of volumes, given apart from specs and files: in a file or the environment, never as arguments.

All users of a machine can read arguments. All secrets of a volume are required: Nomad erases those not sent.
"""

import dataclasses
import functools
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from nomad_csi import errors
from nomad_csi.cli.common import command, inputs, output
from nomad_csi.plan import registration
from nomad_csi.spec import draft, encrypted, problems
from nomad_csi.text import secrets as secrets_by_name

VARIABLE = "NOMAD_CSI_SECRETS"
"""Environment variable with secrets, as JSON in the form of a secrets file."""

FILE = "expected a FILE: secrets are not given as arguments, which everybody on the machine can read"


def path(given: str, instead: str) -> Path:
    """Return the path *given* for secrets. Raises `click.BadParameter` with *instead* for secrets themselves."""
    if ("=" in given or given.lstrip().startswith("{")) and not os.path.exists(given):  # noqa: PTH110  # never raises
        raise click.BadParameter(instead)
    return Path(given)


def option(text: str, instead: str = FILE, **settings: Any) -> command.Declare[Any]:
    """
    Return the decorator that adds the option for a secrets file, whose help is *text*.

    *instead* is the message to a user who gives the secrets themselves; *settings* are those of `command.option`.
    """

    def file(given: str) -> Path:
        return path(given, instead)

    return command.option("--secrets FILE", text, type=file, **settings)


of_volumes = functools.partial(option, f"YAML or JSON: secrets by namespace/volume_id (also: the variable {VARIABLE})")
"""Returns the decorator that adds the option for a file with secrets of volumes."""

Given = Mapping[str, Mapping[str, str]]
"""``{"namespace/volume_id": {name: value}}``."""


def read(document: object, source: str) -> Given:
    """Return the checked *document* of a secrets file. Raises `errors.SpecError`, which shows no value."""
    found = document if isinstance(document, Mapping) else None
    if found is None or not all(_is_entry(key, value) for key, value in found.items()):
        allowed = "a mapping of namespace/volume_id to a mapping of names to texts"
        raise errors.SpecError((errors.Problem(path="", got="[secret]", allowed=allowed),), source)
    if halves := tuple(problems.half_characters(found, "")):
        raise errors.SpecError(halves, source)
    return {str(key): dict(value) for key, value in found.items()}


def filled(
    documents: Iterable[registration.VolumeRegistration],
    given: Given,
    needed: Mapping[str, Iterable[str]],
) -> tuple[registration.VolumeRegistration, ...]:
    """
    Return *documents* with the secrets that are *given*.

    *needed* names, by ``namespace/volume_id``, secrets of a volume that no other source has; a value that is
    `encrypted.PLACEHOLDER` is one of them. Raises `errors.SpecError` with each missing secret, and each that is given
    for a volume that is not among *documents*.
    """
    all_of_them = tuple(documents)
    made = tuple(dataclasses.replace(item, secrets={**item.secrets, **given.get(item.key, {})}) for item in all_of_them)
    wrong = (
        *_strangers(given, {item.key for item in all_of_them}),
        *(problem for item in made for problem in _missing(item, needed.get(item.key, ()))),
    )
    if wrong:
        raise errors.SpecError(wrong, source="the volumes' secrets")
    return made


def _missing(document: registration.VolumeRegistration, needed: Iterable[str]) -> Iterator[errors.Problem]:
    """Yield secrets with unknown values, and encrypted mount flags: only Pulumi can supply these."""
    if encrypted.PLACEHOLDER in document.mount_options.mount_flags:
        fix = "only Pulumi can read it: register the volume with `pulumi up`"
        path = f"{document.key}: mount_flags"
        yield errors.Problem(path=path, got="an encrypted value", allowed="values in clear", fix=fix)
    unknown = {name for name, value in document.secrets.items() if value == encrypted.PLACEHOLDER}
    for name in sorted(unknown | {name for name in needed if name not in document.secrets}):
        yield errors.Problem(
            path=f"{document.key}: secret {name}",
            got="nothing",
            allowed="its value, because Nomad erases what is not sent",
            fix="give it in a --secrets file or in NOMAD_CSI_SECRETS",
        )


def _strangers(given: Given, known: set[str]) -> Iterator[errors.Problem]:
    for key in sorted(set(given) - known):
        allowed = "namespace/volume_id of a volume that is registered here"
        yield errors.Problem(path="secrets", got=repr(key), allowed=allowed)


def _is_entry(key: object, value: object) -> bool:
    is_table = isinstance(value, Mapping) and all(isinstance(item, str) for pair in value.items() for item in pair)
    return isinstance(key, str) and is_table


def given(path: Path | None) -> Given:
    """
    Return the secrets of the environment, and of the file at *path*, which takes precedence.

    The command's output does not show them from here on, names of users and addresses aside.
    """
    found: dict[str, dict[str, str]] = {}
    sources = [(os.environ.get(VARIABLE, ""), VARIABLE), ("" if path is None else inputs.text(path), str(path))]
    for text, source in sources:
        if text.strip():
            for key, values in read(draft.read_yaml(text, source), source).items():
                found[key] = found.get(key, {}) | dict(values)
    output.hide(
        value for values in found.values() for name, value in values.items() if not secrets_by_name.is_open(name)
    )
    return found
