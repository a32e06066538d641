"""The main job from the wheels alone, in a new environment and an empty folder, on a Python that is named."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

from tests.release import project

DEADLINE_S = 900


def main_job(wheels, python):
    """
    Install *wheels* with the pinned packages for *python*; in the sandbox bring storage up, verify it, take it down.

    Returns what was seen: the Python, the version and the report of `verify`. A step that fails raises
    `subprocess.CalledProcessError`, with its output on standard error.
    """
    with tempfile.TemporaryDirectory() as place:
        environment = Path(place, "environment")
        home, empty = Path(place, "home"), Path(place, "empty")
        home.mkdir()
        empty.mkdir()
        _run(python, "-m", "venv", environment)
        pip = (environment / "bin/pip", "--disable-pip-version-check", "install", "--quiet", "--no-compile")
        _run(*pip, "--require-hashes", "--requirement", project.ROOT / "requirements.lock")
        _run(*pip, "--no-deps", "--no-index", *wheels)
        _run(environment / "bin/pip", "--disable-pip-version-check", "check")
        variables = {"PATH": f"{environment / 'bin'}{os.pathsep}/usr/bin:/bin", "HOME": str(home)}

        def type_(*words):
            return _run(*words, cwd=empty, env=variables)

        version = type_("nomad-csi", "--version").strip()
        try:
            type_("nomad-csi", "sandbox", "up")
            verify = ("nomad-csi", "verify", "--json", ".sandbox/Pulumi.sandbox.yaml")
            report = json.loads(type_("nomad-csi", "sandbox", "exec", "--", *verify))
        finally:
            type_("nomad-csi", "sandbox", "down")
        return {
            "python": _run(environment / "bin/python", "-c", "import sys; print(sys.version.split()[0])").strip(),
            "version": version,
            "ok": report["ok"],
            "plugins": {each["plugin_id"]: each["status"] for each in report["plugins"]},
            "volumes": {f"{each['namespace']}/{each['volume_id']}": each["status"] for each in report["volumes"]},
        }


def _run(*command, **more):
    done = subprocess.run(
        [*map(str, command)], stdout=subprocess.PIPE, text=True, timeout=DEADLINE_S, check=True, **more
    )
    return done.stdout
