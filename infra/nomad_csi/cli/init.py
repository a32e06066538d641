"""``nomad-csi init``."""

import functools
import os
import re
import shlex
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import click
import pydantic

from nomad_csi import errors
from nomad_csi.cli import plugin
from nomad_csi.cli.common import command, options
from nomad_csi.hcl import disk, project
from nomad_csi.pulumi_state import stack_config
from nomad_csi.spec import base

ABOUT = """\
Writes into DIR what a repository for storage needs: a spec with comments (--hcl), or a Pulumi
program that declares the storage (--pulumi python with a stack config that holds the spec, or
--pulumi yaml or typescript); .gitignore, hooks for pre-commit, and a pipeline for GitHub. What is
not given is asked for on a terminal. An existing file is never changed: where a Pulumi project or
one of the files is there already, init prints what to add to it.
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


QUESTIONS = {
    "form": "a Pulumi program in python, yaml or typescript, or hcl for committed files without Pulumi",
    "storages": f"kinds of storage, one or more of {', '.join(project.STORAGES)}",
    "region": "AWS region of the storage, such as us-east-1",
    "zones": "Availability Zones of the Nomad clients, such as us-east-1a us-east-1b",
    "role_name": "name of the IAM role of the Nomad clients",
    "client_cidr": "network of the Nomad clients, such as 10.0.0.0/16",
    "file_system_id": "id of the EFS file system, such as fs-0123456789abcdef0",
}
"""Settings that are given as options, or asked for."""

MANY = {"storages", "zones"}
"""Settings with several values."""


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
    answers = _answers(arguments)
    existing = plugin.existing_project(folder) if answers["form"] != "hcl" else None
    wanted = _wanted(folder, answers, arguments.stack, existing)
    parts = project.files(wanted)
    present = {part.path: _text(folder / part.path) for part in parts if os.path.lexists(folder / part.path)}
    _refuse(
        [part.path for part in parts if part.path in present and not (existing or part.is_shared)], existing, wanted
    )
    if arguments.dry_run:
        new = [f"write {folder / part.path}" for part in parts if part.path not in present]
        return options.show_preview(arguments, new)
    disk.put(folder, {part.path: part.text for part in parts if part.path not in present})
    for part in parts:
        _report(folder, part, present.get(part.path))
        if (
            existing
            and part.path == existing.name
            and not plugin.named_provider(plugin.read_project(existing), plugin.NAME)
        ):
            print(f"{'':11}`nomad-csi plugin install` adds the provider plugin to it")
    _print_next(folder, wanted)
    return 0


def _answers(arguments: command.Arguments) -> dict[str, Any]:
    """Return the given settings and the answers from a terminal. Raises `click.UsageError` for what is missing."""
    found = {name: getattr(arguments, name) or "" for name in QUESTIONS}
    found["form"] = "hcl" if arguments.hcl else found["form"]
    parameters = {each.name: each for each in click.get_current_context().command.params}
    while missing := [name for name in _needed(found) if not found[name]]:
        if not sys.stdin.isatty():
            asked = "; ".join(f"{command.shown_name(parameters[name])}: {QUESTIONS[name]}" for name in missing)
            raise command.usage("", got="nothing", allowed=asked)
        found[missing[0]] = _ask(parameters[missing[0]])
    for zone in found["zones"]:
        if not zone.startswith(found["region"]):
            raise command.usage("--zone", got=zone, allowed=f"a zone of {found['region']}")
    return found


def _needed(found: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the required settings, including those of the storage when it is known."""
    return ("form", "storages", *project.needs(found["form"], found["storages"]))


def _ask(parameter: click.Parameter) -> Any:
    """Return the answer to the question for *parameter*, which is asked until it is valid."""
    ctx, name = click.get_current_context(), parameter.name
    kind = click.Choice(project.FORMS) if name == "form" else parameter.type

    def read(text: str) -> Any:
        if name not in MANY:
            return kind(text.strip(), parameter, ctx)
        return tuple(dict.fromkeys(kind(word, parameter, ctx) for word in text.replace(",", " ").split()))

    return click.prompt(QUESTIONS[name][:1].upper() + QUESTIONS[name][1:], err=True, value_proc=read)


def _wanted(folder: Path, answers: Mapping[str, Any], stack: str, existing: Path | None) -> project.Wanted:
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", folder.resolve().name).strip("-.")
    main = plugin.read_project(existing).get("main") if existing else None
    return project.Wanted(
        **answers,
        project=name if re.match("[A-Za-z]", name) else f"storage-{name}".rstrip("-"),
        stack=stack,
        version=metadata.version("nomad-csi"),
        project_file=existing.name if existing else plugin.PROJECT_FILES[0],
        stack_config=str(stack_config.path_of(folder, stack, {}).relative_to(folder)),
        program=_program(answers["form"], main if isinstance(main, str) else ""),
    )


def _program(form: str, main: str) -> str:
    """Return the program's file, if it has one of its own; *main* of the project file is that file or its folder."""
    usual = project.PROGRAMS.get(form)
    if usual is None or Path(main).suffix == Path(usual).suffix:
        return main if usual else ""
    return str(Path(main, usual))


def _refuse(taken: Sequence[str], existing: Path | None, wanted: project.Wanted) -> None:
    """Raise `errors.RefusedError` with every reason why nothing is written."""
    reasons = [f"{path} exists" for path in taken]
    if existing:
        runtime = plugin.read_project(existing).get("runtime")
        named = runtime.get("name") if isinstance(runtime, Mapping) else runtime
        if named != wanted.runtime:
            reasons.append(f"{existing} has the runtime {named}, and --pulumi is {wanted.form}")
        elif wanted.form == "typescript" and not (existing.parent / wanted.program).is_file():
            reasons.append(f"no {wanted.program} beside {existing}; name the program in TypeScript as its main")
    if reasons:
        raise errors.RefusedError(f"nothing was written: {'; '.join(reasons)}")


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def _report(folder: Path, part: project.ProjectFile, found: str | None) -> None:
    lacking = "" if found is None or part.sign in found else part.text
    print(f"{'wrote' if found is None else 'unchanged':9}  {folder / part.path}{'; add to it:' if lacking else ''}")
    if lacking:
        print(textwrap.indent(lacking, " " * 13).rstrip("\n"))


def _print_next(folder: Path, wanted: project.Wanted) -> None:
    steps = project.steps(wanted)
    if not any((parent / ".git").exists() for parent in (folder.resolve(), *folder.resolve().parents)):
        steps = (("git init", ""), *steps)
    if folder.resolve() != Path.cwd():
        steps = ((f"cd {shlex.quote(str(folder))}", ""), *steps)
    width = max(len(typed) for typed, about in steps if about)
    print("\nWhat to type next:")
    for typed, about in steps:
        print(f"  {typed:<{width}}  {about}".rstrip())
