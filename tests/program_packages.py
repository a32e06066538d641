"""
Install what the tests look for and Debian has as a package: ``python -m tests.program_packages [--dry-run]``.

As root, or where `sudo` asks for no password, with apt-get. For another user the packages, with the libraries that this
machine lacks, are unpacked into the environment, where the tests find them; nothing of the system changes.
"""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests import programs

INSTALL = ["install", "--yes", "--no-install-recommends"]


def main(arguments):
    """Install what is not found, and go on where that fails; return 1 where something is still absent."""
    absent = [each for each in programs.PROGRAMS if each.package and programs.path_of(each.names[0]) is None]
    if not absent:
        return 0
    packages = sorted({each.package for each in absent})
    if arguments == ["--dry-run"]:
        _tell(f"not found: {', '.join(each.names[0] for each in absent)}; `make test-programs` installs them")
        return 0
    if shutil.which("apt-get") is None:
        _tell(f"no apt-get here; install by hand what Debian has as {' '.join(packages)}")
        return 1
    lead = _as_root()
    if lead is not None:
        _run([*lead, "apt-get", "update", "--quiet"])
        for package in packages:
            _run([*lead, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", *INSTALL, "--quiet", package])
    else:
        _tell(f"for an administrator: apt-get update && apt-get {shlex.join([*INSTALL, *packages])}")
        unpack([each for each in absent if not each.for_root], programs.UNPACKED)
    left = [each.names[0] for each in absent if programs.path_of(each.names[0]) is None]
    if left:
        _tell(f"still absent: {', '.join(left)}")
    return int(bool(left))


def unpack(absent, root):
    """Unpack the packages of the programs *absent*, and what they need and the machine lacks, below *root*."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("lists/partial", "archives/partial"):
            Path(folder, name).mkdir(parents=True)
        settings = (f"Dir::State::lists={folder}/lists", f"Dir::Cache={folder}", "Debug::NoLocking=1")
        apt = ["apt-get", "--quiet", *(f"--option={each}" for each in settings)]
        packages = sorted({each.package for each in absent})
        if not packages or not _run([*apt, "update"]) or not _run([*apt, "--download-only", *INSTALL, *packages]):
            return
        for archive in Path(folder, "archives").glob("*.deb"):
            _run(["dpkg", "--extract", str(archive), str(root)])
    libraries = sorted({str(path.parent) for path in root.rglob("lib*.so*")})
    (root / "bin").mkdir(exist_ok=True)
    for name in (each.names[0] for each in absent):
        # What is in /usr/bin may be a script that starts /usr/lib/NAME/NAME.
        places = (root / "usr" / place / name for place in (f"lib/{name}", "sbin", "bin"))
        if program := next((path for path in places if path.is_file()), None):
            script = root / "bin" / name
            script.write_text(
                f"#!/bin/sh\nexport LD_LIBRARY_PATH={shlex.quote(':'.join(libraries))}\n"
                f'exec {shlex.quote(str(program))} "$@"\n'
            )
            script.chmod(0o755)


def _as_root():
    """Return what leads a command to run it as root; ``None`` where that cannot be had without a question."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") and not subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False).returncode:
        return ["sudo", "-n"]
    return None


def _run(words):
    done = subprocess.run(words, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        _tell(f"exit code {done.returncode} of: {shlex.join(words)}")
    return done.returncode == 0


def _tell(line):
    print(line, file=sys.stderr)  # noqa: T201  # a command prints


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
