"""
An image with nomad-csi in it, as its wheel installs it, made of this machine's Python. No registry is asked.

Left out is what neither probe nor verify loads: pulumi-aws, which is most of an installation.
"""

import re
import subprocess
import sys
import sysconfig
from importlib import metadata
from pathlib import Path

from tests import docker_images

ROOT = Path(__file__).parents[1]
BUILD_S = 180.0
LEFT_OUT = frozenset({"pulumi-aws"})
PYTHON = Path(sys._base_executable).resolve()


def make(name, folder):
    """Make the image *name*, whose PATH has ``nomad-csi``; *folder* is for what is put into it."""
    site = folder / "site"
    _install(site)
    program = folder / "nomad-csi"
    program.write_text(f"#!{PYTHON}\nimport sys\nfrom nomad_csi.cli import main\nsys.exit(main())\n", encoding="utf-8")
    program.chmod(0o755)
    libraries = [str(path) for path in (*_standard().rglob("*.so"), *site.rglob("*.so"))]
    docker_images.make(
        name,
        [],
        {str(PYTHON): str(PYTHON), "/usr/local/bin/nomad-csi": str(program), "/site": str(site)},
        files=[_standard()],
        linked=libraries,
        environment={"PATH": "/usr/local/bin:/usr/bin:/bin", "PYTHONPATH": "/site", "PYTHONHOME": sys.base_prefix},
    )


def _standard():
    return Path(sysconfig.get_path("stdlib", vars={"installed_base": sys.base_prefix, "base": sys.base_prefix}))


def _install(site):
    """Put the wheel of this checkout and what it requires into *site*."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    wheels = site.parent / "wheels"
    _run(*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", wheels, ROOT)
    _run(*pip, "install", "--no-deps", "--no-compile", "--target", site, *wheels.glob("nomad_csi-*.whl"))
    for name in sorted(_required("nomad-csi", set())):
        for file in metadata.distribution(name).files or ():
            source = Path(file.locate())
            if ".." not in file.parts and source.suffix != ".pyc":
                target = site / file
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(source.read_bytes())


def _required(name, known):
    """Return *known* with all that *name* requires, without extras."""
    for text in metadata.requires(name) or ():
        words, _, condition = text.partition(";")
        wanted = re.match(r"[\w.-]+", words)[0].lower().replace("_", "-")
        if "extra ==" in condition or wanted in known | LEFT_OUT or not _is_here(wanted):
            continue
        known.add(wanted)
        _required(wanted, known)
    return known


def _is_here(name):
    """Return whether the distribution is installed: what another Python or system would need is not."""
    try:
        return bool(metadata.version(name))
    except metadata.PackageNotFoundError:
        return False


def _run(*command):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=BUILD_S, check=False)
    assert done.returncode == 0, done.stderr
