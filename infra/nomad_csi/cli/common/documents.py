"""The registrations that a command's arguments name, with their secrets."""

import dataclasses
import functools
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nomad_csi import errors
from nomad_csi.cli.common import argument_secrets, inputs, output
from nomad_csi.plan import model, registration, volumes
from nomad_csi.registration import given_secrets, volume_file
from nomad_csi.spec import draft
from nomad_csi.text import secrets as secrets_by_name

SECRETS = "NOMAD_CSI_SECRETS"
"""Environment variable with secrets, as JSON in the form of a secrets file."""


@dataclass
class NamedDocuments:
    """The content of the given paths."""

    documents: list[registration.VolumeRegistration] = field(default_factory=list)
    needed: dict[str, tuple[str, ...]] = field(default_factory=dict)
    created: list[registration.VolumeRegistration] = field(default_factory=list)
    """Of the volumes that their plugins create: their storage has no external id before."""

    plugins: list[model.PluginPlan] = field(default_factory=list)
    """The plugins of the specs among them."""


SECRETS_TEXT = f"YAML or JSON: secrets by namespace/volume_id; also read from the variable {SECRETS}"
secrets_options = functools.partial(argument_secrets.options, SECRETS_TEXT)
"""Returns the decorator that adds the option for a file with secrets, and the one that is refused."""


def read(paths: Iterable[Path], stack_output: Path | None, namespace: str) -> NamedDocuments:
    """
    Return the registrations in *paths*: specs, volume files, folders of volume files.

    *stack_output* has the external ids of storage that Pulumi made; *namespace* applies to a file without one. Raises
    `errors.SpecError` with the problems of all files together.
    """
    wanted = NamedDocuments()
    broken: list[errors.SpecError] = []
    external_ids = inputs.read_external_ids(stack_output)
    for path in _files(paths):
        try:
            if path.suffix in inputs.YAML:
                plan = inputs.read_plan(path)
                wanted.plugins += plan.plugins
                wanted.documents += _registrations_of_plan(plan, external_ids)
                wanted.created += [item.registration for item in plan.volumes if item.made_by_plugin]
            else:
                for item in volume_file.read(path, namespace=namespace):
                    wanted.documents.append(item.document)
                    wanted.needed[f"{item.document.namespace}/{item.document.volume_id}"] = item.secret_names
        except errors.SpecError as error:
            broken.append(error)
    if len(broken) == 1:
        raise broken[0]
    if broken:
        problems = tuple(
            dataclasses.replace(problem, path=f"{error.source}: {error.named(problem.path)}")
            for error in broken
            for problem in error.problems
        )
        raise errors.SpecError(problems, source=f"{len(broken)} files")
    return wanted


def _registrations_of_plan(
    plan: model.StoragePlan, external_ids: Mapping[str, str]
) -> tuple[registration.VolumeRegistration, ...]:
    """
    Return the registrations of the volumes of *plan* whose storage no plugin creates.

    *external_ids* are those of storage that Pulumi creates, by ``namespace/volume_id``. Raises `errors.SpecError`
    naming every volume whose external id is unknown.
    """
    refuse_unknown_storage(plan, external_ids)
    return tuple(volumes.desired_document(item, external_ids) for item in plan.volumes if not item.made_by_plugin)


def refuse_unknown_storage(plan: model.StoragePlan, external_ids: Mapping[str, str]) -> None:
    """Raise `errors.SpecError` naming every volume of *plan* that no plugin creates, and whose storage is unknown."""
    problems = tuple(
        errors.Problem(
            path=f"external id of {item.key}",
            got="nothing",
            allowed="the id of storage that is made by Pulumi",
            fix="pass --stack-output with the output of `pulumi stack output --json`",
        )
        for item in plan.volumes
        if not item.made_by_plugin and not volumes.desired_document(item, external_ids).external_id
    )
    if problems:
        raise errors.SpecError(problems)


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield *paths*; for a folder, the volume files below it."""
    for path in paths:
        if path.is_dir():
            yield from sorted(path.rglob("*.volume.hcl"))
        else:
            yield path


def secrets(path: Path | None) -> given_secrets.Given:
    """
    Return the secrets of the environment, and of the file at *path*, which takes precedence.

    The command's output does not show them from here on, names of users and places aside.
    """
    given: dict[str, dict[str, str]] = {}
    sources = [(os.environ.get(SECRETS, ""), SECRETS), ("" if path is None else inputs.text(path), str(path))]
    for text, source in sources:
        if text.strip():
            for key, values in given_secrets.read(draft.read_yaml(text, source), source).items():
                given[key] = given.get(key, {}) | dict(values)
    output.hide(
        value for values in given.values() for name, value in values.items() if not secrets_by_name.is_open(name)
    )
    return given
