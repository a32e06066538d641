"""The blocks of `nomad-csi snippet` in a real agent: its parser reads what was meant, and its validation takes the job."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from nomad_csi.cli.common import inputs
from nomad_csi.nomad import jobs
from nomad_csi.plan import snippet, storage
from tests.render import test_snippet

NOMAD = shutil.which("nomad")
pytestmark = [pytest.mark.real_nomad, pytest.mark.skipif(NOMAD is None, reason="no `nomad` on PATH to parse with")]

CATALOGUE = Path(__file__).parents[1] / "catalogue"
MODES = ("single-node-writer", "single-node-reader-only", "multi-node-reader-only", "multi-node-single-writer")


def made():
    """Yield a snippet of each volume of the catalogue, for a job that writes and one that reads, and those of a set."""
    for path in sorted(CATALOGUE.glob("*/storage.yaml")):
        for item in inputs.read_plan(path).volumes:
            for reads in (False, True):
                found = snippet.make_snippet([item.registration], item.registration.volume_id, reads=reads)
                yield pytest.param(found, id=f"{path.parent.name}-{item.registration.volume_id}-{reads}")
    for mode in MODES:
        volume = {"id": "data", "plugin_id": "p", "count": 3, "capabilities": [{"access_mode": mode}]}
        plugin = {"id": "p", "driver": "csi-hostpath"}
        spec = {"plugins": [plugin], "volumes": [volume | {"create": {"capacity_min_gib": 1}}]}
        yield pytest.param(
            snippet.make_snippet([item.registration for item in storage.plan_document(spec).volumes], "data"),
            id=f"set-{mode}",
        )


@pytest.mark.parametrize("found", list(made()))
def test_agent_takes_the_blocks(agent, tmp_path, found):
    """Parsed into the request and the mount that were meant, and valid."""
    path = tmp_path / "j.nomad.hcl"
    source = test_snippet.job_of(found).replace('driver = "docker"', 'driver = "docker"\nconfig {\nimage = "x"\n}')
    path.write_text(source.replace(f'namespace = "{found.namespace}"', ""), encoding="utf-8")

    parsed = jobs.parse(agent.client, path.read_text(encoding="utf-8"))
    done = subprocess.run(
        [NOMAD, "job", "validate", str(path)],
        env={"PATH": os.environ["PATH"], "NOMAD_ADDR": agent.address},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    [group] = parsed["TaskGroups"]
    [mount] = group["Tasks"][0]["VolumeMounts"]
    request = group["Volumes"][found.label]
    assert (done.returncode, "Job validation successful" in done.stdout) == (0, True), done.stdout + done.stderr
    assert (request["Type"], request["Source"], request["PerAlloc"]) == ("csi", found.source, found.per_alloc)
    assert (request["AccessMode"], request["AttachmentMode"]) == (found.access_mode, found.attachment_mode)
    assert (request["ReadOnly"], mount["ReadOnly"]) == (found.read_only, found.read_only)
    assert (mount["Volume"], mount["Destination"], group["Count"]) == (found.label, found.destination, found.count or 1)
