"""Three real servers that lose their leader while volumes are registered."""

import os
import re
import shutil
import signal
import subprocess
import threading
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass

import pytest

from nomad_csi import errors, nomad
from nomad_csi.nomad import classify, jobs, volumes
from nomad_csi.plan import registration
from nomad_csi.volumes import apply_volumes as applied
from tests import volume_files
from tests.real import nomad_agents

SERVERS = 3
NAMESPACES = [f"n{number}" for number in range(12)]
EACH = 60
ELECTION_S = 60
LOST = "|".join(re.escape(sentence) for sentence, kind, _ in classify.SENTENCES if kind != "refused")
"""
What the other servers answer meanwhile; which of it depends on the moment. Seen on Nomad 2.0.6-dev: "failed to get conn",
"rpc error: EOF", "No cluster leader" and "node is not the leader".
"""

MODE = registration.Capability(access_mode="multi-node-multi-writer", attachment_mode="file-system")
PLUGIN = """job "plugin" {
  type = "system"
  group "g" {
    task "t" {
      driver = "raw_exec"
      csi_plugin {
        id   = "efs"
        type = "node"
      }
      config {
        command = "sleep"
      }
    }
  }
}
"""


@dataclass
class Server:
    """One server of the cluster."""

    address: str
    rpc: int
    process: subprocess.Popen

    def leader(self):
        """Return the RPC port of the leader as this server knows it; 0 where it knows none."""
        with nomad.Nomad(nomad.Connection(address=self.address)) as client, suppress(errors.NomadApiError):
            found = client.request("GET", "/v1/status/leader").data
            return int(found.rpartition(":")[2]) if found else 0
        return 0


@pytest.fixture
def servers(tmp_path, free_ports, until):
    """Three servers with a leader, a plugin and namespaces; those that still run are ended."""
    if not shutil.which("nomad"):
        pytest.skip("needs `nomad` on PATH")
    ports = [free_ports(3) for _ in range(SERVERS)]
    with ExitStack() as stack:
        found = [_start(stack, tmp_path / f"s{number}", number, ports) for number in range(SERVERS)]
        until(
            lambda: len({server.leader() for server in found}) == 1 and found[0].leader(),
            ELECTION_S,
            "a leader is there",
        )
        with nomad.Nomad(nomad.Connection(address=found[0].address)) as client:
            for namespace in NAMESPACES:
                client.request("PUT", "/v1/namespace", body={"Name": namespace})
            jobs.register(client, jobs.parse(client, PLUGIN), source=PLUGIN, enforce_index=None)
        yield found


def _start(stack, folder, number, ports):
    others = [serf for index, (_, _, serf) in enumerate(ports) if index != number]
    settings = nomad_agents.server(SERVERS, others)
    process = nomad_agents.start(stack, folder, f"s{number}", ports[number], server=settings)
    return Server(f"http://127.0.0.1:{ports[number][0]}", ports[number][1], process)


def wanted():
    """Return volumes of many namespaces, so that they go in many requests."""
    return [
        registration.VolumeRegistration(
            volume_id=f"v{number}",
            namespace=namespace,
            name=f"v{number}",
            external_id=f"fs-0123456789abcdef0:/{namespace}/{number}",
            plugin_id="efs",
            capabilities=(MODE,),
        )
        for namespace in NAMESPACES
        for number in range(EACH)
    ]


def held(server):
    """Return the number of volumes, and of ids, that the cluster has."""
    with nomad.Nomad(nomad.Connection(address=server.address)) as client:
        found = volumes.list_volumes(client, "*")
    return len(found), len({(item.namespace, item.volume_id) for item in found})


def statuses(outcomes):
    """Return which outcomes there are."""
    return {item.status for item in outcomes}


def kill_while(asked, killed, work):
    """Call *work*, and kill the server *killed* as soon as *asked* has the first volumes; return what *work* returns."""

    def kill():
        with nomad.Nomad(nomad.Connection(address=asked.address)) as client:
            while not client.request("GET", "/v1/volumes", query={"type": "csi", "namespace": "*", "stale": ""}).data:
                time.sleep(0.001)
        os.kill(killed.process.pid, signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        return work()
    finally:
        thread.join()


def test_lost_leader_is_waited_for(servers):
    """Another server is asked, and its leader dies: every volume is in once when the run ends, and each attempt is reported."""
    leader = next(server for server in servers if server.rpc == server.leader())
    other = next(server for server in servers if server is not leader)
    messages = []

    with nomad.Nomad(nomad.Connection(address=other.address)) as client:
        outcomes = kill_while(
            other, leader, lambda: applied.apply(client, volume_files.wanted(wanted()), report=messages.append)
        )
        again = applied.apply(client, volume_files.wanted(wanted()))

    assert statuses(outcomes) == {"registered"}
    assert messages
    expected = (
        rf"(GET|PUT) /v1/\S+: status 500: .*({LOST}).*; (trying again in .*|what was sent could not be read back)"
    )
    assert [line for line in messages if not re.fullmatch(expected, line)] == []
    assert held(other) == (len(NAMESPACES) * EACH,) * 2
    assert statuses(again) == {"unchanged"}
