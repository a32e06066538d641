"""``nomad-csi init``."""

import os
import re
import shlex
import sys
import textwrap
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any, Literal

import pydantic

from nomad_csi import errors
from nomad_csi.cli.author import plugin, project_file
from nomad_csi.cli.common import command, options, usage
from nomad_csi.pulumi_state import stack_config
from nomad_csi.render import disk, project
from nomad_csi.spec import base

ABOUT = """\
Writes into DIR what a repository for storage needs: a spec with comments (--hcl), or a Pulumi
program that declares the storage (--pulumi python with a stack config that holds the spec, or
--pulumi yaml or typescript); .gitignore, hooks for pre-commit, and a pipeline for GitHub. What is
not given is asked for on a terminal. An existing file is never changed: where a Pulumi project or
one of the files is there already, init prints what to add to it: components, and no spec, where the
program imports components of nomad_csi.
"""

SPEC = "what the storage needs"


def _stack(given: str) -> str:
    """Return *given*. Raises `click.BadParameter` if it is not a valid stack name."""
    if not re.fullmatch(r"[A-Za-z0-9_.-]{1,100}", given):
        raise usage.wrong("the name of a stack: letters, digits, '.', '_' and '-'", given)
    return given


@dataclass(frozen=True, kw_only=True)
class _Setting:
    """A setting that is given as an option, or asked for."""

    option: str
    question: str
    allowed: str
    kind: Any
    """Pydantic type of a valid value."""

    def is_right(self, text: str) -> bool:
        """Return whether *text* is valid."""
        try:
            pydantic.TypeAdapter(self.kind).validate_python(text)
        except pydantic.ValidationError:
            return False
        return True


SETTINGS: Mapping[str, _Setting] = {
    "form": _Setting(
        option="--pulumi",
        question="A Pulumi program in python, yaml or typescript, or hcl for committed files without Pulumi",
        allowed="python, yaml or typescript, or --hcl in its place",
        kind=Literal[project.FORMS],
    ),
    "storages": _Setting(
        option="--storage",
        question=f"Storage: one or more of {', '.join(project.STORAGES)}",
        allowed=f"one of {', '.join(project.STORAGES)}",
        kind=Literal[project.STORAGES],
    ),
    "region": _Setting(
        option="--aws-region",
        question="AWS region of the storage, such as us-east-1",
        allowed="an AWS region such as us-east-1",
        kind=base.Region,
    ),
    "zones": _Setting(
        option="--zone",
        question="Availability Zones of the Nomad clients, such as us-east-1a us-east-1b",
        allowed="an Availability Zone such as us-east-1a",
        kind=base.Zone,
    ),
    "role_name": _Setting(
        option="--role-name",
        question="Name of the IAM role of the Nomad clients",
        allowed="the name of an IAM role, not its ARN",
        kind=base.RoleName,
    ),
    "client_cidr": _Setting(
        option="--client-cidr",
        question="Network of the Nomad clients, such as 10.0.0.0/16",
        allowed="an IPv4 network with its prefix length, such as 10.0.0.0/16",
        kind=base.CidrBlock,
    ),
    "file_system_id": _Setting(
        option="--file-system-id",
        question="Id of the EFS file system, such as fs-0123456789abcdef0",
        allowed="the id of an EFS file system such as fs-0123456789abcdef0",
        kind=Annotated[str, pydantic.Field(pattern=r"^fs-[0-9a-f]{8,17}(:.*)?$")],
    ),
}


@command.command(epilog=ABOUT)
@command.argument("folder [DIR]", "where to write (default: the current directory)", default=Path())
@command.option("--pulumi python|yaml|typescript", "write a Pulumi program", "form", default=None, without=("hcl",))
@command.option("--hcl", "write a spec whose files are rendered and committed, without Pulumi")
@command.option("--stack NAME", "the Pulumi stack (default: dev)", default="dev", type=_stack)
@command.option(
    "--storage KIND",
    f"{', '.join(project.STORAGES)}; may be repeated",
    "storages",
    type=command.OneOf(project.STORAGES),
    multiple=True,
    section=SPEC,
)
@command.option("--aws-region REGION", "ebs, efs: region of the storage", "region", section=SPEC)
@command.option(
    "--zone ZONE", "ebs, efs: zone with Nomad clients; may be repeated", "zones", multiple=True, section=SPEC
)
@command.option("--role-name NAME", "ebs: IAM role of the Nomad clients", section=SPEC)
@command.option("--client-cidr CIDR", "efs with --pulumi: network of the Nomad clients", section=SPEC)
@command.option("--file-system-id ID", "efs with --hcl: a file system that exists", section=SPEC)
@options.dry_run()
def run(arguments: command.Arguments) -> int:
    """Write the project, and print the next commands."""
    folder: Path = arguments.folder
    answers = _answers(arguments)
    existing = project_file.existing(folder) if answers["form"] != "hcl" else None
    wanted = _wanted(folder, answers, arguments.stack, existing)
    parts = project.files(wanted)
    there = {part.path: _text(folder / part.path) for part in parts if os.path.lexists(folder / part.path)}
    _refuse([part.path for part in parts if part.path in there and not (existing or part.is_shared)], existing, wanted)
    if arguments.dry_run:
        new = [f"write {folder / part.path}" for part in parts if part.path not in there]
        return options.show_preview(arguments, new)
    with disk.Staging(folder) as staged:
        for part in parts:
            if part.path not in there:
                staged.add(part.path, part.text)
        staged.put()
    for part in parts:
        _report(folder, part, there.get(part.path))
        if existing and part.path == existing.name and not project_file.named(project_file.read(existing), plugin.NAME):
            print(f"{'':11}`nomad-csi plugin install` adds the provider plugin to it")
    _print_next(folder, wanted)
    return 0


def _answers(arguments: command.Arguments) -> dict[str, Any]:
    """Return the given settings and the answers from a terminal. Raises `usage.UsageError` with all problems."""
    given = {name: getattr(arguments, name) for name in SETTINGS}
    found = {name: tuple(dict.fromkeys(value)) if isinstance(value, tuple) else value for name, value in given.items()}
    found["form"] = "hcl" if arguments.hcl else arguments.form or ""
    problems = [problem for name in found for problem in _wrong(name, found)]
    if not sys.stdin.isatty():
        problems += [_missing(name) for name in _needed(found) if not found[name]]
    usage.refuse(problems)
    while lacking := next((name for name in _needed(found) if not found[name]), None):
        _ask(lacking, found)
    return found


def _needed(found: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the required settings, including those of the storage when it is known."""
    return ("form", "storages", *project.needs(found["form"], found["storages"]))


def _missing(name: str) -> errors.Problem:
    return errors.Problem(path=SETTINGS[name].option, got="nothing", allowed=SETTINGS[name].allowed)


def _wrong(name: str, found: Mapping[str, Any]) -> Iterator[errors.Problem]:
    setting, value = SETTINGS[name], found[name]
    for text in value if isinstance(value, tuple) else (value,) * bool(value):
        if not setting.is_right(text):
            yield errors.Problem(path=setting.option, got=repr(text), allowed=setting.allowed)
        elif name == "zones" and found["region"] and not text.startswith(found["region"]):
            yield errors.Problem(path=setting.option, got=repr(text), allowed=f"a zone of {found['region']}")


def _ask(name: str, found: dict[str, Any]) -> None:
    """Ask for a setting once; an invalid answer is explained and not stored."""
    print(f"{SETTINGS[name].question}: ", end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    if not line:
        raise errors.RefusedError("nothing was written: the input ended before all questions were answered")
    words = tuple(dict.fromkeys(line.replace(",", " ").split()))
    answer = words if isinstance(found[name], tuple) else line.strip()
    problems = list(_wrong(name, found | {name: answer}))
    for problem in problems:
        print(f"  {problem}", file=sys.stderr)
    if not problems:
        found[name] = answer


def _wanted(folder: Path, answers: Mapping[str, Any], stack: str, existing: Path | None) -> project.Wanted:
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", folder.resolve().name).strip("-.")
    main = project_file.read(existing).get("main") if existing else None
    program = _program(answers["form"], main if isinstance(main, str) else "")
    return project.Wanted(
        **answers,
        project=name if re.match("[A-Za-z]", name) else f"storage-{name}".rstrip("-"),
        stack=stack,
        version=metadata.version("nomad-csi"),
        project_file=existing.name if existing else project_file.NAMES[0],
        stack_config=str(stack_config.path_of(folder, stack, {}).relative_to(folder)),
        program=program,
        declares_components=answers["form"] == "python" and _declares_components(folder / program),
        requirements="pyproject.toml" if _is_package(folder / "pyproject.toml") else project.REQUIREMENTS,
    )


def _is_package(path: Path) -> bool:
    """Return whether the ``pyproject.toml`` at *path* is of a package, and has not only the settings of tools."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return "project" in document or "poetry" in document.get("tool", {})


def _program(form: str, main: str) -> str:
    """Return the program's file, if it has one of its own; *main* of the project file is that file or its folder."""
    usual = project.PROGRAMS.get(form)
    if usual is None or Path(main).suffix == Path(usual).suffix:
        return main if usual else ""
    return str(Path(main, usual))


def _declares_components(program: Path) -> bool:
    """Return whether the existing program declares plugins and volumes itself, and not from a spec."""
    text = _text(program) if program.is_file() else ""
    return bool(re.search(r"^\s*(from|import) nomad_csi\b", text, re.MULTILINE)) and "storage_stack" not in text


def _refuse(taken: Sequence[str], existing: Path | None, wanted: project.Wanted) -> None:
    """Raise `errors.RefusedError` with every reason why nothing is written."""
    reasons = [f"{path} exists" for path in taken]
    if existing:
        runtime = project_file.read(existing).get("runtime")
        named = runtime.get("name") if isinstance(runtime, Mapping) else runtime
        if named != wanted.runtime:
            reasons.append(f"{existing} has the runtime {named}, and --pulumi says {wanted.form}")
        elif wanted.form == "typescript" and not (existing.parent / wanted.program).is_file():
            reasons.append(f"no {wanted.program} beside {existing}; name the program in TypeScript as its main")
    if reasons:
        raise errors.RefusedError(f"nothing was written: {'; '.join(reasons)}")


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def _report(folder: Path, part: project.ProjectFile, found: str | None) -> None:
    lacking = "" if found is None else part.lacking(found)
    print(f"{'wrote' if found is None else 'unchanged':9}  {folder / part.path}{'; add to it:' if lacking else ''}")
    if lacking:
        print(textwrap.indent(lacking, " " * 13).rstrip("\n"))


def _print_next(folder: Path, wanted: project.Wanted) -> None:
    steps = project.steps(wanted)
    root = next((place for place in folder.resolve().parents if (place / ".git").exists()), None)
    if root is None and not (folder / ".git").exists():
        steps = (("git init", ""), *steps)
    if folder.resolve() != Path.cwd():
        steps = ((f"cd {shlex.quote(str(folder))}", ""), *steps)
    width = max(len(typed) for typed, about in steps if about)
    print("\nWhat to type next:")
    for typed, about in steps:
        print(f"  {typed:<{width}}  {about}".rstrip())
    if root and not (folder / ".git").exists():
        below = folder.resolve().relative_to(root)
        print(
            f"\nThe repository begins at {root}: move {project.HOOKS} and {project.PIPELINE} there, and put {below}/ "
            "before the paths in them."
        )
