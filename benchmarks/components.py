"""
What components cost on Pulumi's own engine: 50 volumes as ours, flat, and flat beside as many empty components.

Nomad stands in, whatever is on PATH: its time is not the components'.

What the empty ones cost is the engine's: one more resource to register, finish and write into the state. What ours cost
beyond that is parents, and checking and planning.
"""

import contextlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks import sandbox, timing
from nomad_csi.plan import storage

COUNT = 50
ROUNDS = 3
SHAPES = ("flat", "empty", "ours")
OPERATIONS = {
    "preview": ("preview",),
    "up": ("up", "--yes", "--skip-preview"),
    "preview, no change": ("preview", "--expect-no-changes"),
    "up, no change": ("up", "--yes", "--skip-preview", "--expect-no-changes"),
    "destroy": ("destroy", "--yes", "--skip-preview"),
}
PROGRAM = """\
import pulumi
import pulumi_aws as aws

from nomad_csi import EbsVolume, VolumeRegistration
from nomad_csi.components import resources

shape, count = "{shape}", {count}
zone = "us-east-1a"
for index in range(count):
    name = f"{{shape}}-{{index}}"
    if shape == "ours":
        args = {{"plugin_id": "aws-ebs0", "availability_zone": zone, "size_gib": 1, "protect": False}}
        EbsVolume(name, args | {{"render_to": shape}})
        continue
    if shape == "empty":
        pulumi.ComponentResource("bench:index:Empty", name).register_outputs({{}})
    volume = aws.ebs.Volume(
        name, availability_zone=zone, size=1, type="gp3", encrypted=True, tags={{"ebs.csi.aws.com/cluster": "true"}}
    )
    VolumeRegistration(
        name,
        volume_id=name,
        external_id=volume.id,
        plugin_id="aws-ebs0",
        capabilities=[{{"access_mode": "single-node-writer", "attachment_mode": "file-system"}}],
        required_topologies=[{{"segments": {{"topology.ebs.csi.aws.com/zone": zone}}}}],
        opts=pulumi.ResourceOptions(depends_on=[volume]),
    )
    resources.RenderedFile(name, path=f"{{shape}}/{{name}}.hcl", content=volume.id.apply(lambda found: found + "\\n"))
"""


def measure() -> Iterator[str]:
    """Yield the results; nothing is measured without ``pulumi`` on PATH."""
    absent = [name for name in ("pulumi", "pulumi-language-python") if shutil.which(name) is None]
    if absent:
        yield f"left out: not on PATH: {', '.join(absent)}"
        return
    with prepared() as (folder, environment):
        yield from _compared(folder, environment)


@contextlib.contextmanager
def prepared() -> Iterator[tuple[Path, Mapping[str, str]]]:
    """Start a sandbox with an emulated Nomad; yield a folder for projects, and the environment of their commands."""
    with tempfile.TemporaryDirectory(prefix="nc") as name:
        folder = Path(name)
        own = sandbox.project(folder / "sandbox", plugins=2)
        try:
            subprocess.run(
                [*own, "up", "--engine", "emulator", "--nomad", "emulator"], check=True, stdout=subprocess.DEVNULL
            )
            found = subprocess.run([*own, "exec", "--", "env", "-0"], check=True, capture_output=True, text=True)
            yield folder, dict(line.split("=", 1) for line in found.stdout.split("\0") if "=" in line)
        finally:
            subprocess.run([*own, "down"], check=True, stdout=subprocess.DEVNULL)


def _compared(folder: Path, environment: Mapping[str, str]) -> Iterator[str]:
    stacks = {shape: stack(folder / shape, PROGRAM.format(shape=shape, count=COUNT), environment) for shape in SHAPES}
    costs: dict[tuple[str, str], list[timing.Cost]] = {}
    for _ in range(ROUNDS):
        for shape, variables in stacks.items():
            for operation, words in OPERATIONS.items():
                command = ["pulumi", *words, "--non-interactive", "--stack", "bench"]
                cost = timing.of_command(command, cwd=folder / shape, environment=variables)
                costs.setdefault((operation, shape), []).append(cost)
    for operation in OPERATIONS:
        told = (_told(shape, costs[operation, shape]) for shape in SHAPES)
        yield f"{operation}, {COUNT} volumes: {', '.join(told)}"
    peaks = (f"{shape} {max(cost.peak_mib for cost in _all(costs, shape)):.0f} MiB" for shape in SHAPES)
    yield f"largest process, which is pulumi: {', '.join(peaks)}"
    seconds = timing.median_s(lambda: storage.plan_document(_spec()), ROUNDS)
    yield f"checking and planning {COUNT} volumes, in our own code: {seconds * 1000:.0f} ms"


def _told(shape: str, found: list[timing.Cost]) -> str:
    """Return the least of what the rounds took: others may work on this machine."""
    return f"{shape} {min(cost.seconds for cost in found):.1f} s ({min(cost.cpu_s for cost in found):.1f} s of CPU)"


def _all(costs: Mapping[tuple[str, str], list[timing.Cost]], shape: str) -> Iterator[timing.Cost]:
    for (_, one), found in costs.items():
        if one == shape:
            yield from found


def stack(folder: Path, program: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Create a project in *folder* for *program*, and return the environment of its stack."""
    (folder / "state").mkdir(parents=True)
    (folder / "__main__.py").write_text(program)
    (folder / "Pulumi.yaml").write_text(
        f"name: bench-{folder.name}\nruntime:\n  name: python\n"
        f"  options: {{toolchain: pip, virtualenv: {sys.prefix}}}\nconfig:\n  aws:region: us-east-1\n"
    )
    variables = dict(environment) | {"PULUMI_BACKEND_URL": (folder / "state").as_uri()}
    for command in (
        [str(Path(sys.executable).parent / "nomad-csi"), "plugin", "install"],
        ["pulumi", "stack", "init", "bench"],
    ):
        subprocess.run(command, cwd=folder, env=variables, check=True, capture_output=True)
    return variables


def _spec() -> dict[str, object]:
    volume = {"plugin_id": "aws-ebs0", "ebs": {"availability_zone": "us-east-1a", "size_gib": 1}}
    return {
        "plugins": [{"id": "aws-ebs0", "driver": "aws-ebs", "aws_region": "us-east-1"}],
        "volumes": [volume | {"id": f"data-{index}"} for index in range(COUNT)],
    }
