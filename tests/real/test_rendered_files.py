"""Our files in the real parsers: a job as the agent reads it, a volume as the nomad command sends it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from nomad_csi.cli.common import inputs
from nomad_csi.hcl import read
from nomad_csi.hcl import volume as volume_reader
from nomad_csi.nomad import jobs
from tests.real import nomad_agents

NOMAD = shutil.which("nomad")
pytestmark = [pytest.mark.real_nomad, pytest.mark.skipif(NOMAD is None, reason="no `nomad` on PATH to parse with")]

CATALOGUE = Path(__file__).parents[1] / "catalogue"
FOLDERS = sorted(path.parent for path in CATALOGUE.glob("*/storage.yaml"))
CATALOGUE_JOBS = sorted(CATALOGUE.glob("*/expected/jobs/*.hcl"))
CATALOGUE_VOLUMES = sorted(CATALOGUE.glob("*/expected/volumes/*/*.hcl"))
NANOSECONDS = 1_000_000_000
LACKS = ("nonexistent namespace", "nonexistent node pool", 'Vault "default" not enabled')
"""What this agent lacks, and not the job."""

GO_ZERO_TIME = "0001-01-01T00:00:00Z"


def run(address, *words):
    environment = {"PATH": os.environ["PATH"], "NOMAD_ADDR": address}
    done = subprocess.run([NOMAD, *words], env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def said(value):
    """Return *value* without what says nothing: empty values, and Go's first moment of time."""
    if isinstance(value, dict):
        found = {name: said(item) for name, item in value.items()}
        return {name: item for name, item in found.items() if item not in ({}, [], "", None, 0, False, GO_ZERO_TIME)}
    return [said(item) for item in value] if isinstance(value, list) else value


def name_of(path):
    return "/".join((path.relative_to(CATALOGUE).parts[0], path.name.partition(".")[0]))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_formatter_leaves_the_files_of_a_driver_alone(folder):
    """`nomad fmt -check` names no file of any driver's folder."""
    done = subprocess.run(
        [NOMAD, "fmt", "-check", "-recursive", str(folder / "expected")],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("path", CATALOGUE_VOLUMES, ids=name_of)
def test_command_reads_each_volume_file_of_the_catalogue_as_we_do(received, path):
    """What `nomad volume register`, or `create`, sends of the file is what our own reader makes of it."""
    address, bodies = received
    text = path.read_text(encoding="utf-8")
    created = "\ncapacity_min" in text

    run(address, "volume", "create" if created else "register", str(path))

    [(where, body)] = bodies
    wanted = volume_reader.volume_payload(read.read_volume(text))
    assert where.partition("?")[0] == f"/v1/volume/csi/{wanted['ID']}" + ("/create" if created else "")
    assert said(body["Volumes"]) == said([wanted])


def seconds(nanoseconds):
    return None if nanoseconds is None else nanoseconds / NANOSECONDS


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_agent_reads_each_job_file_of_the_catalogue_as_it_was_planned(agent, folder):
    """Every field of the plan comes out of the agent's own parser; and the agent finds the job valid."""
    for job in (job for plugin in inputs.read_plan(folder / "storage.yaml").plugins for job in plugin.jobs):
        parsed = jobs.parse(agent.client, (folder / "expected" / job.file_name).read_text(encoding="utf-8"))

        problems = nomad_agents.problems(agent.client, parsed)
        assert [text for text in problems if not any(lack in text for lack in LACKS)] == []
        [group] = parsed["TaskGroups"]
        [task] = group["Tasks"]
        plugin, config = task["CSIPluginConfig"], task["Config"]
        assert (parsed["ID"], parsed["Type"], parsed["Namespace"]) == (job.job_id, job.job_type, job.namespace)
        assert (parsed["Datacenters"], parsed["NodePool"], parsed["Priority"]) == (
            list(job.datacenters),
            job.node_pool,
            job.priority,
        )
        assert [item["LTarget"] for item in parsed["Constraints"] or ()] == [item.attribute for item in job.constraints]
        assert (group["Name"], group["Count"] if job.count else None) == (job.group, job.count)
        assert (task["Driver"], config["image"], config["args"]) == (job.task_driver, job.image, list(job.arguments))
        assert (config.get("privileged", False), config.get("network_mode", "")) == (job.privileged, job.network_mode)
        assert (config.get("ipc_mode", ""), config.get("volumes", [])) == (job.ipc_mode, list(job.binds))
        assert (task["Env"] or {}) == dict(job.environment)
        assert (plugin["ID"], plugin["Type"], plugin["MountDir"]) == (job.plugin_id, job.role, job.mount_dir)
        assert plugin["StagePublishBaseDir"] == (job.stage_publish_base_dir or "/local/csi")
        assert seconds(plugin["HealthTimeout"]) == job.health_timeout_s
        assert seconds(task["KillTimeout"]) in {job.kill_timeout_s, 5}
        assert (task["Resources"]["CPU"], task["Resources"]["MemoryMB"]) == (job.cpu_mhz, job.memory_mib)
        assert [item["EmbeddedTmpl"].rstrip("\n") for item in task["Templates"] or ()] == [
            item.data.rstrip("\n") for item in job.templates
        ]
        assert (task["Vault"] is None) == (job.vault_role is None)


def test_every_job_file_of_the_catalogue_is_of_a_plan():
    """The test before this one leaves no file out."""
    planned = {
        folder / "expected" / job.file_name
        for folder in FOLDERS
        for plugin in inputs.read_plan(folder / "storage.yaml").plugins
        for job in plugin.jobs
    }

    assert planned == set(CATALOGUE_JOBS)
