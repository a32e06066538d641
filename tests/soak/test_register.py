"""`nomad-csi apply` of files killed again and again: what is in stays, the next run sends the rest, nothing is there twice."""

import collections
import contextlib
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nomad_csi import cli, nomad
from nomad_csi.nomad import volumes
from tests.contract import agents

SLOW = str(Path(__file__).parents[2] / "benchmarks/slow_plugin.py")
VALIDATION_S = 0.02
MIDWAY = 0.75
"""The share of the kills that come while it writes; the others come at any time."""

NAMESPACES = ("default", "one", "two", "three")
JOB = """job "plugin-{plugin_id}" {{
  type = "system"
  group "g" {{
    task "t" {{
      driver = "raw_exec"
      csi_plugin {{
        id                     = "{plugin_id}"
        type                   = "{role}"
        health_timeout         = "1h"
        stage_publish_base_dir = "{data_dir}/client/csi/{role}/{plugin_id}"
      }}
      config {{
        command = {command}
        args    = {args}
      }}
    }}
  }}
}}
"""
VOLUME = """type = "csi"
id = "{volume_id}"
namespace = "{namespace}"
external_id = "storage-of-{namespace}-{volume_id}"
plugin_id = "{plugin_id}"

capability {{
  access_mode = "single-node-writer"
  attachment_mode = "file-system"
}}
"""


@pytest.fixture
def agent():
    """An agent with a plugin whose controller is asked for each volume, and one without; real where there is one."""
    kind = agents.Emulator if agents.obstacle() else agents.Real
    with agents.started(kind, agents.task_environment("http://127.0.0.1:9", "i-0")) as made:
        for plugin_id, role, words in (
            ("asked", "monolith", [sys.executable, SLOW, "${CSI_ENDPOINT}", str(VALIDATION_S)]),
            ("silent", "node", ["sleep", "86400"]),
        ):
            command, args = json.dumps(words[0]), json.dumps(words[1:])
            made.run(JOB.format(plugin_id=plugin_id, role=role, data_dir=made.data_dir, command=command, args=args))
        made.until(lambda: made.get("/v1/plugin/csi/asked"), lambda found: found["ControllersHealthy"])
        for namespace in NAMESPACES[1:]:
            made.call("PUT", "/v1/namespace", {"Name": namespace})
        yield made


@pytest.fixture
def wanted(tmp_path, number):
    """Write volumes; return the folder of their files and the external ids by namespace and id."""
    folder = tmp_path / "volumes"
    folder.mkdir()
    found = {}
    for index in range(number("SOAK_VOLUMES", 20)):
        namespace, plugin_id = NAMESPACES[index % len(NAMESPACES)], ("asked", "silent")[index // 4 % 2]
        volume_id = f"v{index}"
        text = VOLUME.format(volume_id=volume_id, namespace=namespace, plugin_id=plugin_id)
        (folder / f"{volume_id}.volume.hcl").write_text(text)
        found[namespace, volume_id] = f"storage-of-{namespace}-{volume_id}"
    return folder, found


class Killed:
    """Runs of the command against one agent."""

    def __init__(self, agent, folder):
        self.agent = agent
        self.folder = folder
        self.client = nomad.Nomad(nomad.Connection(address=agent.url))
        self.command = [sys.executable, "-m", "nomad_csi", "apply", str(folder), "--yes", "--address", agent.url]

    def whole(self):
        """Run the command to its end; return its length in seconds, and how long before that the first volume came."""
        began = time.monotonic()
        with self._running() as running:
            first = self._first_volume(running)
            assert running.wait(120) == 0
        ended = time.monotonic()
        return ended - began, ended - first

    def kill(self, seconds, *, after_the_first):
        """Run the command and kill it after *seconds*, or so long after the first volume; return whether it still ran."""
        with self._running() as running:
            if after_the_first:
                self._first_volume(running)
            with contextlib.suppress(subprocess.TimeoutExpired):
                running.wait(seconds)
            running.kill()
        return running.returncode == -signal.SIGKILL

    def _running(self):
        return subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def _first_volume(self, running):
        while running.poll() is None and not self.agent.get("/v1/volumes?type=csi&namespace=*"):
            time.sleep(0.002)
        return time.monotonic()

    def finish(self, capsys):
        """Run the command to its end in this process; return its exit code, and how many volumes had which outcome."""
        code = cli.main(["apply", str(self.folder), "--yes", "--address", self.agent.url, "--json"])
        shown = json.loads(capsys.readouterr().out)["volumes"]
        return code, collections.Counter(item["status"] for item in shown)

    def held(self):
        """Return the external id and the index of the first registration of each volume, by namespace and id."""
        listed = self.agent.get("/v1/volumes?type=csi&namespace=*")
        found = {(item["Namespace"], item["ID"]): (item["ExternalID"], item["CreateIndex"]) for item in listed}
        assert len(found) == len(listed)
        return found

    def forget(self):
        """Deregister all."""
        for namespace, volume_id in self.held():
            volumes.deregister(self.client, namespace, volume_id)

    def index(self):
        """Return Nomad's index of the last change of any volume."""
        return self.agent.call("GET", "/v1/volumes?type=csi&namespace=*")[2]["X-Nomad-Index"]


@pytest.mark.timeout(7200)
def test_killed_register_is_finished_by_the_next_run(agent, wanted, number, chance, tell, capsys):
    """After each kill: nothing wrong is held, the next run sends what is missing and no more, and the one after it nothing."""
    folder, expected = wanted
    runs = Killed(agent, folder)
    whole_s, writing_s = runs.whole()
    assert {key: value[0] for key, value in runs.held().items()} == expected
    counts = collections.Counter()

    kills = number("SOAK_KILLS", 4)
    for _ in range(kills):
        runs.forget()
        midway = chance.random() < MIDWAY
        span_s = writing_s if midway else whole_s
        counts["killed"] += runs.kill(chance.uniform(0, span_s), after_the_first=midway)
        before = runs.held()
        counts["nothing in" if not before else "all in" if len(before) == len(expected) else "part in"] += 1
        code, outcomes = runs.finish(capsys)
        after = runs.held()
        index = runs.index()

        assert code == 0
        assert {key: value[0] for key, value in after.items()} == expected
        assert {key: after[key] for key in before} == before
        assert outcomes["unchanged"] >= len(before)  # what was under way when it was killed may have arrived since
        assert outcomes["unchanged"] + outcomes["registered"] == len(expected)
        assert runs.finish(capsys) == (0, {"unchanged": len(expected)})
        assert runs.index() == index

    runs.client.close()
    tell(
        f"register on a {agent.kind} agent, {len(expected)} volumes, {whole_s:.1f} s a run: {kills} runs, "
        f"{counts['killed']} killed before their end ({counts['nothing in']} with nothing in, {counts['part in']} with a part, "
        f"{counts['all in']} with all); every next run converged, none twice, none lost"
    )
    assert counts["killed"]
