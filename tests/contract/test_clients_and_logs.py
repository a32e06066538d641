"""Lists of clients by what they say of themselves, and the last lines of a task's log."""

import pytest

from nomad_csi import errors
from nomad_csi.nomad import jobs, nodes

TALKS = ("-c", "echo said; echo wrong >&2; exec sleep 60")


@pytest.fixture
def talker(agent, client, fresh, ran, job):
    """A running task that wrote a line to each stream: its allocation."""
    job_id = fresh("talker")
    ran(job_id, job(job_id, command="/bin/sh", args=TALKS))
    agent.until_status(job_id, "running")
    [allocation] = jobs.allocations(client, "default", job_id)
    return allocation


@pytest.mark.parametrize(("stream", "line"), [("stdout", "said\n"), ("stderr", "wrong\n")])
def test_tail_of_a_log_is_its_last_bytes(agent, client, talker, stream, line):
    """From the end, as text."""

    def read(length=100):
        return jobs.tail_log(client, "default", talker.alloc_id, "t", stream=stream, length=length)

    assert agent.until(read, bool) == line
    assert read(length=3) == line[-3:]


def test_log_outlives_its_task(agent, client, fresh, ran, job):
    """What ended can still be explained."""
    job_id = fresh("brief")
    ran(job_id, job(job_id, kind="batch", command="/bin/sh", args=("-c", "echo bye >&2")))
    agent.until_status(job_id, "complete")
    [allocation] = jobs.allocations(client, "default", job_id)

    assert jobs.tail_log(client, "default", allocation.alloc_id, "t") == "bye\n"


@pytest.mark.parametrize(
    ("alloc_id", "task", "status", "sentence"),
    [
        ("", "other", 400, 'unknown task name "other"'),
        (
            "00000000-0000-0000-0000-000000000000",
            "t",
            404,
            'Unknown allocation "00000000-0000-0000-0000-000000000000"',
        ),
    ],
)
def test_rejects_logs_of_what_is_not_there(client, talker, alloc_id, task, status, sentence):
    """Both say what they do not know."""
    with pytest.raises(errors.NomadApiError) as caught:
        jobs.tail_log(client, "default", alloc_id or talker.alloc_id, task)

    assert (caught.value.status, caught.value.message) == (status, sentence)


@pytest.mark.parametrize(
    ("attribute", "expression", "matches"),
    [
        ("${attr.kernel.name}", "^l.*x$", True),
        ("${attr.kernel.name}", "plan9", False),
        ("${attr.no.such}", "", False),
        ('${meta.a"b}', "x", False),
        ("${node.pool}", "def", True),
        ("${node.class}", "^$", True),
        ("${attr.kernel.name}", r'^\w+$|"`\"', True),
        ("${attr.kernel.name}", "(", None),
        ("${device.model}", "x", None),
    ],
)
def test_nomad_evaluates_regular_expressions(client, attribute, expression, matches):
    """A key that is not there matches nothing; what Nomad refuses is not known."""
    [node] = nodes.list_nodes(client)

    found = nodes.ids_matching(client, attribute, expression)

    assert found == (None if matches is None else {node.node_id} if matches else frozenset())
