"""Both wheels, built from this checkout and installed into an environment of their own, with what ours has besides."""

import os
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SANDBOX = ROOT / "infra/nomad_csi_sandbox"
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")
DEADLINE_S = 400


@dataclass
class Installed:
    """An environment in which nothing of the checkout is imported."""

    bin: Path
    home: Path
    programs: str = "/usr/bin:/bin"
    """What else is on PATH."""

    def type(self, line, cwd):
        """Type *line* into a shell and return its output. Fails where its exit code is not 0."""
        done = subprocess.run(
            ["sh", "-c", line],
            cwd=cwd,
            env={"PATH": f"{self.bin}{os.pathsep}{self.programs}", "HOME": str(self.home)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def install(folder):
    """Build both wheels and install them below *folder*."""
    wheels, environment = folder / "dist", folder / "environment"
    build = (*PIP, "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", wheels, ROOT, SANDBOX)
    subprocess.run(build, check=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    python = environment / "bin/python"
    subprocess.run([*PIP, "--python", python, "install", "--quiet", "--no-deps", *wheels.glob("*.whl")], check=True)
    lend_libraries(environment)
    return Installed(bin=environment / "bin", home=folder)


def lend_libraries(environment):
    """Have *environment* import what is installed here, but for our own packages and what leads to the checkout."""
    site = environment / f"lib/python{sysconfig.get_python_version()}/site-packages"
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if not path.name.startswith(("nomad_csi", "__")) and path.suffix != ".pth" and not (site / path.name).exists():
            (site / path.name).symlink_to(path)
