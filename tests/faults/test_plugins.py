"""Plugins that come and go, and controllers that hang, on an emulator agent that runs an emulator of csi-hostpath."""

import contextlib
import json
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from nomad_csi import nomad
from nomad_csi.nomad import jobs as nomad_jobs
from nomad_csi.nomad import volumes
from nomad_csi.plan import registration
from nomad_csi_sandbox.csi_plugin.server import FAULT_FILE
from nomad_csi_sandbox.nomad.storage import csi_client

JOB = """job "plugin-hostpath0" {{
  type = "system"
  group "g" {{
    task "plugin" {{
      driver       = "raw_exec"
      kill_timeout = "200ms"
      csi_plugin {{
        id                     = "hostpath0"
        type                   = "monolith"
        stage_publish_base_dir = "{data_dir}/client/csi/monolith/hostpath0"
      }}
      config {{
        command = "nomad-csi-sandbox-csi-plugin"
        args    = ["--driver", "csi-hostpath", "--endpoint=${{CSI_ENDPOINT}}", "--nodeid=client-1"]
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


@dataclass
class Hostpath:
    """The plugin, as a test disturbs it."""

    agent: object
    faults: Path
    client: nomad.Nomad

    def order(self, **faults):
        """Order a fault of its Probe."""
        made = self.faults.with_suffix(".new")
        made.write_text(json.dumps(faults))
        made.replace(self.faults)

    def until(self, look):
        """Wait until *look* is true of the plugin as Nomad has it."""
        assert self.agent.state.wait_for(lambda: look(self.agent.state.plugins["hostpath0"]), 120)

    def until_healthy(self, healthy):
        """Wait until Nomad says so of its controller."""
        self.until(lambda record: [each["Healthy"] for each in record.controllers.values()] == [healthy])

    @property
    def socket(self):
        """Where the agent finds it."""
        [path] = self.agent.state.plugins["hostpath0"].sockets.values()
        return path

    @property
    def pid(self):
        """The process of the plugin, which this one's agent started."""
        mark = f"--endpoint=unix://{self.agent.settings.data_dir}/".encode()
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if mark in process.joinpath("cmdline").read_bytes():
                    found.append(int(process.name))
        [pid] = found
        return pid


@pytest.fixture
def hostpath(make_agent, tmp_path):
    """The plugin, healthy."""
    faults = tmp_path / "faults.json"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    made = make_agent(environment={"PATH": path, FAULT_FILE: str(faults)})
    with nomad.Nomad(nomad.Connection(address=made.url)) as client:
        source = JOB.format(data_dir=made.settings.data_dir)
        nomad_jobs.register(client, nomad_jobs.parse(client, source), source=source, enforce_index=None)
        found = Hostpath(made, faults, client)
        assert made.state.wait_for(lambda: "hostpath0" in made.state.plugins, 120)
        found.until_healthy(True)
        yield found


@pytest.fixture
def volume_file(hostpath, tmp_path):
    """A file of a volume whose storage the plugin has, and which is not registered yet."""
    mode = registration.Capability(access_mode="single-node-writer", attachment_mode="file-system")
    document = registration.VolumeRegistration(
        volume_id="made", namespace="default", name="made", plugin_id="hostpath0", capabilities=(mode,)
    )
    external_id = volumes.create(hostpath.client, document).volume.external_id
    volumes.deregister(hostpath.client, "default", "made")  # by two ids it would be refused
    path = tmp_path / "again.volume.hcl"
    path.write_text(VOLUME.format(volume_id="again", external_id=external_id))
    return str(path)


def test_frozen_controller_is_told_after_its_time_and_nothing_is_registered(
    register, hostpath, volume_file, monkeypatch
):
    """Nomad gives it two minutes, here a fifth of a second; when it goes on, so does the next run."""
    monkeypatch.setattr(csi_client, "CONTROLLER_TIMEOUT_S", 0.2)
    pid = hostpath.pid
    os.kill(pid, signal.SIGSTOP)
    try:
        done = register(hostpath.agent.url, volume_file)
    finally:
        os.kill(pid, signal.SIGCONT)

    told = (
        "PUT /v1/volume/csi/again: status 500: controller validate volume: CSI.ControllerValidateVolume: timeout while "
        "connecting to gRPC socket: failed to create gRPC connection: failed to open grpc connection to addr: "
        f"{hostpath.socket}, err: context deadline exceeded; the plugin's controller does not answer: see "
        "`nomad-csi verify`, and `nomad alloc logs -stderr` of its allocation"
    )
    assert (done.code, done.outcomes) == (2, {"default/again": ("failed", told)})
    assert done.said.splitlines()[0] == f"{told}; trying again in 0.01 s (attempt 2 of 5)"
    assert len(done.said.splitlines()) == 4
    assert ("default", "again") not in hostpath.agent.state.volumes
    hostpath.until_healthy(True)
    assert register(hostpath.agent.url, volume_file).statuses == {"registered"}
    assert register(hostpath.agent.url, volume_file).statuses == {"unchanged"}


def test_unhealthy_controller_is_told_and_waited_for(register, hostpath, volume_file):
    """At once, with where to look; when it is healthy again, the next run goes on."""
    hostpath.order(probe="error")
    hostpath.until_healthy(False)

    done = register(hostpath.agent.url, volume_file)

    told = (
        "PUT /v1/volume/csi/again: status 500: no healthy controllers for CSI plugin: hostpath0; check the plugin's "
        "job: its controller is not healthy"
    )
    assert (done.code, done.outcomes) == (2, {"default/again": ("failed", told)})
    assert len(done.said.splitlines()) == 4
    assert ("default", "again") not in hostpath.agent.state.volumes
    hostpath.order()
    hostpath.until_healthy(True)
    assert register(hostpath.agent.url, volume_file).statuses == {"registered"}
