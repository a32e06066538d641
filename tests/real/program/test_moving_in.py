"""
Plugin jobs that ran before this package came are taken over by `pulumi up`, under their own ids.

The real hostpath driver is controller and node in one, beside a volume in use. The real EBS driver runs by the jobs of
HashiCorp's tutorial, with `raw_exec` instead of Docker and moto instead of EC2; no disk is mounted there.
"""

import os
import re
import shlex
import shutil
import subprocess
from types import SimpleNamespace

import pytest
import yaml

from nomad_csi import cli
from nomad_csi.frame import resource
from nomad_csi.nomad import jobs, plugins, volumes
from nomad_csi.volumes import volume_resource
from tests.contract import agents

COMMAND = shutil.which("hostpathplugin")
OWN_ID, USUAL_ID = "plugin-hostpath", "plugin-hostpath0-monolith"
JOB = """
job "plugin-hostpath" {{
  type = "system"
  group "nodes" {{
    task "plugin" {{
      driver = "raw_exec"
      config {{
        command = "{command}"
        args    = ["--endpoint=${{CSI_ENDPOINT}}", "--nodeid=node-of-tests", "--statedir={state}", "--v=5"]
      }}
      csi_plugin {{
        id                     = "hostpath0"
        type                   = "monolith"
        mount_dir              = "/csi"
        stage_publish_base_dir = "{data_dir}/client/csi/monolith/hostpath0"
      }}
    }}
  }}
}}
"""
CONSUMER = """
job "writer" {{
  group "g" {{
    volume "data" {{
      type            = "csi"
      source          = "data"
      access_mode     = "single-node-writer"
      attachment_mode = "file-system"
    }}
    task "t" {{
      driver = "exec"
      volume_mount {{
        volume      = "data"
        destination = "/data"
      }}
      config {{
        command = "/bin/sh"
        args    = ["-c", "while true; do echo line >> /data/log; sleep 0.1; done"]
      }}
    }}
  }}
}}
"""
WAIT_S = 90.0
PROGRAM = "from nomad_csi import storage_stack\n\nstorage_stack()\n"
UP = ("up", "--yes", "--skip-preview")
DESTROY = ("destroy", "--yes", "--skip-preview")

pytestmark = [
    pytest.mark.real_nomad,
    pytest.mark.timeout(600),
    pytest.mark.skipif(
        not (shutil.which("nomad") and COMMAND) or os.geteuid() != 0,
        reason="needs `nomad` and `hostpathplugin` on PATH, and root to start a Nomad client",
    ),
]


@pytest.fixture
def state(tmp_path):
    """A folder for the driver, that tasks may enter, who are nobody."""
    for part in (tmp_path, *tmp_path.parents[:2]):
        part.chmod(0o755)
    return tmp_path / "state"


@pytest.fixture
def world(agent, monkeypatch, tmp_path):
    """What a program finds: the agent. Commands find the same one."""
    monkeypatch.setenv("NOMAD_ADDR", agent.address)
    environment = agents.task_environment("http://127.0.0.1:1", "i-1")
    return SimpleNamespace(environment=environment | {"HOME": str(tmp_path), "NOMAD_ADDR": agent.address})


@pytest.fixture
def in_use(agent, until, state):
    """The job of before, healthy, with a volume that another job writes to: the writer's allocation."""
    if len(subprocess.run([COMMAND, "--version"], capture_output=True, text=True, check=True).stdout.split()) < 2:
        pytest.skip("this `hostpathplugin` was built without a version, and no Nomad takes it")
    client = agent.client
    run(client, JOB.format(command=COMMAND, state=state, data_dir=agent.folder))
    until(lambda: is_healthy(client), WAIT_S, "the job of before is healthy")
    kind, context = volume_resource.CreatedVolumeResource(), resource.Context(connect=lambda: client)
    mode = {"accessMode": "single-node-writer", "attachmentMode": "file-system"}
    given = {"volumeId": "data", "pluginId": "hostpath0", "capacityMinBytes": 2**20, "capabilities": [mode]}
    inputs, failures = kind.check(given)
    assert failures == ()
    identity, outputs = kind.create(context, inputs)
    run(client, CONSUMER.format())
    yield until(lambda: writer_of(client), WAIT_S, "the writer runs")
    stop_writer(client, until)
    kind.delete(context, identity, outputs)
    jobs.stop(client, "default", OWN_ID, purge=False)


def run(client, source):
    """Run a job."""
    jobs.register(client, jobs.parse(client, source), source=source, enforce_index=None)


def stop_writer(client, until):
    """Stop the writer, and wait until its volume is free."""
    jobs.stop(client, "default", "writer", purge=False)
    until(lambda: not volumes.get(client, "default", "data").claims, WAIT_S, "the volume is free")


def is_healthy(client, plugin_id="hostpath0"):
    """Return whether the plugin is, in both parts."""
    found = plugins.get(client, plugin_id)
    return found is not None and all(
        part and all(item.healthy for item in part) for part in (found.nodes, found.controllers)
    )


def writer_of(client):
    """Return the writer's allocation, once it runs."""
    return next(
        (item for item in jobs.allocations(client, "default", "writer") if item.client_status == "running"), None
    )


@pytest.fixture
def ready(stack, world, tmp_path):
    """The ready stack: ``ready.write(plugin)`` writes its spec, of one plugin."""
    folder = tmp_path / "ready"
    folder.mkdir()
    (folder / "Pulumi.yaml").write_text("name: nomad-csi\nruntime: python\n")
    (folder / "__main__.py").write_text(PROGRAM)
    made = stack(folder, PATH=world.environment["PATH"])
    made.command("plugin", "install")
    config = folder / "Pulumi.dev.yaml"
    settings = yaml.safe_load(config.read_text())

    def write(plugin):
        settings["config"] = {"nomad-csi:storage": {"plugins": [plugin]}}
        config.write_text(yaml.safe_dump(settings))

    made.write = write
    return made


def command(line, capsys):
    """Run a command; return exit code and output."""
    code = cli.main(shlex.split(line)[1:])
    return code, capsys.readouterr().out


def ends_and_starts(client, job_id=OWN_ID):
    """
    Return when each allocation of the job started and ended, in the order of their starts; ``None``: it runs.

    Its process ended with ``Terminated``. ``Killed`` comes after that.
    """
    times = []
    for item in jobs.allocations(client, "default", job_id):
        started = min(event.time_ns for event in item.task_events if event.type == "Started")
        ended = max((event.time_ns for event in item.task_events if event.type == "Terminated"), default=None)
        times.append((started, ended))
    return sorted(times)


def test_job_is_taken_over_without_a_second_instance_and_without_losing_a_claim(
    agent, in_use, ready, until, state, tmp_path, capsys
):
    """Beside it nothing starts; under its id it is updated in place; a destroy waits for the volume, then purges it."""
    client, spec = agent.client, tmp_path / "storage.yaml"
    code, text = command("nomad-csi import --cluster --plugin hostpath0", capsys)
    [plugin] = yaml.safe_load(text)["plugins"]
    assert (code, plugin["job_ids"], "monolith" in plugin) == (0, {"monolith": OWN_ID}, False)
    spec.write_text(text)
    code, text = command(f"nomad-csi plan {spec} --json", capsys)
    planned = {item["name"]: item["state"] for item in yaml.safe_load(text)["items"]}
    assert (code, planned) == (1, {f"default/{OWN_ID}": "changes", "default/data": "equal"})

    ready.write({key: value for key, value in plugin.items() if key != "job_ids"} | {"adopt": True})
    for operation in (("preview",), UP):
        assert re.search(f"job-conflict: .* take it over .job_ids: .monolith: {OWN_ID}", ready.run(*operation, code=1))
    assert jobs.get(client, "default", USUAL_ID) is None

    ready.write(plugin | {"adopt": True, "verify": {"evidence": "csi", "timeout_s": 120, "stable_s": 1}})
    told = ready.run(*UP)

    assert "plugin hostpath0: verified by CSI probes on 1 client" in told
    [(_, ended), (started, still)] = ends_and_starts(client)
    assert ended <= started
    assert still is None
    assert writer_of(client).alloc_id == in_use.alloc_id
    assert [item.alloc_id for item in volumes.get(client, "default", "data").claims] == [in_use.alloc_id]
    [log] = state.glob("*/log")
    size = log.stat().st_size
    until(lambda: log.stat().st_size > size, WAIT_S, "the writer writes on")

    assert "volumes of its plugin are claimed" in ready.run(*DESTROY, code=1)
    assert is_healthy(client)
    stop_writer(client, until)
    ready.run(*DESTROY)
    assert jobs.get(client, "default", OWN_ID) is None
