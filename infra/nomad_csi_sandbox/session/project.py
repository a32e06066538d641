"""
The Pulumi project of a sandbox in a folder without one: the ready stack, and an example of a spec.

A project of the user's own gets a config of the sandbox's stack. The files are the user's from then on. What names this
machine is in ``.sandbox`` and goes with it.
"""

import shlex
import sys
from pathlib import Path

import yaml

from nomad_csi import errors
from nomad_csi.hcl import disk
from nomad_csi_sandbox.session import folder

PROJECT_FILES = ("Pulumi.yaml", "Pulumi.yml", "Pulumi.json")
"""Source: pulumi/pulumi, ``sdk/go/common/workspace/paths.go``, 2026-08-21."""

PROJECT = """\
# Written by `nomad-csi sandbox up`: the ready stack, of which Pulumi.sandbox.yaml holds the spec.
name: nomad-csi
runtime: python
"""

CONFIG = """\
# Written by `nomad-csi sandbox up`: the config of the stack `sandbox`, as your program reads it.
config:
  aws:region: us-east-1
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


def write(paths: folder.Folder) -> list[Path]:
    """
    Write what is missing, and return the files: of a project of the user's own, the config alone.

    Raises `errors.RefusedError`, and writes nothing, where there is a program without ``Pulumi.yaml``.
    """
    if found := next((name for name in PROJECT_FILES if (paths.project / name).exists()), ""):
        if found != "Pulumi.yaml":
            raise errors.RefusedError(f"{paths.project / found}: the sandbox reads Pulumi.yaml alone; rename it")
        texts = {paths.config.name: CONFIG}
    else:
        spec = Path(__file__).with_name(paths.config.name).read_text(encoding="utf-8")
        texts = {"Pulumi.yaml": PROJECT, "__main__.py": PROGRAM, paths.config.name: spec}
        program = paths.project / "__main__.py"
        if program.exists() and program.read_text(encoding="utf-8") != PROGRAM:
            raise errors.RefusedError(
                f"{program} is a program of your own, without Pulumi.yaml; write one, such as:\n"
                "name: orders\nruntime: python"
            )
    if paths.config.exists():
        texts.pop(paths.config.name)
    disk.put(paths.project, dict(reversed(texts.items())))  # the project file last: it marks a complete folder
    return [paths.project / name for name in texts]


def refuse_language(paths: folder.Folder, engine: str) -> None:
    """Raise `errors.RefusedError` for a program that *engine* cannot run: the emulator runs Python alone."""
    document = yaml.safe_load((paths.project / "Pulumi.yaml").read_text(encoding="utf-8"))
    runtime = document.get("runtime")
    name = runtime.get("name") if isinstance(runtime, dict) else runtime
    if engine != "real" and name != "python":
        raise errors.RefusedError(
            f"{paths.project / 'Pulumi.yaml'}: runtime: expected python, which the sandbox's own engine runs, "
            f"got {name}; put `pulumi` on PATH for other languages"
        )


def write_plugin(paths: folder.Folder) -> None:
    """Write what starts the provider plugin of this environment."""
    paths.plugin.mkdir(mode=folder.PRIVATE, parents=True, exist_ok=True)
    script = paths.plugin / "pulumi-resource-nomad-csi"
    folder.write_private(script, PLUGIN.format(python=shlex.quote(sys.executable)))
    script.chmod(0o700)


def found_from(start: Path) -> Path | None:
    """Return the folder of the Pulumi project that *start* is in, as Pulumi looks for it."""
    resolved = start.resolve()
    for root in (resolved, *resolved.parents):
        if any((root / name).is_file() for name in PROJECT_FILES):
            return root
    return None
