"""A controller that is stopped while Nomad asks it: a real agent, the hostpath driver of Kubernetes CSI, and minutes of waiting."""

import contextlib
import json
import os
import shutil
import signal
import threading
import time
from pathlib import Path

import pytest

from nomad_csi import cli, nomad
from nomad_csi.nomad import volume_creation, volumes
from nomad_csi.plan import registration
from tests.contract import agents

CONTROLLER_S = 120.0
"""How long Nomad waits for a controller. Source: hashicorp/nomad, ``CSIPluginRequestTimeout`` in ``client/csi_endpoint.go``."""

pytestmark = pytest.mark.real_nomad

PLUGIN = """job "plugin-hostpath0" {{
  type = "system"
  group "g" {{
    task "plugin" {{
      driver       = "raw_exec"
      kill_timeout = "200ms"
      csi_plugin {{
        id                     = "hostpath0"
        type                   = "monolith"
        stage_publish_base_dir = "{folder}/stage"
      }}
      config {{
        command = "{command}"
        args    = ["--endpoint=${{CSI_ENDPOINT}}", "--nodeid=one", "--statedir={folder}/storage"]
      }}
    }}
  }}
}}
"""
VOLUME = """type = "csi"
id = "{volume_id}"
external_id = "{external_id}"
plugin_id = "hostpath0"

capability {{
  access_mode = "single-node-writer"
  attachment_mode = "file-system"
}}
"""
MODE = registration.Capability(access_mode="single-node-writer", attachment_mode="file-system")


class Hostpath:
    """The driver on an agent, and the command that registers what it has."""

    def __init__(self, agent, capsys):
        self.agent = agent
        self._capsys = capsys

    def controller(self):
        """Return health and description of its controller, as Nomad has them."""
        [found] = self.agent.get("/v1/plugin/csi/hostpath0")["Controllers"].values()
        return found["Healthy"], found["HealthDescription"]

    def socket(self):
        """Return where Nomad finds it."""
        [found] = self.agent.get("/v1/plugin/csi/hostpath0")["Controllers"].values()
        return f"{self.agent.data_dir}/client/csi/plugins/{found['AllocID']}/csi.sock"

    def held(self):
        """Return the ids of all volumes of Nomad."""
        return {item["ID"] for item in self.agent.get("/v1/volumes?type=csi&namespace=*")}

    def volume_files(self, folder, count):
        """Write files of volumes whose storage the driver has, and which are not registered yet."""
        folder.mkdir()
        with nomad.Nomad(nomad.Connection(address=self.agent.url)) as client:
            for number in range(count):
                wanted = registration.VolumeRegistration(
                    volume_id=f"made-{number}",
                    namespace="default",
                    name=f"made-{number}",
                    plugin_id="hostpath0",
                    capabilities=(MODE,),
                )
                external_id = volume_creation.create(client, wanted).volume.external_id
                volumes.deregister(client, "default", wanted.volume_id)  # a second id for one storage is refused
                text = VOLUME.format(volume_id=f"v{number}", external_id=external_id)
                (folder / f"v{number}.volume.hcl").write_text(text)
        return str(folder)

    def register(self, path):
        """Run the command; return exit code, seconds, outcomes by id, and what it said beside them."""
        began = time.monotonic()
        code = cli.main(["apply", path, "--yes", "--address", self.agent.url, "--json"])
        seconds = time.monotonic() - began
        out, err = self._capsys.readouterr()
        outcomes = {item["volume_id"]: (item["status"], item["reason"]) for item in json.loads(out)["volumes"]}
        return code, seconds, outcomes, err.splitlines()

    @contextlib.contextmanager
    def stopped(self):
        """Stop its process for as long as the block runs."""
        pid = self._pid()
        os.kill(pid, signal.SIGSTOP)
        try:
            yield lambda: os.kill(pid, signal.SIGCONT)
        finally:
            os.kill(pid, signal.SIGCONT)

    def _pid(self):
        mark = f"--statedir={self.agent.data_dir}/storage".encode()
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                words = process.joinpath("cmdline").read_bytes().split(b"\0")
                if mark in words and b"executor" not in words:
                    found.append(int(process.name))
        [pid] = found
        return pid


@pytest.fixture
def hostpath(capsys):
    """The driver, healthy."""
    command = shutil.which("hostpathplugin")
    if why := agents.obstacle() or ("" if command else "no `hostpathplugin` on PATH"):
        pytest.skip(why)
    with agents.started(agents.Real, agents.task_environment("http://127.0.0.1:9", "i-0")) as agent:
        agent.run(PLUGIN.format(folder=agent.data_dir, command=command))
        agent.until(lambda: agent.get("/v1/plugin/csi/hostpath0"), lambda found: found["ControllersHealthy"])
        yield Hostpath(agent, capsys)


def statuses(outcomes):
    """Return which outcomes there are."""
    return {status for status, _ in outcomes.values()}


def test_controller_that_goes_on_in_time_is_waited_for(hostpath, tmp_path):
    """Nomad keeps the request open for two minutes: nothing is told, and the volume goes in."""
    path = hostpath.volume_files(tmp_path / "files", 1)
    done = []
    with hostpath.stopped() as go_on:
        running = threading.Thread(target=lambda: done.append(hostpath.register(path)))
        running.start()
        running.join(3.0)
        assert running.is_alive()
        assert hostpath.held() == set()
        go_on()
        running.join()

    [(code, _, outcomes, said)] = done
    assert (code, outcomes, said) == (0, {"v0": ("registered", "")}, [])


@pytest.mark.timeout(900)
@pytest.mark.parametrize("count", [1, 5])
def test_frozen_controller_is_told_after_two_minutes_and_nothing_is_registered(hostpath, tmp_path, number, tell, count):
    """The first request waits for Nomad's own deadline; by then Nomad has noticed, and refuses the others at once."""
    if not number("SOAK_FROZEN", 0):
        pytest.skip("a part of `make soak`; tests/faults/test_plugins.py has an emulator that gives up sooner")
    path = hostpath.volume_files(tmp_path / "files", count)
    ids = [f"v{each}" for each in range(count)]
    with hostpath.stopped():
        code, seconds, outcomes, said = hostpath.register(path)
        health = hostpath.controller()
        socket = hostpath.socket()
        held = hostpath.held()
    began = time.monotonic()
    hostpath.agent.until(hostpath.controller, lambda found: found[0])
    well_s = time.monotonic() - began
    next_code, next_s, next_outcomes, next_said = hostpath.register(path)

    hung = (
        "controller validate volume: CSI.ControllerValidateVolume: timeout while connecting to gRPC socket: failed to "
        f"create gRPC connection: failed to open grpc connection to addr: {socket}, err: context deadline exceeded; the "
        "plugin's controller does not answer: see `nomad-csi verify`, and `nomad alloc logs -stderr` of its allocation"
    )
    unwell = "no healthy controllers for CSI plugin: hostpath0; check the plugin's job: its controller is not healthy"
    tries = [(hung, 1), (unwell, 2), (unwell, 4), (unwell, 8)]
    overdue = [line for line in said if line.startswith("no answer yet to the registration of ")]
    assert len(overdue) >= CONTROLLER_S // 15 - 1
    assert sorted(line for line in said if line not in overdue) == sorted(
        f"PUT /v1/volume/csi/{volume_id}: status 500: {why}; trying again in {pause_s} s (attempt {attempt} of 5)"
        for volume_id in ids
        for attempt, (why, pause_s) in enumerate(tries, start=2)
    )
    assert (code, outcomes) == (
        2,
        {volume_id: ("failed", f"PUT /v1/volume/csi/{volume_id}: status 500: {unwell}") for volume_id in ids},
    )
    assert seconds > CONTROLLER_S
    assert health == (
        False,
        "failed fingerprinting with error: rpc error: code = DeadlineExceeded desc = context deadline exceeded",
    )
    assert held == set()
    assert (next_code, next_outcomes, next_said) == (0, dict.fromkeys(ids, ("registered", "")), [])
    assert statuses(hostpath.register(path)[2]) == {"unchanged"}
    tell(
        f"frozen controller on a real agent, {count} volumes: given up after {seconds:.0f} s, nothing registered; healthy "
        f"{well_s:.0f} s after it went on, and all registered in {next_s:.2f} s"
    )
