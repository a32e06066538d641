"""
Runs of commands with many options at once, by their words.

``whole_runs.txt`` has all that each asks, prints and writes, which was read and found right;
`python -m tests.cli.whole_runs` writes it as it is now. To add a run is to add its heading.
"""

import tempfile
import zlib
from pathlib import Path
from unittest import mock

from nomad_csi.cli.common import inputs
from tests import clocks, emulated_agent
from tests.cli import test_option_effects

FILE = Path(__file__).with_name("whole_runs.txt")
LONG = 80
"""Of a longer text, the beginning and a checksum."""


def recorded():
    """Return the text of each run, by command and words."""
    sections = FILE.read_text(encoding="utf-8").split("\n== ")[1:]
    return {head: text for head, _, text in (each.partition("\n") for each in sections)}


def shown(run, head):
    """Return all that a run does."""
    lines = dict.fromkeys(run(*head.split(": ", 1)))  # how often a wait asks depends on the time of a run
    cut = (f"{line[:LONG]}... {zlib.crc32(line.encode()):08x}" if len(line) > LONG else line for line in lines)
    return "\n".join(text.rstrip("\n") for text in cut if text) + "\n"


def main():
    """Write what the runs do."""
    brisk = mock.patch.object(inputs, "CLOCK", clocks.Brisk())
    with brisk, tempfile.TemporaryDirectory() as folder, emulated_agent.running(folder) as agent:
        run = test_option_effects.runner(agent)
        parts = [f"\n== {head}\n{shown(run, head)}" for head in recorded()]
    FILE.write_text("".join(["# Written by `python -m tests.cli.whole_runs`.\n", *parts]), encoding="utf-8")


if __name__ == "__main__":
    main()
