"""``nomad-csi plugin``."""

import os
import shlex
import subprocess
import sys
import threading
from pathlib import Path

from nomad_csi import exit_codes
from nomad_csi.cli import project_file
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
    path = project_file.find(project)
    script = project / FOLDER / PROGRAM
    python = _interpreter(project)
    text = SCRIPT.format(python=python, program=PROGRAM)
    changed = project_file.add(path, NAME, f"./{FOLDER}", is_dry_run=arguments.dry_run)
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
