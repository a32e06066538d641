"""The files that a command's arguments name: their plan, its owner and secrets; job files, volume files, policies."""

import collections
import dataclasses
import functools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pydantic

from nomad_csi import errors
from nomad_csi.cli.common import command, inputs, output, specs
from nomad_csi.hcl import files, volume
from nomad_csi.hcl import read as reader
from nomad_csi.plan import model, registration, volumes
from nomad_csi.spec import draft, encrypted, names
from nomad_csi.text import secrets as secrets_by_name
from nomad_csi.volumes import ownership

# Secrets of volumes, given apart from specs and files: in a file or the environment, never as arguments.
#
# All users of a machine can read arguments. All secrets of a volume are required: Nomad erases those not sent.


SECRETS_VARIABLE = "NOMAD_CSI_SECRETS"
"""Environment variable with secrets, as JSON in the form of a secrets file."""

volume_secrets = functools.partial(
    command.option,
    "--secrets FILE",
    f"YAML or JSON: secrets by namespace/volume_id (also: the variable {SECRETS_VARIABLE})",
)
"""Returns the decorator that adds the option for a file with secrets of volumes."""

Secrets = Mapping[str, Mapping[str, str]]
"""``{"namespace/volume_id": {name: value}}``."""


_SECRETS = pydantic.TypeAdapter(dict[str, dict[str, str]])


def read_secrets(document: object, source: str) -> Secrets:
    """Return the checked *document* of a secrets file. Raises `errors.SpecError`, which shows no value."""
    try:
        return _SECRETS.validate_python(document, strict=True)
    except pydantic.ValidationError:
        allowed = "a mapping of namespace/volume_id to a mapping of names to texts"
        raise errors.SpecError((errors.Problem(path="", got="[secret]", allowed=allowed),), source) from None


def _filled(
    documents: Iterable[registration.VolumeRegistration], given: Secrets
) -> tuple[registration.VolumeRegistration, ...]:
    """
    Return *documents* with the secrets that are *given*.

    Raises `errors.SpecError` with each missing secret, whose value is `encrypted.PLACEHOLDER`, and each that is given
    for a volume that is not among *documents*.
    """
    filled = tuple(dataclasses.replace(item, secrets={**item.secrets, **given.get(item.key, {})}) for item in documents)
    allowed = "namespace/volume_id of a volume that is registered here"
    wrong = [
        errors.Problem(path="secrets", got=repr(key), allowed=allowed)
        for key in sorted(set(given) - {item.key for item in filled})
    ]
    for item in filled:
        wrong += _missing(item)
    if wrong:
        raise errors.SpecError(tuple(wrong), source="the volumes' secrets")
    return filled


def _missing(document: registration.VolumeRegistration) -> Iterator[errors.Problem]:
    """Yield secrets with unknown values, and encrypted mount flags: only Pulumi can supply these."""
    if encrypted.PLACEHOLDER in document.mount_options.mount_flags:
        fix = "only Pulumi can read it: register the volume with `pulumi up`"
        path = f"{document.key}: mount_flags"
        yield errors.Problem(path=path, got="an encrypted value", allowed="values in clear", fix=fix)
    allowed, fix = (
        "its value, because Nomad erases what is not sent",
        "give it in a --secrets file or in NOMAD_CSI_SECRETS",
    )
    for name, value in sorted(document.secrets.items()):
        if value == encrypted.PLACEHOLDER:
            yield errors.Problem(path=f"{document.key}: secret {name}", got="nothing", allowed=allowed, fix=fix)


def given_secrets(path: Path | None) -> Secrets:
    """
    Return the secrets of the environment, and of the file at *path*, which takes precedence.

    The command's output does not show them from here on, names of users and addresses aside.
    """
    secrets: dict[str, dict[str, str]] = {}
    sources = [
        (os.environ.get(SECRETS_VARIABLE, ""), SECRETS_VARIABLE),
        ("" if path is None else inputs.text(path), str(path)),
    ]
    for text, source in sources:
        if text.strip():
            for key, values in read_secrets(draft.read_yaml(text, source), source).items():
                secrets[key] = secrets.get(key, {}) | dict(values)
    output.hide(
        value for values in secrets.values() for name, value in values.items() if not secrets_by_name.is_open(name)
    )
    return secrets


# Specs, volume files and directories of them.


@dataclass(frozen=True, kw_only=True)
class NamedPlan:
    """The content of the given paths."""

    plan: model.StoragePlan
    is_part: bool = False
    """Whether the user named volumes: others of the paths are left out."""

    def filled(self, external_ids: Mapping[str, str], given: Secrets) -> tuple[registration.VolumeRegistration, ...]:
        """
        Return the document of each volume of the plan with its secrets.

        *external_ids* are those of storage that Pulumi creates; *given* secrets may be of volumes left out. Raises
        `errors.SpecError` naming every volume without storage, and every secret that is missing.
        """
        refuse_unknown_storage(self.plan, external_ids)
        documents = [volumes.desired_document(item, external_ids) for item in self.plan.volumes]
        own = {item.key: given[item.key] for item in documents if item.key in given} if self.is_part else given
        return _filled(documents, own)


# The arguments of `plan` and `apply`.


named = specs.words(
    "[SPEC|FILE...] [VOLUME...]",
    "specs or stack configs (.yaml), volume files (.hcl), directories of these (default: the spec of this directory); "
    "then volumes, or sets by their ids: only these, and the plugins that they need",
)
"""The decorator that adds the arguments."""


def is_whole(arguments: command.Arguments) -> bool:
    """Return whether *arguments* name whole specs only, and so all that their owner has."""
    return all(isinstance(word, Path) and word.suffix in inputs.YAML for word in arguments.words)


def read(arguments: command.Arguments, namespace: str) -> NamedPlan:
    """Return the plan that *arguments* name. Raises what `read_paths` raises, and `click.UsageError`."""
    whole = read_paths(specs.paths(arguments), namespace)
    keys = specs.volumes(arguments)
    if not keys:
        return whole
    chosen = inputs.chosen_volumes(whole.plan.volumes, keys)
    needed = {item.registration.plugin_id for item in chosen}
    plugins = tuple(item for item in whole.plan.plugins if item.plugin_id in needed)
    return dataclasses.replace(whole, plan=model.StoragePlan(plugins=plugins, volumes=chosen), is_part=True)


def read_paths(paths: Iterable[Path], namespace: str) -> NamedPlan:
    """
    Return the plan of *paths*: specs, volume files, directories of volume files; *namespace*: of a file without one.

    Raises `errors.SpecError` with the problems of the first file that has some.
    """
    plugins: list[model.PluginPlan] = []
    planned: list[model.VolumePlan] = []
    for path in _files(paths):
        if path.suffix in inputs.YAML:
            plan = inputs.read_plan(path)
            plugins += plan.plugins
            planned += plan.volumes
            continue
        for item in volume.read(path, namespace=namespace):
            lacking = dict.fromkeys(item.secret_names, encrypted.PLACEHOLDER)
            document = dataclasses.replace(item.document, secrets={**item.document.secrets, **lacking})
            planned.append(model.VolumePlan(registration=document, source=None, protect=True, adopt=False))
    counts = collections.Counter(item.key for item in planned)
    if twice := [key for key, count in counts.items() if count > 1]:
        allowed = "each volume once"
        problems = (errors.Problem(path=key, got=f"{counts[key]} of them", allowed=allowed) for key in twice)
        raise errors.SpecError(tuple(problems), ", ".join(map(str, paths)))
    return NamedPlan(plan=model.StoragePlan(plugins=tuple(plugins), volumes=tuple(planned)))


WITHOUT_PULUMI = "without Pulumi, write `existing` or `create` instead of `ebs` or `efs`"
"""Fix for storage that only Pulumi creates."""


def refuse_unknown_storage(plan: model.StoragePlan, external_ids: Mapping[str, str]) -> None:
    """Raise `errors.SpecError` naming every volume of *plan* that no plugin creates, and whose storage is unknown."""
    problems = tuple(
        errors.Problem(
            path=f"external id of {item.key}",
            got="nothing",
            allowed="the id of storage that is made by Pulumi",
            fix=f"pass --stack-output with the output of `pulumi stack output --json`; {WITHOUT_PULUMI}",
        )
        for item in plan.volumes
        if not item.made_by_plugin and not volumes.desired_document(item, external_ids).external_id
    )
    if problems:
        raise errors.SpecError(problems)


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield *paths*; for a directory, the volume files below it. Raises `errors.SpecError` if it has none."""
    for path in paths:
        if path.is_dir():
            if not (volume_files := sorted(path.rglob("*.volume.hcl"))):
                problem = errors.Problem(path="", got="none", allowed="*.volume.hcl below the directory")
                raise errors.SpecError((problem,), str(path))
            yield from volume_files
        else:
            yield path


# The owner for whom a command acts.


def _owner(given: str) -> str:
    """Return *given*; empty: no owner. Raises `click.BadParameter` if it is not a stack."""
    if given and not names.OWNER.fullmatch(given):
        raise command.wrong("project/stack, such as shop/prod", given)
    return given


def owner(text: str) -> command.Declare[Any]:
    """Return the decorator that adds ``--owner``; *text* is its help."""
    return command.option("--owner PROJECT/STACK", f"{text} (default: `owner` of the spec)", type=_owner, default="")


def resolve(arguments: command.Arguments, specs: Iterable[Path]) -> None:
    """
    Set the owner of *arguments* to that of *specs*, where these name one.

    Raises `click.UsageError` if the option, or another spec, names another one: two commands never use two owners.
    """
    for path in specs:
        named = inputs.setting(path, "owner")
        if named and arguments.owner not in {"", named}:
            fix = f"omit it, or change {path}"
            raise command.usage("--owner", got=arguments.owner, allowed=f"{named}, as in {path}", fix=fix)
        arguments.owner = arguments.owner or named


def requester(arguments: command.Arguments) -> ownership.Requester:
    """Return the requester."""
    return ownership.Requester(owner=arguments.owner, adopts=arguments.adopt)


# Job files, volume files and IAM policies.


variables = command.together(
    command.option("--var NAME=VALUE", "a variable of the job files, as `nomad job run -var`", multiple=True),
    command.option("--var-file FILE", "a file of variables, as `nomad job run -var-file`", multiple=True),
)
"""Options of a command that reads job files."""


def given_variables(arguments: Any) -> reader.Given:
    """Return the values of ``--var``, ``--var-file`` and ``NOMAD_VAR_name``. Raises `errors.SpecError`."""
    return reader.given_variables(os.environ, arguments.var_file, arguments.var)


def load(
    paths: Sequence[Path], given: reader.Given = reader.NOTHING_GIVEN, *, with_policies: bool = False
) -> tuple[list[files.File], list[str]]:
    """
    Return the readable files, and the error of each of the others.

    *given* are values for the variables of job files. A folder includes all ``*.hcl`` below it; *with_policies* also
    the ``*.json`` that are IAM policies.
    """
    read: list[files.File] = []
    broken: list[str] = []
    for path in paths:
        below = sorted(path.rglob("*.hcl")) if path.is_dir() else [path]
        if path.is_dir() and with_policies:
            below += filter(_is_policy, sorted(path.rglob("*.json")))
        if not below:
            broken.append(f"{path}: expected files or a directory with *.hcl, got a directory without any")
        for file in below:
            try:
                read.append(files.load(file, given))
            except errors.SpecError as error:
                broken += [f"{error.source}: {line}" for line in error.lines]
            except OSError as error:
                broken.append(command.describe_file_error(error))
    return read, broken


def _is_policy(path: Path) -> bool:
    try:
        return files.load(path).kind == "policy"
    except (errors.SpecError, OSError):
        return False  # the file is not named explicitly: it may be other JSON
