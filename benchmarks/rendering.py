"""10,000 volume files, validated, escaped, laid out and written, against bare Jinja and a plain write."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import jinja2

from benchmarks import timing
from nomad_csi.plan import storage
from nomad_csi.render import environment, files

COUNT = 10_000

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
    files.write_all(folder, files.render_plan(storage.plan_document(spec), {}))


def bare(folder: Path, spec: dict[str, object]) -> None:
    """Do the same without any care."""
    template = jinja2.Environment(autoescape=False).from_string(BARE)  # noqa: S701  # the baseline is careless
    for volume in spec["volumes"]:
        (folder / f"{volume['id']}.hcl").write_text(template.render(volume=volume))


def measure() -> Iterator[str]:
    """Yield the results."""
    spec = document(COUNT)
    environment.environment()
    with tempfile.TemporaryDirectory() as careless, tempfile.TemporaryDirectory() as careful:
        base = timing.median_s(lambda: bare(Path(careless), spec), 1)
        full = timing.median_s(lambda: ours(Path(careful), spec), 1)
        again = timing.median_s(lambda: ours(Path(careful), spec), 1)
    yield f"{COUNT} volume files, bare Jinja and write: {base:.2f} s"
    yield f"{COUNT} volume files, ours: {full:.2f} s, {full / base:.1f} x; again, nothing changed: {again:.2f} s"
    program = f"""\
import pathlib, tempfile
from benchmarks import rendering
with tempfile.TemporaryDirectory() as name:
    rendering.ours(pathlib.Path(name), rendering.document({COUNT}))
"""
    cost = timing.of_command([sys.executable, "-c", program], cwd=Path.cwd())
    yield f"peak memory of that in a process of its own: {cost.peak_mib:.0f} MiB"
