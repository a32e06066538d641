"""The real agent of a sandbox, while another user of the machine tries every port of it from before it starts."""

import gc
import json
import os
import shutil
import threading
import time

import pytest

from nomad_csi import nomad
from nomad_csi_sandbox.session import agent, folder
from tests import intruder
from tests.contract import agents

pytestmark = [
    pytest.mark.real_nomad,
    pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning"),  # that of the agent itself
]

ROUNDS = 3
AFTER_S = 2.0
"""How long it is tried on when it is ready."""


@pytest.fixture
def place(tmp_path):
    if why := agents.obstacle():
        pytest.skip(why)
    made = folder.Folder(tmp_path)
    made.make()
    made.make_token()
    return made


@pytest.fixture
def data_dir(place):
    made = agents.short_folder()
    folder.claim_data_dir(made, place.project)
    yield made
    agent.clear(made)
    shutil.rmtree(made)


def ports(place, ended):
    """Return the ports that the agent of *place* will have, as soon as they are chosen: before it is started."""
    config = place.path / "run" / "nomad-agent.json"
    while not config.exists() and not ended.is_set():
        time.sleep(0.001)
    return json.loads(config.read_text())["ports"]


@pytest.mark.parametrize("_", range(ROUNDS))
def test_other_users_get_nothing(place, data_dir, _):
    """Neither over HTTP, RPC nor serf, with and without TLS: no token, no word of its jobs, its leader or its members."""
    ended, told = threading.Event(), {}
    with intruder.running() as other:

        def watch():
            told.update(ports(place, ended))
            other.attack(*told.values())

        watcher = threading.Thread(target=watch)
        watcher.start()
        started = agent.start(place, data_dir, ("us-east-1a", "i-0"), {"PATH": os.environ["PATH"], "HOME": "/tmp"})
        gc.collect()  # the agent outlives the object that started it, which is a warning in another test
        try:
            time.sleep(AFTER_S)
            with nomad.Nomad(agent.connect(place, started.port)) as client:
                tokens = client.request("GET", "/v1/acl/tokens").data
            found = other.end()
        finally:
            ended.set()
            watcher.join()
            agent.stop(started, place)

    assert {key: got for key, (_, got) in found.items() if got} == {}
    assert min(connections for connections, _ in found.values()) > 0
    assert {port for port, _ in found} == set(told.values())
    assert [token["Type"] for token in tokens] == ["management"]


def test_intruder_gets_it_all_of_an_open_agent():
    """Given an agent whose ports are open, as ``nomad agent -dev`` leaves them: what is tried above does come through."""
    if why := agents.obstacle():
        pytest.skip(why)
    environment = agents.task_environment("http://127.0.0.1:9", "i-0")
    with intruder.running() as other, agents.started(agents.Real, environment, with_acl=True) as opened:
        told = json.loads((opened.data_dir.parent / "agent.json").read_text())["ports"]
        other.attack(*told.values())
        time.sleep(AFTER_S)
        found = other.end()

    got = {(name, way): found[port, way][1] for name, port in told.items() for way in intruder.WAYS}
    assert "GET /v1/jobs" in got["http", "http"]  # with the token that it gave the agent, over HTTP or RPC
    assert {"ACL.Bootstrap", "Status.Leader"} <= set(got["rpc", "rpc"])
    assert got["serf", "serf"] == ["members in a message of kind 9"]
