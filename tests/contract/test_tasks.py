"""Allocations and the events of their tasks: what the product explains an unhealthy plugin with."""

import pytest

from nomad_csi.health import events
from nomad_csi.nomad import jobs
from tests.contract import deviations

STARTING = [("Received", "Task received by client"), ("Task Setup", "Building Task Directory")]
STARTED = ("Started", "Task started by client")
UNRECOVERABLE = ("Not Restarting", "Error was unrecoverable")
ONE_RESTART = """
    restart {
      attempts = 1
      delay    = "200ms"
      interval = "1m"
      mode     = "fail"
    }
    reschedule {
      attempts  = 0
      unlimited = false
    }
"""
TWO = "2 errors occurred: * failed to parse config: * {}"


@pytest.fixture
def recorded():
    """Return type and message of each event, in order; without those that come of deployments."""
    return lambda allocation: [
        (event.type, " ".join(event.message.split()))
        for event in allocation.task_events
        if event.type not in deviations.ALLOCATION_EVENTS
    ]


@pytest.fixture
def until_recorded(agent, client, recorded):
    """Wait until the one allocation of a job has an event of a type, and return the allocation."""

    def wait(job_id, kind):
        found = agent.until(
            lambda: jobs.allocations(client, "default", job_id),
            lambda items: any(event[0] == kind for item in items for event in recorded(item)),
        )
        return found[0]

    return wait


def test_running_plugin_tells_its_start(client, recorded):
    """Four events; the product has nothing to explain."""
    [allocation] = jobs.allocations(client, "default", "plugin-efs")

    assert (allocation.client_status, allocation.desired_status, allocation.restarts) == ("running", "run", 0)
    assert recorded(allocation) == [*STARTING, STARTED, ("Plugin became healthy", "plugin: efs")]
    assert events.explain([allocation]) == ()


def test_plugin_that_never_answers_is_restarted(agent, until_recorded, recorded):
    """
    With the reason of its last probe; a restart that the policy does not allow counts nevertheless.

    An older release kills it, whatever the policy.
    """
    is_restarted = agent.has("restarts-mute-plugins")
    allocation = until_recorded("plugin-mute", "Not Restarting" if is_restarted else "Killed")

    socket = f"{agent.data_dir}/client/csi/plugins/{allocation.alloc_id}/csi.sock"
    stat = f"failed to stat socket: stat {socket}: no such file or directory"
    probe = f"Error: CSI plugin failed probe: timeout while connecting to gRPC socket: {stat}"
    restart = "CSI plugin did not become healthy before configured 2s health timeout"
    assert recorded(allocation) == [
        *STARTING,
        STARTED,
        ("Plugin became unhealthy", probe),
        ("Restarting" if is_restarted else "Killing", restart),
        ("Terminated", "Exit Code: 130, Signal: 2"),
        ("Not Restarting", "Policy allows no restarts") if is_restarted else ("Killed", "Task successfully killed"),
    ]
    assert allocation.restarts == int(is_restarted)
    assert str(events.explain([allocation])[0]).endswith(f"Plugin became unhealthy: {probe}")


def test_plugin_that_ends_may_be_said_to_be_unhealthy_too(agent, until_recorded, recorded):
    """
    After its end; a real agent may leave it out: see `deviations`.

    An older release says it always, and kills the plugin then, although it has ended.
    """
    may_be_silent = agent.kind == "real" and agent.has("restarts-mute-plugins")
    allocation = until_recorded("plugin-broken", "Not Restarting" if may_be_silent else "Plugin became unhealthy")

    assert (allocation.client_status, allocation.restarts) == ("failed", 0)
    events_recorded = recorded(allocation)
    assert events_recorded[:5] == [
        *STARTING,
        STARTED,
        ("Terminated", "Exit Code: 3"),
        ("Not Restarting", "Policy allows no restarts"),
    ]
    after = events_recorded[5:] if agent.has("restarts-mute-plugins") else events_recorded[5:6]
    assert [kind for kind, _ in after] in [["Plugin became unhealthy"], *([[]] if may_be_silent else [])]
    for _, message in after:
        assert message.startswith("Error: CSI plugin failed probe: timeout while connecting to gRPC socket: ")


@pytest.mark.parametrize(
    ("parts", "kind", "message"),
    [
        (
            {"command": "/nothing/here"},
            "Driver Failure",
            "failed to launch command with executor: rpc error: code = Unknown desc = "
            'binary "/nothing/here" could not be found',
        ),
        (
            {"command": "no-such-program"},
            "Driver Failure",
            "failed to launch command with executor: rpc error: code = Unknown desc = "
            'binary "no-such-program" could not be found',
        ),
        (
            {"args": ["${NOT_KNOWN}"]},
            "Failed Validation",
            TWO.format('Unknown variable: There is no variable named "NOT_KNOWN".'),
        ),
        (
            {"task": 'config {\n bogus = 1\n command = "sleep"\n}\n#'},
            "Failed Validation",
            TWO.format('Invalid label: No argument or block type is named "bogus".'),
        ),
    ],
)
def test_task_that_cannot_start_fails_for_good(ran, job, fresh, until_recorded, recorded, parts, kind, message):
    """Parse, plan and registration have passed: only the client sees it, and does not try again."""
    job_id = fresh("broken")
    source = job(job_id, group=ONE_RESTART, **parts)
    ran(job_id, source if "task" not in parts else _one_config(source))

    allocation = until_recorded(job_id, "Not Restarting")

    assert recorded(allocation) == [*STARTING, (kind, message), UNRECOVERABLE]
    assert allocation.restarts == 0
    assert events.cause(allocation) == f"{kind}: {message}"


def _one_config(source):
    """Return *source* without its second ``config`` block, which stands behind a mark."""
    head, _, rest = source.partition("#")
    return head + rest[rest.index("}") + 1 :]


def test_restarts_are_announced_and_counted(ran, job, fresh, until_recorded, recorded):
    """Nomad adds up to a quarter to each delay, so the time is not compared."""
    job_id = fresh("again")
    ran(job_id, job(job_id, group=ONE_RESTART, command="/bin/sh", args=["-c", "exit 3"]))

    allocation = until_recorded(job_id, "Not Restarting")

    seen = recorded(allocation)
    assert seen[4][1].startswith("Task restarting in 2")
    assert [*seen[:4], seen[4][0], *seen[5:]] == [
        *STARTING,
        STARTED,
        ("Terminated", "Exit Code: 3"),
        "Restarting",
        STARTED,
        ("Terminated", "Exit Code: 3"),
        ("Not Restarting", 'Exceeded allowed attempts 1 in interval 1m0s and mode is "fail"'),
    ]
    assert allocation.restarts == 1


def test_stopped_task_completes(agent, client, ran, job, fresh, recorded):
    """Interrupted within its time; the allocation keeps what was wished."""
    job_id = fresh("stopped")
    ran(job_id, job(job_id, kind="system"))
    agent.until_status(job_id, "running")

    jobs.stop(client, "default", job_id, purge=False)

    agent.until_status(job_id, "complete")
    [allocation] = jobs.allocations(client, "default", job_id)
    assert recorded(allocation) == [
        *STARTING,
        STARTED,
        ("Killing", "Sent interrupt. Waiting 200ms before force killing"),
        ("Terminated", "Exit Code: 130, Signal: 2"),
        ("Killed", "Task successfully killed"),
    ]
    assert (allocation.desired_status, jobs.get(client, "default", job_id).status) == ("stop", "dead")


def test_failed_allocation_keeps_its_wish_when_its_job_stops(agent, client, ran, job, fresh, once, until_recorded):
    """It ended before anybody stopped it."""
    job_id = fresh("failed")
    ran(job_id, job(job_id, group=once, command="/bin/sh", args=["-c", "exit 3"]))
    until_recorded(job_id, "Not Restarting")

    jobs.stop(client, "default", job_id, purge=False)

    agent.until(lambda: jobs.get(client, "default", job_id), lambda found: found.status == "dead")
    [allocation] = jobs.allocations(client, "default", job_id)
    assert (allocation.client_status, allocation.desired_status) == ("failed", "run")
