"""Clients that are drained while a CSI volume is in use on them: who leaves first, and what becomes of the claim."""

import pytest

from tests.contract import agents

SOCKET = "--endpoint=${CSI_ENDPOINT}"
NS_IN_S = 1_000_000_000
SLOW = ["-c", "trap 'sleep 3; exit 0' INT; while :; do sleep 0.1; done"]
"""A shell that needs three seconds to end."""


LONE = {"AccessMode": "single-node-writer", "AttachmentMode": "file-system"}


@pytest.fixture(scope="module", params=["emulator", pytest.param("real", marks=pytest.mark.real_nomad)])
def drained(request, moto_url, plugin_writer, volume_writer):
    """One side of the contract, with a plugin of node instances and a volume."""
    if request.param == "real" and (why := agents.obstacle()):
        pytest.skip(why)
    kind = agents.Real if request.param == "real" else agents.Emulator
    with agents.started(kind, agents.task_environment(moto_url, "i-0")) as made:
        yield _prepared(made, plugin_writer, volume_writer)


def _prepared(agent, plugin_writer, volume_writer):
    agent.run(plugin_writer(agent, "plugin-efs", "efs", "node", ["--driver", "aws-efs", SOCKET], kind="system"))
    _until_healthy(agent)
    agent.register(volume_writer("data"))
    return agent


@pytest.fixture
def agent(drained, consumer_writer, fresh):
    """The same with the volume in use; afterwards the client takes allocations again."""
    made = drained
    made.user = fresh("user")
    made.run(consumer_writer(made.user, "data", kill_timeout="30s", command="/bin/sh", args=SLOW))
    made.until_status(made.user, "running")
    yield made
    made.call("DELETE", f"/v1/job/{made.user}?purge=true")
    _drain(made, None)
    _until_healthy(made)
    made.until(lambda: _claims(made), lambda found: not found)


def _until_healthy(agent):
    agent.until(lambda: agent.get("/v1/plugins?type=csi"), lambda found: found and found[0]["NodesHealthy"] == 1)


def _drain(agent, spec):
    [node] = agent.get("/v1/nodes")
    status, text, _ = agent.call("POST", f"/v1/node/{node['ID']}/drain", {"DrainSpec": spec, "MarkEligible": not spec})
    assert status == 200, text


def _newest(agent, job_id):
    """Return desired and client status of the job's last allocation."""
    found = max(agent.get(f"/v1/job/{job_id}/allocations"), key=lambda item: item["CreateIndex"])
    return found["DesiredStatus"], found["ClientStatus"]


def _claims(agent):
    """Return the client status of each allocation that claims the volume."""
    return [item["ClientStatus"] for item in agent.get("/v1/volume/csi/data")["Allocations"]]


def _state(agent):
    [node] = agent.get("/v1/nodes")
    return {
        "drains": node["Drain"],
        "eligibility": node["SchedulingEligibility"],
        "user": _newest(agent, agent.user),
        "plugin": _newest(agent, "plugin-efs"),
        "claims": _claims(agent),
    }


def test_plugin_leaves_after_what_uses_its_volumes(agent):
    """The claim is released while the plugin still runs, and only then the plugin is stopped."""
    _drain(agent, {"Deadline": 600 * NS_IN_S, "IgnoreSystemJobs": False})

    leaving = agent.until(lambda: _state(agent), lambda found: found["user"][0] == "stop")
    last = agent.until(lambda: _state(agent), lambda found: found["plugin"] == ("stop", "complete"))

    assert (leaving["drains"], leaving["eligibility"]) == (True, "ineligible")
    assert (leaving["plugin"], leaving["claims"]) == (("run", "running"), ["running"])
    assert (last["user"], last["claims"]) == (("stop", "complete"), [])
    agent.until(lambda: _state(agent)["drains"], lambda found: not found)
    assert agent.get("/v1/nodes")[0]["SchedulingEligibility"] == "ineligible"


@pytest.mark.parametrize("deadline_ns", [NS_IN_S, -1])
def test_deadline_before_the_consumer_has_ended_takes_the_plugin_first(agent, deadline_ns):
    """The plugin is gone while its volume is in use; the drain counts as complete. Without a controller the claim goes."""
    _drain(agent, {"Deadline": deadline_ns, "IgnoreSystemJobs": False})

    early = agent.until(lambda: _state(agent), lambda found: found["plugin"] == ("stop", "complete"))
    ended = agent.until(lambda: _state(agent), lambda found: found["user"] == ("stop", "complete"))

    assert (early["user"], early["claims"], early["drains"]) == (("stop", "running"), ["running"], False)
    assert ended["claims"] == []


@pytest.fixture
def made(agent, plugin_writer, consumer_writer):
    """A volume that a plugin with a controller made, in use: the job that uses it."""
    words = ["--driver", "csi-hostpath", f"--statedir={agent.data_dir}/made", "--nodeid=n1", SOCKET]
    agent.run(plugin_writer(agent, "plugin-local", "local", "monolith", words, kind="system"))
    agent.until(lambda: agent.call("GET", "/v1/plugin/csi/local")[1], lambda found: found["NodesHealthy"] == 1)
    body = {"ID": "made", "Name": "made", "PluginID": "local", "RequestedCapabilities": [LONE], "MountOptions": {}}
    status, text, _ = agent.call("PUT", "/v1/volume/csi/made/create", {"Volumes": [body]})
    assert status == 200, text
    source = consumer_writer("maker", "made", mode=LONE["AccessMode"], kill_timeout="30s", command="/bin/sh", args=SLOW)
    agent.run(source)
    agent.until_status("maker", "running")
    yield "maker"
    agent.call("DELETE", "/v1/job/maker?purge=true")
    agent.until(lambda: _holders(agent), lambda found: not found)
    agent.call("DELETE", "/v1/volume/csi/made")
    agent.call("DELETE", "/v1/job/plugin-local?purge=true")


def _holders(agent):
    """Return the client status of each allocation that claims the volume which was made."""
    return [item["ClientStatus"] for item in agent.get("/v1/volume/csi/made")["Allocations"]]


def test_claim_stays_where_a_plugin_with_a_controller_is_gone_and_goes_when_it_is_back(agent, made):
    """Nobody is left to detach; the client tries again once the plugin is there, without garbage collection."""
    _drain(agent, {"Deadline": NS_IN_S, "IgnoreSystemJobs": False})
    agent.until(lambda: _newest(agent, "plugin-local"), lambda found: found == ("stop", "complete"))
    agent.until(lambda: _newest(agent, made), lambda found: found == ("stop", "complete"))
    agent.until(lambda: _claims(agent), lambda found: not found)
    left = _holders(agent)
    agent.call("DELETE", f"/v1/job/{made}")

    _drain(agent, None)

    assert left == ["complete"]
    agent.until(lambda: _holders(agent), lambda found: not found)
