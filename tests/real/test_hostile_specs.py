"""Hostile specs through HashiCorp's own parsers: the agent's for jobs, the nomad command's for volumes."""

import random
import shutil
import subprocess

import pytest

from nomad_csi.hcl import quote
from nomad_csi.nomad import jobs, volumes
from nomad_csi.plan import storage
from nomad_csi.render import documents
from tests import hostile_specs

NOMAD = shutil.which("nomad")
VOLUMES_AT_MOST = 100
"""Of so many specs the volume file is sent: each needs a process."""

pytestmark = [pytest.mark.real_nomad, pytest.mark.skipif(NOMAD is None, reason="no `nomad` on PATH to parse with")]

MAPS = frozenset({"Env", "Meta", "Args", "args"})


def shape(value):
    """Return the names in *value*, without the texts."""
    if isinstance(value, dict):
        return {name: None if name in MAPS else shape(item) for name, item in value.items()}
    return [shape(item) for item in value] if isinstance(value, list) else None


@pytest.fixture
def seed():
    """Another one in each run; a failure shows the spec."""
    return random.randrange(2**32)  # noqa: S311  # tests are to be repeated


@pytest.mark.timeout(900)
def test_agent_finds_the_same_blocks_in_every_accepted_job(agent, seed):
    """Structure as of the plain spec; texts as planned."""
    [plain] = storage.plan_document(hostile_specs.SPEC).plugins[0].jobs
    wanted = shape(jobs.parse(agent.client, documents.job_file(plain)))
    count = 0
    for found in hostile_specs.accepted(seed):
        job, parsed = found.job, jobs.parse(agent.client, found.job_file)

        assert shape(parsed) == wanted, found.document
        [group] = parsed["TaskGroups"]
        [task] = group["Tasks"]
        placed = (parsed["ID"], parsed["Datacenters"], parsed["NodePool"])
        assert placed == (job.job_id, list(job.datacenters), job.node_pool), found.document
        assert (task["Config"]["args"], task["Config"]["image"]) == (list(job.arguments), job.image), found.document
        assert task["Env"] == dict(job.environment), found.document
        data = [template["EmbeddedTmpl"].rstrip("\n") for template in task["Templates"]]
        assert data == [template.data.rstrip("\n") for template in job.templates], found.document
        count += 1

    assert count > hostile_specs.COUNT / 10


@pytest.mark.parametrize("behind", ["}", "}}", " }", "\t} }x", "}}$*", "x}", "\n}", "}${NOMAD_ALLOC_ID}}"])
def test_agent_reads_braces_behind_a_variable_once(agent, behind):
    """A brace that is no part of the variable; a parser that copies the text up to a brace would have it twice."""
    text = f"--endpoint=${{CSI_ENDPOINT}}{behind}"
    config = f'config {{\ncommand = "true"\nargs = [{quote.config_string(text)}]\n}}'
    file = f'job "j" {{\ngroup "g" {{\ntask "t" {{\ndriver = "raw_exec"\n{config}\n}}\n}}\n}}\n'

    [group] = jobs.parse(agent.client, file)["TaskGroups"]

    assert group["Tasks"][0]["Config"]["args"] == [text]


@pytest.mark.timeout(900)
def test_command_reads_every_accepted_volume_as_planned(tmp_path, received, seed):
    """`nomad volume register` sends what our own registration would, without the secrets."""
    file = tmp_path / "v.volume.hcl"
    address, bodies = received
    for found in hostile_specs.accepted(seed, min(hostile_specs.COUNT, VOLUMES_AT_MOST)):
        file.write_text(found.volume_file, encoding="utf-8", newline="")
        bodies.clear()

        words = [NOMAD, "volume", "register", str(file)]
        environment = {"NOMAD_ADDR": address}
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=120)

        assert done.returncode == 0, f"{done.stderr} {found.document}"
        ours = said(volumes.payload(found.volume.registration))
        ours.pop("Secrets")
        assert said(bodies) == [ours], found.document


def said(value):
    """Return *value* without what says nothing."""
    if isinstance(value, dict):
        found = {name: said(item) for name, item in value.items()}
        return {
            name: item
            for name, item in found.items()
            if item not in ({}, [], "", None, 0, False, "0001-01-01T00:00:00Z")
        }
    return [said(item) for item in value] if isinstance(value, list) else value
