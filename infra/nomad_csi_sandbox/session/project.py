"""
The Pulumi project of a sandbox in a folder without one: the ready stack, and the spec of a checkout's sandbox.

The files are the user's from then on. What names this machine is in ``.sandbox`` and goes with it.
"""

import shlex
import sys
from pathlib import Path

from nomad_csi import errors
from nomad_csi.render import disk
from nomad_csi_sandbox.session import folder

PROJECT_FILES = ("Pulumi.yaml", "Pulumi.yml", "Pulumi.json")
"""Source: pulumi/pulumi, ``sdk/go/common/workspace/paths.go``, 2026-08-21."""

PROJECT = """\
# Written by `nomad-csi sandbox up`: the ready stack, of which Pulumi.sandbox.yaml holds the spec.
name: nomad-csi
runtime: python
plugins:
  providers:
    - name: nomad-csi
      path: ./.sandbox/plugin
"""

PROGRAM = """\
\"""The storage that the stack's config lists under nomad-csi:storage.\"""

from nomad_csi import storage_stack

storage_stack()
"""

PLUGIN = """\
#!/bin/sh
# Written by `nomad-csi sandbox up`: starts the provider plugin in the environment of that command.
exec {python} -m nomad_csi.provider "$@"
"""


def write(place: folder.Folder) -> list[Path]:
    """
    Write the project where there is none, and return the files.

    Raises `errors.RefusedError`, and writes nothing, in the folder of another project or program.
    """
    if found := next((name for name in PROJECT_FILES if (place.project / name).exists()), ""):
        if not place.config.exists():
            raise errors.RefusedError(
                f"{place.project / found} is a project of your own, without {place.config.name}; start the sandbox in "
                "a folder of its own, and here type: nomad-csi sandbox --project THAT_FOLDER exec -- pulumi up"
            )
        return []
    texts = {"Pulumi.yaml": PROJECT, "__main__.py": PROGRAM}
    if not place.config.exists():
        texts[place.config.name] = _spec().read_text(encoding="utf-8")
    program = place.project / "__main__.py"
    if program.exists() and program.read_text(encoding="utf-8") != PROGRAM:
        raise errors.RefusedError(f"{program} is a program of your own; start the sandbox in a folder of its own")
    with disk.Staging(place.project) as staged:
        for name, text in reversed(texts.items()):  # the project file last: by it the folder is known as complete
            staged.add(name, text)
        staged.put()
    return [place.project / name for name in texts]


def write_plugin(place: folder.Folder) -> None:
    """Write what starts the provider plugin of this environment."""
    place.plugin.mkdir(mode=folder.PRIVATE, exist_ok=True)
    script = place.plugin / "pulumi-resource-nomad-csi"
    folder.write_private(script, PLUGIN.format(python=shlex.quote(sys.executable)))
    script.chmod(0o700)


def found_from(start: Path) -> Path | None:
    """Return the folder of the Pulumi project that *start* is in, as Pulumi looks for it."""
    resolved = start.resolve()
    for root in (resolved, *resolved.parents):
        if any((root / name).is_file() for name in PROJECT_FILES):
            return root
    return None


def _spec() -> Path:
    """Return the spec of the sandbox: in the wheel beside this module, in a checkout at its root."""
    name = f"Pulumi.{folder.STACK}.yaml"
    installed = Path(__file__).with_name(name)
    return installed if installed.is_file() else Path(__file__).parents[3] / name
