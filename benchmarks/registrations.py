"""
What registrations cost on Pulumi's own engine, against as many empty components, and how both grow.

Nomad is the emulator, whatever is on PATH. The empty ones cost what the engine costs for one more resource. The volumes
are folders of an EFS file system: for each EBS volume Nomad would query the driver, whose time is not Pulumi's.
"""

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks import components, timing

COUNTS = (200, 800)
OPERATIONS = ("preview", "up", "up, no change")
AIM = 1.3
"""Largest aimed ratio of registrations to empty components."""

EMPTY = """\
import pulumi

for index in range({count}):
    pulumi.ComponentResource("bench:index:Empty", f"item-{{index}}").register_outputs({{}})
"""
REGISTRATIONS = """\
from nomad_csi import VolumeRegistration

for index in range({count}):
    VolumeRegistration(
        f"item-{{index}}",
        volume_id=f"item-{{index}}",
        external_id=f"fs-0123456789abcdef0:/item-{{index}}",
        plugin_id="aws-efs0",
        capabilities=[{{"access_mode": "multi-node-multi-writer", "attachment_mode": "file-system"}}],
    )
"""


def measure() -> Iterator[str]:
    """Yield the results; nothing is measured without ``pulumi`` on PATH."""
    absent = [name for name in ("pulumi", "pulumi-language-python") if shutil.which(name) is None]
    if absent:
        yield f"left out: not on PATH: {', '.join(absent)}"
        return
    with components.prepared() as (folder, environment):
        found = {count: _seconds(folder, count, environment) for count in COUNTS}
    for count, seconds in found.items():
        yield from (f"{operation}, {count}: {_ratio(*seconds[operation])}" for operation in OPERATIONS)
    few, many = COUNTS
    for operation in OPERATIONS:
        ours, empty = (found[many][operation][side] / found[few][operation][side] for side in (0, 1))
        yield f"{operation}, from {few} to {many}: registrations {ours:.1f} x, empty components {empty:.1f} x"


def _seconds(folder: Path, count: int, environment: Mapping[str, str]) -> dict[str, tuple[float, float]]:
    """Return the seconds of each operation with *count* registrations, and with as many empty components."""
    programs = {"ours": REGISTRATIONS, "empty": EMPTY}
    stacks = {
        name: components.stack(folder / f"{name}-{count}", program.format(count=count), environment)
        for name, program in programs.items()
    }
    seconds: dict[str, dict[str, float]] = {name: {} for name in stacks}
    for operation in components.OPERATIONS:
        for name, variables in stacks.items():
            command = ["pulumi", *components.OPERATIONS[operation], "--non-interactive", "--stack", "bench"]
            cost = timing.of_command(command, cwd=folder / f"{name}-{count}", environment=variables)
            seconds[name][operation] = cost.seconds
    return {operation: (seconds["ours"][operation], seconds["empty"][operation]) for operation in OPERATIONS}


def _ratio(ours_s: float, empty_s: float) -> str:
    ratio = ours_s / empty_s
    return f"registrations {ours_s:.1f} s, empty components {empty_s:.1f} s, {ratio:.1f} x (aim {AIM:.1f} x)"
