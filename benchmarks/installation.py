"""From a fresh clone to a verified stack, as a new user does it."""

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path


def measure() -> Iterator[str]:
    """Yield the results. A sandbox that is up in this checkout holds the data directory, and is refused."""
    with tempfile.TemporaryDirectory(prefix="nc") as name:
        clone = Path(name) / "nomad-csi"
        environment = {"PATH": os.environ["PATH"], "HOME": name, "PIP_CACHE_DIR": f"{name}/pip"}
        environment |= {
            key: value for key, value in os.environ.items() if key.startswith(("PIP_", "SSL_", "REQUESTS_"))
        }
        began = time.perf_counter()
        _run(["git", "clone", "--quiet", str(Path.cwd()), str(clone)], Path(name), environment)
        _run(["make", "install"], clone, environment)
        installed = time.perf_counter()
        try:
            _run(["make", "up"], clone, environment)
            ready = time.perf_counter()
        finally:
            _run(["make", "down"], clone, environment)
        yield f"clone and install: {installed - began:.0f} s"
        yield f"make up after that: {ready - installed:.0f} s (aim 40 s); altogether {ready - began:.0f} s (aim 180 s)"


def _run(command: list[str], cwd: Path, environment: dict[str, str]) -> None:
    subprocess.run(command, cwd=cwd, env=environment, check=True, stdout=subprocess.DEVNULL)
