"""``nomad-csi plugin``."""

import re
import shlex
import sys
import textwrap
from pathlib import Path

from nomad_csi import errors
from nomad_csi.cli.common import command, options

NAME = "nomad-csi"
PROGRAM = f"pulumi-resource-{NAME}"
FOLDER = f".pulumi-plugins/{NAME}"
LINES = f"plugins:\n  providers:\n    - name: {NAME}\n      path: ./{FOLDER}\n"
"""By which a project file names the folder."""


ABOUT = f"""\
Makes {FOLDER}/{PROGRAM} in the project, a script that starts the
plugin of the environment this command runs in, and names that folder under
plugins.providers in Pulumi.yaml. Pulumi then finds the plugin, without the warning that
it gives for one on PATH. A Pulumi.yaml that has plugins is not changed: the lines to add
are printed.

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


@run.command("install", help="Let the Pulumi project in DIR find the plugin.", epilog=ABOUT)
@command.option("--project DIR", "directory of Pulumi.yaml (default: the current one)", default=Path())
@options.dry_run()
def _install(arguments: command.Arguments) -> int:
    path = arguments.project / "Pulumi.yaml"
    script = arguments.project / FOLDER / PROGRAM
    before = path.read_text(encoding="utf-8")
    is_named = FOLDER in before
    if not is_named and re.search("^plugins:", before, re.MULTILINE):
        raise errors.RefusedError(f"{path} has plugins; add this one by hand:\n{textwrap.indent(LINES, '  ')}")
    if arguments.dry_run:
        named = [] if is_named else [f"name ./{FOLDER} in {path}"]
        return options.show_preview(arguments, [*named, f"write {script}"])
    if not is_named:
        separator = "" if before.endswith("\n") else "\n"
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{separator}{LINES}")
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(SCRIPT.format(python=shlex.quote(sys.executable), program=PROGRAM), encoding="utf-8")
    script.chmod(0o755)
    print(f"{'unchanged' if is_named else 'changed':9}  {path}")
    print(f"wrote      {script}")
    print(f"the script holds a path of this machine: put {Path(FOLDER).parent}/ into .gitignore")
    return 0
