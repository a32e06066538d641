"""
The jobs of the public guides and ours, as Nomad's job parser makes them: equal but for a list of improvements.

The list is what an operator gets for moving over; nothing else may differ.
"""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from nomad_csi.hcl import read, volume
from nomad_csi.render import files
from nomad_csi_sandbox.nomad.hcl import parse

CASES = Path(__file__).parents[1] / "cases"

EVERYWHERE = {
    "ID": "named by the plugin's id, so that two plugins of one driver can run",
    "Name": "the same as the id",
    "Datacenters": "all of them, as Nomad's default has it",
    "Namespace": "said, not left to the caller",
    "NodePool": "said, not left to the caller",
    "Priority": "above the jobs that cannot run without the plugin",
    "TaskGroups[0].RestartPolicy.Attempts": "keeps trying; by default a plugin that failed three times stays down",
    "TaskGroups[0].RestartPolicy.Delay": "as above",
    "TaskGroups[0].RestartPolicy.Interval": "as above",
    "TaskGroups[0].RestartPolicy.Mode": "as above",
    "TaskGroups[0].Tasks[0].CSIPluginConfig.HealthTimeout": "time to pull the image and to answer",
    "TaskGroups[0].Tasks[0].Config.args": "the socket that Nomad gives; no flag that is going away; less talk",
    "TaskGroups[0].Tasks[0].Config.image": "today's driver, from the registry where it is published",
    "TaskGroups[0].Tasks[0].Env.AWS_REGION": "the region is said, not asked of instance metadata",
    "TaskGroups[0].Tasks[0].Resources.CPU": "the plugin idles most of the time; 500 MHz on each client is much",
}
CONTROLLER = {
    "TaskGroups[0].Count": "two, so that attachments work while a client is drained",
    "TaskGroups[0].Constraints[0].LTarget": "on distinct clients, or two are no better than one",
    "TaskGroups[0].Constraints[0].Operand": "as above",
    "TaskGroups[0].Constraints[0].RTarget": "as above",
    "Type": "said, though it is the default",
}
EFS = {
    "Constraints[0].LTarget": "distinct_hosts means nothing in a system job",
    "Constraints[0].Operand": "as above",
    "Constraints[0].RTarget": "as above",
    "TaskGroups[0].Tasks[0].Config.network_mode": "host: otherwise mounts hang when the container is replaced",
    "TaskGroups[0].Tasks[0].Config.volumes": "state of the mounts outlives the container",
    "TaskGroups[0].Tasks[0].Resources.MemoryMB": "said: every mount has a proxy in this task",
}
PAIRS = [
    ("tutorial-ebs-controller.nomad.hcl", "jobs/aws-ebs0-controller.nomad.hcl", EVERYWHERE | CONTROLLER),
    ("tutorial-ebs-nodes.nomad.hcl", "jobs/aws-ebs0-node.nomad.hcl", EVERYWHERE),
    ("docs-efs-node.nomad.hcl", "jobs/aws-efs0-node.nomad.hcl", EVERYWHERE | EFS),
]


def emulator(text, _tmp_path):
    return parse.parse(text)


def real(text, tmp_path):
    path = tmp_path / "job.nomad.hcl"
    path.write_text(text)
    done = subprocess.run(["nomad", "job", "run", "-output", str(path)], check=True, capture_output=True)
    return json.loads(done.stdout)["Job"]


PARSERS = [
    pytest.param(emulator, id="emulator"),
    pytest.param(
        real,
        id="nomad",
        marks=[
            pytest.mark.real_nomad,
            pytest.mark.skipif(shutil.which("nomad") is None, reason="`nomad` is not on PATH"),
        ],
    ),
]


def leaves(value, path=""):
    """Yield every value of a job with its path; a list of plain values is one."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for index, inner in enumerate(value):
            yield from leaves(inner, f"{path}[{index}]")
    else:
        yield path, value


@pytest.mark.parametrize("parser", PARSERS)
@pytest.mark.parametrize(("case", "ours", "improvements"), PAIRS, ids=[case for case, _, _ in PAIRS])
def test_job_equals_the_guides_but_for_the_improvements(plan, external_ids, tmp_path, parser, case, ours, improvements):
    """Every difference is on the list, and everything on the list is a difference."""
    theirs = dict(leaves(parser((CASES / case).read_text(), tmp_path)))
    rendered = dict(leaves(parser(files.render_plan(plan, external_ids)[ours], tmp_path)))

    different = {path for path in theirs | rendered if theirs.get(path) != rendered.get(path)}

    assert different == set(improvements)


def test_volume_file_equals_the_tutorials_but_for_the_improvements(plan, external_ids):
    """The same volume, pinned to its zone, and with what a registration must not leave out."""
    theirs = dict(leaves(volume.volume_payload(read.read_volume((CASES / "tutorial-volume.hcl").read_text()))))
    text = files.render_plan(plan, external_ids)["volumes/default/mysql.volume.hcl"]
    ours = dict(leaves(volume.volume_payload(read.read_volume(text))))

    different = {path for path in theirs | ours if theirs.get(path) != ours.get(path)}

    zone = "RequestedTopologies.Required[0].Segments.topology.ebs.csi.aws.com/zone"
    assert different == {
        "Namespace",  # said, not left to the caller
        zone,  # or Nomad places jobs where the volume cannot be attached
    }
