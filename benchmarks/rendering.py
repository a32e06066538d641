"""Volume files, validated, escaped, laid out and written, against bare Jinja and a plain write."""

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import jinja2

from benchmarks import timing
from nomad_csi.hcl import disk, documents
from nomad_csi.plan import storage

COUNT = 10_000
MANY = 100_000
ROUNDS = 5

BARE = """\
type = "csi"
id = "{{ volume.id }}"
namespace = "default"
name = "{{ volume.id }}"
external_id = "{{ volume.existing.external_id }}"
plugin_id = "{{ volume.plugin_id }}"

capability {
  access_mode = "single-node-writer"
  attachment_mode = "file-system"
}

mount_options {
}

topology_request {
  required {
    topology {
      segments = {
        "topology.ebs.csi.aws.com/zone" = "{{ volume.existing.availability_zone }}"
      }
    }
  }
}
"""


def document(count: int) -> dict[str, object]:
    """Return a spec of *count* volumes that exist."""
    plugin = {"id": "aws-ebs0", "driver": "aws-ebs", "aws_region": "us-east-1"}
    volumes = [
        {
            "id": f"data-{index}",
            "plugin_id": "aws-ebs0",
            "existing": {"external_id": f"vol-{index:017x}", "availability_zone": "us-east-1a"},
        }
        for index in range(count)
    ]
    return {"plugins": [plugin], "volumes": volumes}


def ours(folder: Path, spec: dict[str, object]) -> None:
    """Render *spec* as the command does."""
    disk.write_all(folder, documents.render_plan(storage.plan_document(spec), {}))


def bare(folder: Path, spec: dict[str, object]) -> None:
    """Do the same without any care."""
    template = jinja2.Environment(autoescape=False).from_string(BARE)  # noqa: S701  # the baseline is careless
    for volume in spec["volumes"]:
        (folder / f"{volume['id']}.hcl").write_text(template.render(volume=volume))


def measure() -> Iterator[str]:
    """Yield the results."""
    spec = document(COUNT)
    ours_s, bare_s = _compared(spec)
    yield f"{COUNT} volume files, bare Jinja and write: {bare_s:.2f} s"
    yield f"{COUNT} volume files, ours: {ours_s:.2f} s, {ours_s / bare_s:.1f} x (aim 2)"
    yield from _stages(spec)
    yield _terraform(spec, ours_s)
    yield from (_in_a_process_of_its_own(count) for count in (COUNT, MANY))
    yield _one_file()


def _compared(spec: dict[str, object]) -> tuple[float, float]:
    """Return the least seconds of ours and of the baseline, in turns: others may work on this machine."""
    found = {ours: [], bare: []}
    for _ in range(ROUNDS):
        for function, seconds in found.items():
            with tempfile.TemporaryDirectory() as name:
                seconds.append(timing.median_s(lambda function=function, name=name: function(Path(name), spec), 1))
    return min(found[ours]), min(found[bare])


def _stages(spec: dict[str, object]) -> Iterator[str]:
    plan = storage.plan_document(spec)
    rendered = documents.render_plan(plan, {})
    texts = dict(rendered)
    seconds = {
        "validate and plan": _least(lambda _: storage.plan_document(spec)),
        "render, escape and lay out": _least(lambda _: dict(rendered)),
        "write": _least(lambda folder: disk.write_all(folder, texts)),
    }
    with tempfile.TemporaryDirectory() as name:
        ours(Path(name), spec)
        again = _least(lambda _: ours(Path(name), spec))
    told = ", ".join(f"{stage} {1e6 * found / COUNT:.0f} us" for stage, found in seconds.items())
    yield f"of that, for each file: {told}"
    yield f"again, nothing changed: {again:.2f} s"


def _least(function: Callable[[Path], object]) -> float:
    found = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as name:
            found.append(timing.median_s(lambda name=name: function(Path(name)), 1))
    return min(found)


def _terraform(spec: dict[str, object], ours_s: float) -> str:
    """Compare with ``templatefile`` of the same template, which is evaluated there and not written."""
    if shutil.which("terraform") is None:
        return "not compared with templatefile: no terraform on PATH"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "volume.tftpl").write_text(BARE.replace("{{ ", "${").replace(" }}", "}"))
        (folder / "volumes.json").write_text(json.dumps(spec["volumes"]))
        (folder / "none.tfrc").write_text("")
        each = '[for volume in jsondecode(file("volumes.json")) : templatefile("volume.tftpl", {volume = volume})]'
        environment = dict(os.environ) | {"TF_CLI_CONFIG_FILE": str(folder / "none.tfrc"), "CHECKPOINT_DISABLE": "1"}
        command = ["sh", "-c", 'printf %s "$1" | terraform console', "sh", f'length(join("", {each}))']
        seconds = [timing.of_command(command, cwd=folder, environment=environment).seconds for _ in range(ROUNDS)]
    return f"terraform templatefile, not written: {min(seconds):.2f} s; ours takes {ours_s / min(seconds):.1f} x"


def _in_a_process_of_its_own(count: int) -> str:
    program = f"""\
import pathlib, tempfile
from benchmarks import rendering
with tempfile.TemporaryDirectory() as name:
    rendering.ours(pathlib.Path(name), rendering.document({count}))
"""
    cost = timing.of_command([sys.executable, "-c", program], cwd=Path.cwd())
    aim = " (aim 150)" if count == MANY else ""
    return f"{count} in a process of its own: {cost.seconds:.1f} s, peak memory {cost.peak_mib:.0f} MiB{aim}"


def _one_file() -> str:
    spec = json.dumps({"plugins": document(1)["plugins"], "volumes": document(1)["volumes"]})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "storage.yaml").write_text(spec)
        command = [str(Path(sys.executable).parent / "nomad-csi"), "render", "storage.yaml", "--out", "rendered"]
        seconds = [timing.of_command(command, cwd=folder).seconds for _ in range(ROUNDS)]
        idle = [timing.of_command([sys.executable, "-c", "pass"], cwd=folder).seconds for _ in range(ROUNDS)]
    return (
        f"nomad-csi render, one volume and its plugin: {min(seconds):.2f} s, "
        f"{min(seconds) / min(idle):.0f} x an idle interpreter ({min(idle):.3f} s)"
    )
