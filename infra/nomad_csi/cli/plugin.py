"""``nomad-csi plugin``, and the plugins in a ``Pulumi.yaml``: one is added without changing the rest of the file."""

import shlex
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from nomad_csi import errors
from nomad_csi.cli.common import command, options

NAME = "nomad-csi"
PROGRAM = f"pulumi-resource-{NAME}"
FOLDER = f".pulumi-plugins/{NAME}"

ABOUT = f"""\
Makes {FOLDER}/{PROGRAM} in the project, a script that starts the
plugin of the environment this command runs in, and names that folder under
plugins.providers in Pulumi.yaml. Pulumi then finds the plugin, without the warning that
it gives for one on PATH. Doing it again changes nothing.

Commit Pulumi.yaml: no path of this machine gets into it. Put `.pulumi-plugins/` into
.gitignore, and run this command once in each clone. Where the environment of the script
is not there, it takes {PROGRAM} from PATH.
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
    text = SCRIPT.format(python=shlex.quote(sys.executable), program=PROGRAM)
    changed = add_provider(path, NAME, f"./{FOLDER}", is_dry_run=arguments.dry_run)
    if arguments.dry_run:
        named = [f"name ./{FOLDER} in {path}"] if changed else []
        return options.show_preview(arguments, [*named, f"write {script}"])
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(text, encoding="utf-8")
    script.chmod(0o755)
    print(f"{'changed' if changed else 'unchanged':9}  {path}")
    print(f"wrote      {script}")
    print(f"the script holds a path of this machine: put {Path(FOLDER).parent}/ into .gitignore")
    return 0


# The plugins in a ``Pulumi.yaml``.


PROJECT_FILES = ("Pulumi.yaml", "Pulumi.yml")
"""
File names that Pulumi accepts (pulumi/pulumi, ``sdk/go/common/workspace/paths.go``); its JSON form is not changed.
"""


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


def named_provider(document: Mapping[str, Any], name: str) -> str | None:
    """Return the path of the provider plugin *name* as *document* has it; ``None`` without one."""
    section = document.get("plugins")
    listed = section.get("providers") if isinstance(section, Mapping) else None
    for item in listed if isinstance(listed, list) else ():
        if isinstance(item, Mapping) and item.get("name") == name:
            return str(item.get("path", ""))
    packages = document.get("packages")
    package = packages.get(name) if isinstance(packages, Mapping) else None
    return package.get("source") if isinstance(package, Mapping) else package


def add_provider(path: Path, name: str, folder: str, *, is_dry_run: bool = False) -> bool:
    """
    Add the plugin *name* in *folder*; return whether the file changed. Its other lines stay unchanged.

    *is_dry_run*: change nothing, and return whether the file would change.

    Raises `errors.RefusedError`, and changes nothing, if the file names another path or has plugins of its own.
    """
    before = _text(path)
    document = _document(before, path)
    found = named_provider(document, name)
    if found is not None and Path(found) == Path(folder):
        return False
    if found is not None:
        raise errors.RefusedError(f"{path.name} names {name} already, at {found}; remove that, and run this again")
    lines = f"plugins:\n  providers:\n    - name: {name}\n      path: {folder}\n"
    after = f"{before}{'' if before.endswith(chr(10)) else chr(10)}{lines}"
    if "plugins" in document or _load(after) != {**document, **yaml.safe_load(lines)}:
        raise errors.RefusedError(
            f"{path.name} has plugins, or a form that this command cannot add to; add by hand:\n"
            f"{textwrap.indent(lines, '  ')}"
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
