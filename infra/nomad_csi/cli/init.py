"""``nomad-csi init``."""

import functools
import os
import re
import shlex
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import click
import pydantic

from nomad_csi import errors
from nomad_csi.cli.common import command, options
from nomad_csi.hcl import disk, project
from nomad_csi.spec import base

ABOUT = """\
Writes into DIR what a repository for storage needs: a spec with comments (--hcl), or a Pulumi
program that declares the storage (--pulumi python with a stack config that holds the spec, or
--pulumi yaml or typescript); .gitignore, hooks for pre-commit, and a pipeline for GitHub. No
existing file is changed: .gitignore and the hooks stay as they are, and for any other nothing is
written.
"""

SPEC = "what the storage needs"


def _matching(kind: Any) -> Callable[[str], str]:
    """Return the type of an option with the values of a pydantic type."""

    def read(given: str) -> str:
        try:
            return str(pydantic.TypeAdapter(kind).validate_python(given))
        except pydantic.ValidationError as error:
            raise command.wrong(error.errors()[0]["msg"].removeprefix("Value error, "), given) from None

    return read


_of_spec = functools.partial(command.option, section=SPEC)


@command.command(epilog=ABOUT)
@command.argument("folder [DIR]", "where to write (default: the current directory)", default=Path())
@command.option("--pulumi python|yaml|typescript", "write a Pulumi program", "form", default=None, without=("hcl",))
@command.option("--hcl", "write a spec whose files are rendered and committed, without Pulumi")
@command.option("--stack NAME", "the Pulumi stack (default: dev)", default="dev")
@_of_spec(
    "--storage KIND",
    f"{', '.join(project.STORAGES)}; may be repeated",
    "storages",
    type=click.Choice(project.STORAGES),
    multiple=True,
)
@_of_spec("--aws-region REGION", "ebs, efs: region of the storage", "region", type=_matching(base.Region))
@_of_spec(
    "--zone ZONE",
    "ebs, efs: zone with Nomad clients; may be repeated",
    "zones",
    multiple=True,
    type=_matching(base.Zone),
)
@_of_spec("--role-name NAME", "ebs: IAM role of the Nomad clients", type=_matching(base.RoleName))
@_of_spec("--client-cidr CIDR", "efs with --pulumi: network of the Nomad clients", type=_matching(base.CidrBlock))
@_of_spec("--file-system-id ID", "efs with --hcl: a file system that exists", type=_matching(base.FileSystemId))
@options.dry_run()
def run(arguments: command.Arguments) -> int:
    """Write the project, and print the next commands."""
    folder: Path = arguments.folder
    wanted = _wanted(arguments)
    parts = project.files(wanted)
    existing = {part.path for part in parts if os.path.lexists(folder / part.path)}
    if taken := [part.path for part in parts if part.path in existing and not part.is_shared]:
        reasons = "; ".join(f"{path} exists" for path in taken)
        raise errors.RefusedError(f"nothing was written: {reasons}; name a new DIR, and copy what you need from it")
    new = {part.path: part.text for part in parts if part.path not in existing}
    if arguments.dry_run:
        return options.show_preview(arguments, [f"write {folder / path}" for path in new])
    disk.put(folder, new)
    for part in parts:
        print(f"{'wrote' if part.path in new else 'unchanged':9}  {folder / part.path}")
    _print_next(folder, wanted)
    return 0


def _wanted(arguments: command.Arguments) -> project.Wanted:
    """Return the settings of the project. Raises `click.UsageError` for what is missing."""
    arguments.form = "hcl" if arguments.hcl else arguments.form
    names = ("form", "storages", *project.needs(arguments.form, arguments.storages))
    if missing := [name for name in names if not getattr(arguments, name)]:
        parameters = {each.name: command.shown_name(each) for each in click.get_current_context().command.params}
        raise command.usage("", got="nothing", allowed=", ".join(parameters[name] for name in missing))
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", arguments.folder.resolve().name).strip("-.")
    return project.Wanted(
        form=arguments.form,
        storages=arguments.storages,
        zones=arguments.zones,
        **{name: getattr(arguments, name) or "" for name in ("region", "role_name", "client_cidr", "file_system_id")},
        project=name if re.match("[A-Za-z]", name) else f"storage-{name}".rstrip("-"),
        stack=arguments.stack,
        version=metadata.version("nomad-csi"),
    )


def _print_next(folder: Path, wanted: project.Wanted) -> None:
    steps = project.steps(wanted)
    if folder != Path():
        steps = ((f"cd {shlex.quote(str(folder))}", ""), *steps)
    width = max(len(typed) for typed, about in steps if about)
    print("\nWhat to type next:")
    for typed, about in steps:
        print(f"  {typed:<{width}}  {about}".rstrip())
