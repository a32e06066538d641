"""A real agent whose connections are all taken by others of the same address."""

import socket
from contextlib import ExitStack

import pytest

from nomad_csi import errors, nomad
from nomad_csi.nomad import jobs, volumes
from nomad_csi.plan import registration
from nomad_csi.volumes import apply_volumes as applied
from tests import volume_files

MANY = 120
"""More connections than the 100 that an agent takes of one address."""

PLUGIN = """job "crowded" {
  type = "system"
  group "g" {
    task "t" {
      driver = "raw_exec"
      csi_plugin {
        id             = "crowded"
        type           = "node"
        health_timeout = "1h"
      }
      config {
        command = "sleep"
        args    = ["3600"]
      }
    }
  }
}
"""
MODE = registration.Capability(access_mode="multi-node-multi-writer", attachment_mode="file-system")
VOLUME = registration.VolumeRegistration(
    volume_id="crowded", name="crowded", external_id="fs-1", plugin_id="crowded", capabilities=(MODE,)
)


@pytest.fixture
def crowd(agent):
    """Take all connections of the agent; call it to give them back."""
    jobs.register(agent.client, jobs.parse(agent.client, PLUGIN), source=PLUGIN, enforce_index=None)
    host, port = agent.address.removeprefix("http://").split(":")
    with ExitStack() as stack:
        for _ in range(MANY):
            stack.enter_context(socket.create_connection((host, int(port))))
        yield stack.close
    volumes.deregister(agent.client, "default", "crowded")
    jobs.stop(agent.client, "default", "crowded", purge=False)  # purged, its task would outlive the agent


def test_connection_that_is_one_too_many_waits_for_the_others(agent, crowd, monkeypatch):
    """The agent answers 429, or closes; when the others are gone, the run goes on."""
    monkeypatch.setattr(applied, "WAIT_S", 0.2)
    told = []

    def tell(line):
        told.append(line)
        crowd()

    with nomad.Nomad(nomad.Connection(address=agent.address)) as client:
        [outcome] = applied.apply(client, volume_files.wanted([VOLUME]), report=tell)

    assert outcome.status == "registered"
    assert told[0] == (
        "GET /v1/volume/csi/crowded: status 429: Your IP is issuing too many concurrent connections, please rate limit "
        "your calls; use fewer connections at a time; a Nomad agent takes 100 of one address; trying again in 0.2 s "
        "(attempt 2 of 5)"
    )


@pytest.mark.usefixtures("crowd")
def test_agent_that_stays_crowded_is_told(agent, monkeypatch):
    """Nothing is sent."""
    monkeypatch.setattr(applied, "WAIT_S", 0.01)

    with nomad.Nomad(nomad.Connection(address=agent.address)) as client, pytest.raises(errors.NomadApiError) as caught:
        applied.apply(client, volume_files.wanted([VOLUME]))

    assert (caught.value.status, caught.value.kind) == (429, "retry")
