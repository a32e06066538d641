"""Instances on their clients: what answered, what did not, and that silence is never health."""

import pytest

from nomad_csi.csi import records
from nomad_csi.health import probed

NAMES = {"id-a": "a", "id-b": "b", "id-c": "c"}
READY = records.ProbeReport(
    endpoint="/csi.sock",
    status="ready",
    detail="fine",
    latency_ms=1.0,
    controller_capabilities=("CREATE_DELETE_VOLUME",),
    node_capabilities=(),
)


@pytest.fixture
def picture(instance, seen):
    """Return a factory of pictures: a controller on ``a``, nodes on ``a``, ``b`` and ``c``, and what clients answered."""

    def make(answers, told=()):
        instances = [instance("controller", "a"), *(instance("node", name) for name in "abc")]
        rows = probed.judge(seen(*instances).plugin, NAMES, answers)
        return probed.ProbedPlugin(plugin_id="aws-ebs0", rows=rows, findings=told)

    return make


def answer(*alloc_ids, problem=""):
    return probed.ClientAnswer(problem=problem, reports=dict.fromkeys(alloc_ids, READY))


def test_each_instance_has_the_answer_of_its_allocation(picture):
    """Two on one client are two."""
    found = picture(
        {"id-a": answer("controller-a", "node-a"), "id-b": answer("node-b", "node-z"), "id-c": answer("node-c")}
    )

    assert [(row.role, row.node_name, row.status) for row in found.rows] == [
        ("controller", "a", "ready"),
        ("node", "a", "ready"),
        ("node", "b", "ready"),
        ("node", "c", "ready"),
    ]
    assert found.ok


def test_who_did_not_answer_is_named_and_not_healthy(picture):
    """Not asked, or asked in vain; one that answered of others only is missing."""
    found = picture({"id-a": answer("node-a"), "id-b": answer(problem="the client is down")})

    assert [(row.status, row.detail) for row in found.rows] == [
        ("missing", "its client was asked, and the allocation has no folder with a socket there"),
        ("ready", ""),
        ("no-answer", "the client is down"),
        ("no-answer", "the client was not asked"),
    ]
    assert not found.ok
    assert found.as_table().splitlines()[-1] == "plugin aws-ebs0: 1 of 4 instances are ready; no answer from b, c"


def test_a_problem_of_a_client_does_not_hide_what_it_answered(picture):
    """Part of an answer counts for that part."""
    found = picture({"id-b": answer("node-b", problem="one folder is locked")})

    assert [row.status for row in found.rows if row.node_name == "b"] == ["ready"]
