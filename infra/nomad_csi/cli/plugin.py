"""``nomad-csi plugin``, and the plugins in a ``Pulumi.yaml``: one is added without changing the rest of the file."""

import os
import shlex
import subprocess
import sys
import textwrap
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from nomad_csi import errors, exit_codes
from nomad_csi.cli.common import command, options

NAME = "nomad-csi"
PROGRAM = f"pulumi-resource-{NAME}"
FOLDER = f".pulumi-plugins/{NAME}"
START_DEADLINE_S = 30.0

ABOUT = f"""\
Makes {FOLDER}/{PROGRAM} in the project, a script that starts the
plugin of the environment this command runs in, and names that folder under
plugins.providers in Pulumi.yaml. Pulumi then finds the plugin, without the warning that
it gives for one on PATH, and the script is started for a moment, to see that it works.
Doing it again changes nothing.

Commit Pulumi.yaml: no path of this machine gets into it. Put `.pulumi-plugins/` into
.gitignore, and run this command once in each clone. Or commit the script too, where the
environment is in the same repository (such as .venv): it is named relatively then. Where
that environment is not there, the script takes {PROGRAM} from PATH.
"""

SCRIPT = """\
#!/bin/sh
# Starts the provider plugin nomad-csi for Pulumi. Made by `nomad-csi plugin install`.
python={python}
if [ -x "$python" ]; then exec "$python" -m nomad_csi.provider "$@"; fi
if command -v {program} > /dev/null; then exec {program} "$@"; fi
echo "no nomad-csi in $python or on PATH; run 'nomad-csi plugin install' in the program's environment" >&2
exit 1
"""


run = command.Group()
project = command.option("--project DIR", "directory of Pulumi.yaml (default: the current one)", default=Path())


@run.command("install", help="Let the Pulumi project in DIR find the plugin.", epilog=ABOUT)
@project
@options.dry_run()
def _install(arguments: command.Arguments) -> int:
    project: Path = arguments.project
    path = project_file(project)
    script = project / FOLDER / PROGRAM
    python = _interpreter(project)
    text = SCRIPT.format(python=python, program=PROGRAM)
    changed = add_provider(path, NAME, f"./{FOLDER}", is_dry_run=arguments.dry_run)
    if arguments.dry_run:
        named = [f"name ./{FOLDER} in {path}"] if changed else []
        return options.show_preview(arguments, named if _holds(script, text) else [*named, f"write {script}"])
    fresh = _write(script, text)
    print(f"{'changed' if changed else 'unchanged':9}  {path}")
    print(f"{'wrote' if fresh else 'unchanged':9}  {script}")
    if "$0" not in python:
        print(f"the script holds a path of this machine: put {Path(FOLDER).parent}/ into .gitignore")
    return _started(script)


def _root(project: Path) -> Path:
    """Return the root folder of the *project*'s repository; without one, the project's own."""
    return next((parent for parent in (project, *project.parents) if (parent / ".git").exists()), project)


def _interpreter(project: Path) -> str:
    """Return this environment's interpreter for the script: relative to it if both are in one repository."""
    project, environment = project.resolve(), Path(sys.prefix)
    root = _root(project)
    for path in (environment, environment.resolve(), project / ".venv", root / ".venv"):
        if path.is_relative_to(root) and path.resolve() == environment.resolve():
            relative = os.path.relpath(path / "bin" / "python", project / FOLDER)
            return f'"$(dirname "$0")"/{shlex.quote(relative)}'
    return shlex.quote(sys.executable)


def _holds(script: Path, text: str) -> bool:
    """Return whether *script* is an executable with this *text*."""
    return script.is_file() and script.read_text(encoding="utf-8") == text and os.access(script, os.X_OK)


def _write(script: Path, text: str) -> bool:
    """Write *text* as an executable; return whether that changed anything."""
    if _holds(script, text):
        return False
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(text, encoding="utf-8")
    script.chmod(0o755)
    return True


def _started(program: Path) -> int:
    """Start the plugin as Pulumi does, until it prints its port."""
    with subprocess.Popen([program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        deadline = threading.Timer(START_DEADLINE_S, child.kill)
        deadline.start()
        line = child.stdout.readline() if child.stdout else ""
        if has_port := line.strip().isdigit():
            child.terminate()
        _, stderr = child.communicate()  # without a port: all its output until it ends, or until the deadline
        deadline.cancel()
    if has_port:
        print("it starts")
        return 0
    print(f"it does not start: {stderr.strip().splitlines()[-1] if stderr.strip() else 'it ended without output'}")
    return exit_codes.CHANGES


# The plugins in a ``Pulumi.yaml``.


PROJECT_FILES = ("Pulumi.yaml", "Pulumi.yml")
"""
File names that Pulumi accepts (pulumi/pulumi, ``sdk/go/common/workspace/paths.go``); its JSON form is not changed.
"""

_PLUGINS, _PROVIDERS = "plugins", "providers"


@dataclass(frozen=True, kw_only=True)
class NamedProvider:
    """A provider plugin in the project file."""

    section: str
    """``plugins.providers`` or ``packages``."""

    path: str
    """As written: relative to the project's folder."""


def project_file(folder: Path) -> Path:
    """Return the project file in *folder*. Raises `errors.NomadCsiError` if there is none."""
    if found := existing_project(folder):
        return found
    raise errors.NomadCsiError(f"no Pulumi.yaml in {folder}; name the project's directory with --project")


def existing_project(folder: Path) -> Path | None:
    """Return the project file in *folder*, if there is one."""
    return next((path for name in PROJECT_FILES if (path := folder / name).is_file()), None)


def read_project(path: Path) -> Mapping[str, Any]:
    """Return the document. Raises `errors.RefusedError` if it is not a YAML mapping."""
    return _document(_text(path), path)


def named_provider(document: Mapping[str, Any], name: str) -> NamedProvider | None:
    """Return *document*'s entry of the provider plugin *name*; ``None`` without one."""
    section = document.get(_PLUGINS)
    listed = section.get(_PROVIDERS) if isinstance(section, Mapping) else None
    for item in listed if isinstance(listed, list) else ():
        if isinstance(item, Mapping) and item.get("name") == name:
            return NamedProvider(section=f"{_PLUGINS}.{_PROVIDERS}", path=str(item.get("path", "")))
    packages = document.get("packages")
    package = packages.get(name) if isinstance(packages, Mapping) else None
    source = package.get("source") if isinstance(package, Mapping) else package
    return NamedProvider(section="packages", path=str(source)) if source else None


def manual_lines(name: str, folder: str) -> str:
    """Return the lines to add by hand for the plugin *name* in *folder*."""
    return "\n".join([f"{_PLUGINS}:", f"  {_PROVIDERS}:", f"    - name: {name}", f"      path: {folder}"])


def add_provider(path: Path, name: str, folder: str, *, is_dry_run: bool = False) -> bool:
    """
    Add the plugin *name* in *folder*; return whether the file changed. Its other bytes stay unchanged.

    *is_dry_run*: change nothing, and return whether the file would change.

    Raises `errors.RefusedError`, and changes nothing, if the file names another path or has plugins of its own.
    """
    before = _text(path)
    document = _document(before, path)
    found = named_provider(document, name)
    if found is not None and Path(found.path) == Path(folder):
        return False
    if found is not None:
        raise errors.RefusedError(
            f"{path.name} names {name} already, in {found.section}, at {found.path}; remove that, and run this again"
        )
    lines = manual_lines(name, folder)
    end = "\r\n" if "\r\n" in before else "\n"
    gap = "" if before.endswith("\n") else end
    after = f"{before}{gap}{lines.replace(chr(10), end)}{end}"
    if _PLUGINS in document or _load(after) != {**document, **yaml.safe_load(lines)}:
        hand = textwrap.indent(lines, "  ")
        raise errors.RefusedError(
            f"{path.name} has plugins, or a form that this command cannot add to; add by hand:\n{hand}"
        )
    if not is_dry_run:
        path.write_bytes(after.encode())
    return True


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode()  # newlines unchanged
    except UnicodeDecodeError:
        raise errors.RefusedError(f"{path} is not text in UTF-8") from None


def _document(text: str, path: Path) -> Mapping[str, Any]:
    document = _load(text)
    if not isinstance(document, Mapping):
        raise errors.RefusedError(f"{path} is not a YAML mapping, which a Pulumi project file is")
    return document


def _load(text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return None
