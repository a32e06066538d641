"""``acl-policy``: what it prints is enough for each command. That all of it is needed: `test_acl_rights`."""

import threading
import time

import pytest

from nomad_csi import nomad
from nomad_csi.nomad import acl_policy, events
from tests import deadlines
from tests.contract.acl_world import REFUSED, RUNS, said, stack_run, without


@pytest.mark.parametrize("missing", ["", "read-job", "csi-read-volume", "node", "*"])
def test_event_stream_needs_what_its_policy_has(acl_world, missing):
    """In every namespace. Without any right of it there is none, and the reason is printed."""
    acl_world.call("PUT", "/v1/namespace", {"Name": "other"})
    policy = acl_policy.least_policy(["verify --watch"], jobs={"default"}, volumes={"default"})
    lines, is_said = [], threading.Event()

    def tell(line):
        lines.append(line)
        is_said.set()

    topics = ["CSIPlugin:hp", "Allocation:holder", "CSIVolume:free", "Node"]
    missing = missing or ("" if acl_world.agent.has("storage-events") else "*")
    connection = nomad.Connection(address=acl_world.agent.url, token=acl_world.token(without(policy, missing)))
    with nomad.Nomad(connection) as client, events.Events(client, lambda: topics, tell) as stream:
        if missing:
            assert is_said.wait(deadlines.PATIENT_S)
            assert (
                'the token needs read-job and csi-read-volume in every namespace, and node { policy = "read" }'
                in lines[0]
            )
            return
        deadline = time.monotonic() + deadlines.PATIENT_S
        while not stream.wait(0.5) and not lines:
            acl_world.register_new("free")
            assert time.monotonic() < deadline
        assert lines == []


@pytest.mark.parametrize("operation", ["up", "preview", "refresh", "destroy"])
def test_policy_is_enough_for_pulumi(acl_world, operation):
    """Nothing is refused."""
    policy = acl_policy.least_policy([operation], jobs={"default"}, volumes={"default"})

    printed = stack_run(acl_world, operation, policy)

    assert not REFUSED.search(printed), printed


@pytest.mark.parametrize("command", RUNS)
def test_policy_is_enough(acl_world, command):
    """Nothing is refused, and the exit code is that of a token that may do everything."""
    policy = acl_policy.least_policy([command], jobs={"default"}, volumes={"default"})
    prepare = RUNS[command]

    by_root = acl_world.run(prepare(acl_world))
    done = acl_world.run(prepare(acl_world), acl_world.token(policy))

    assert not REFUSED.search(said(done)), said(done)
    assert done[0] == by_root[0], (done, by_root)
