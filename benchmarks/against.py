"""Commands of this installation beside those of another: ``python -m benchmarks.against OTHER_PYTHON``."""

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

import yaml

from benchmarks import rendering, timing

ROUNDS = 9
SLOWER = 1.1
"""How many times the other's seconds a command may take: more fails the run."""


def _commands(folder: Path) -> dict[str, list[str]]:
    """Return what is measured: the commands that need no cluster, on one file of 300 volumes in *folder*."""
    spec = folder / "storage.yaml"
    spec.write_text(yaml.safe_dump(rendering.document(300)))
    return {
        "--help": ["--help"],
        "schema": ["schema"],
        "render": ["render", str(spec), "--out", str(folder / "rendered")],
        "lint": ["check", str(folder / "rendered")],
    }


def compare(other: Path) -> dict[str, tuple[float, float]]:
    """
    Return the median seconds of each command, here and in the environment of the interpreter *other*.

    Both run in turns, so that what else the machine does weighs on both.
    Raises `RuntimeError` when a command fails.
    """
    pythons = (Path(sys.executable), other)
    medians = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for title, words in _commands(folder).items():
            taken: tuple[list[float], list[float]] = ([], [])
            for _ in range(ROUNDS):
                for seconds, python in zip(taken, pythons, strict=True):
                    command = [str(python.with_name("nomad-csi")), *words]
                    seconds.append(timing.of_command(command, cwd=folder).seconds)
            medians[title] = (statistics.median(taken[0]), statistics.median(taken[1]))
    return medians


def main() -> int:
    """Print a line a command; exit code 1 where one is slower by more than a tenth."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", type=Path, help="the interpreter of an environment that holds another release")
    slower = False
    for title, (ours, others) in compare(parser.parse_args().other).items():
        slower |= ours > others * SLOWER
        print(f"nomad-csi {title}: {ours:.3f} s, {ours / others:.2f} x the other's {others:.3f} s")
    return int(slower)


if __name__ == "__main__":
    sys.exit(main())
