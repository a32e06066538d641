"""
Make the CSI project's own tests of plugins, once, into this environment: ``python -m tests.csi_sanity``.

Done before the tests start and not by one of them: Go's compiler takes every core for a minute or more, and the tests
beside it would measure that.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

TOOL = "csi-sanity"
MODULE = "github.com/kubernetes-csi/csi-test/v5/cmd/csi-sanity"
VERSION = "v5.6.0"
MADE = Path(sys.prefix) / TOOL / VERSION / TOOL

BUILD_S = 600
"""Seconds that Go may take: with an empty cache it took 86 s of processor time, and modules come over the network."""


def found() -> str | None:
    """Return the path of csi-sanity, the one on PATH or the one that `main` made; ``None`` where neither is."""
    return shutil.which(TOOL) or (str(MADE) if MADE.exists() else None)


def tell(line: str) -> None:
    """Write *line* at once, before what Go writes."""
    sys.stderr.write(f"{line}\n")


def main() -> int:
    """Make it where it is not there and Go is. Without it the tests that need it are skipped, so nothing fails here."""
    if found() is not None:
        return 0
    if shutil.which("go") is None:
        tell(f"{TOOL} is not on PATH, and no Go to make it with: its tests will be skipped")
        return 0
    tell(f"making {TOOL} {VERSION} with Go (a minute or two, once)")
    environment = os.environ | {"GOBIN": str(MADE.parent), "GOFLAGS": "-modcacherw"}
    try:
        subprocess.run(["go", "install", f"{MODULE}@{VERSION}"], env=environment, timeout=BUILD_S, check=True)
    except (subprocess.SubprocessError, OSError) as error:
        tell(f"{TOOL} could not be made, its tests will be skipped: {error}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
