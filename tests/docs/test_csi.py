"""The commands of docs/reference/csi.md work as written, on a plugin under an emulator agent, and it names every status."""

import os
import re
import shlex
import shutil
import sys
import tempfile
import time
import typing
from pathlib import Path

import pytest

from nomad_csi import cli, nomad
from nomad_csi.csi import records
from nomad_csi.health import probed
from nomad_csi.nomad import jobs, plugins
from nomad_csi_sandbox.nomad import cluster
from nomad_csi_sandbox.nomad import server as agent
from nomad_csi_sandbox.nomad.clients import nodes
from nomad_csi_sandbox.nomad.storage import csi_supervisor
from tests.docs import page

ROOT = Path(__file__).parents[2]
PAGE = page.read("reference/csi.md")
COMMANDS = page.commands(PAGE)
WAIT_S = 120.0
PLUGIN = """job "plugin" {
  type = "system"
  group "g" {
    task "t" {
      driver = "raw_exec"
      csi_plugin {
        id   = "hostpath"
        type = "monolith"
      }
      config {
        command = "nomad-csi-sandbox-csi-plugin"
        args    = ["--driver", "csi-hostpath", "--nodeid=client-1", "--statedir=STATE", "--endpoint=${CSI_ENDPOINT}"]
      }
    }
  }
}
"""


@pytest.fixture(scope="module")
def folder():
    """A folder with a path short enough for sockets."""
    path = Path(tempfile.mkdtemp(prefix="nc"))
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="module")
def serving(folder):
    """An emulator agent that runs the plugin; return its address and the plugin's allocation."""
    specs = [nodes.NodeSpec(name="client-1", zone="us-east-1a", instance_id="i-1")]
    path = f"{Path(sys.executable).parent}{os.pathsep}/usr/bin:/bin"
    settings = cluster.Settings(
        data_dir=folder, nodes=specs, environment={"PATH": path}, pace=csi_supervisor.Pace(start_s=0.1, watch_s=0.5)
    )
    server = agent.Server(cluster.Cluster(settings))
    try:
        with nomad.Nomad(nomad.Connection(address=server.url)) as client:
            source = PLUGIN.replace("STATE", str(folder / "state"))
            jobs.register(client, jobs.parse(client, source), source=source, enforce_index=None)
            yield server.url, _healthy(client)
    finally:
        server.close()


def _healthy(client):
    deadline = time.monotonic() + WAIT_S
    while not ((found := plugins.get(client, "hostpath")) and found.nodes and found.nodes[0].healthy):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found.nodes[0].alloc_id


@pytest.fixture
def here(serving, folder, monkeypatch):
    """Put the plugin where the page has it; return a command of the page in its words for this machine."""
    address, alloc_id = serving
    monkeypatch.setenv("NOMAD_ADDR", address)
    program = folder / "bin" / "ssh"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{ROOT}/tests/csi/fake_ssh.py" "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("SSH_FAKE_LOG", str(folder / "ssh.log"))

    def words(line):
        moved = line.replace("/var/lib/nomad/client", str(folder / "client")).replace("ALLOCATION", alloc_id)
        return shlex.split(moved)

    return words


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_run_as_written(line, here, capsys):
    """All of them end well on a healthy plugin."""
    program, *words = here(line)

    assert program == "nomad-csi"
    assert cli.main(words) == 0, capsys.readouterr()


def test_every_status_is_explained():
    """Of a probe, and of the clients."""
    told = set(re.findall(r"`([a-z-]+)`", PAGE))

    assert {*typing.get_args(records.Status), probed.NO_ANSWER} <= told
