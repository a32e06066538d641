"""What a person waits for: ``nomad-csi --help``, against the bare interpreter."""

import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks import timing

RUNS = 15


def measure() -> Iterator[str]:
    """Yield the result."""
    here = Path.cwd()
    command = [str(Path(sys.executable).parent / "nomad-csi"), "--help"]
    bare = timing.median_s(lambda: timing.of_command([sys.executable, "-c", "pass"], cwd=here), RUNS)
    ours = timing.median_s(lambda: timing.of_command(command, cwd=here), RUNS)
    yield f"nomad-csi --help: {ours:.3f} s (aim 0.15 s), {ours / bare:.1f} x an idle interpreter ({bare:.3f} s)"
