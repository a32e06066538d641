"""What Nomad says of an instance and what its socket said are compared, and no silent client is passed over."""

import dataclasses

import pytest

from nomad_csi.health import observed_plugin, probed
from nomad_csi.health import plugins as statuses

READY = observed_plugin.Probed(
    reached=True, healthy=True, status="ready", provider="ebs.csi.aws.com", version="v1.64.0"
)
LATE = observed_plugin.Probed(reached=False, status="no-answer", detail="the client is down", advice="check the client")


def told(status):
    """Return severity, code and what was found of each finding."""
    return [(item.severity, item.code, item.found) for item in status.findings]


def keyed(**answers):
    """Return answers of node instances by the names of their clients."""
    return {(f"node-{name}", "node"): answer for name, answer in answers.items()}


@pytest.fixture
def judged(expected, node, seen):
    """Judge node instances on clients a, b ...: ``judged([instances], {answers}, policy=...)``."""

    def judge(instances, answers, *, clients="ab", ran=(), **changes):
        there = seen(*instances, probed=answers, ran=ran)
        return statuses.compare_plugin(expected(**{"controllers": 0} | changes), there, tuple(map(node, clients)))

    return judge


def test_many_silent_clients_are_one_finding_for_each_reason(judged, instance):
    """With names of five, and all of them as rows."""
    names = "abcdefgh"
    answers = keyed(**dict.fromkeys(names[:7], LATE)) | keyed(
        h=observed_plugin.Probed(reached=False, status="no-answer")
    )

    status = judged([instance("node", name) for name in names], answers, clients=names)

    assert [shown for _, _, shown in told(status)] == [
        "none from 7 of 8, on a, b, c, d, e and 2 more: the client is down",
        "none from 1 of 8, on h: ",
    ]
    assert [row.socket for row in status.instances] == ["no-answer"] * 8


@pytest.mark.parametrize(
    ("answer", "detail", "code", "found"),
    [
        ("wrong-role", "no node part", "instance-capability-missing", "no node part"),
        ("not-ready", "", "csi-failed", "not ready"),
    ],
)
def test_answer_of_a_socket_is_a_finding_by_its_status(judged, instance, answer, detail, code, found):
    """A process of the wrong role stays so; one that starts may give no detail."""
    unwell = dataclasses.replace(READY, healthy=False, status=answer, detail=detail)

    status = judged([instance("node", "a")], keyed(a=unwell), clients="a")

    assert [item.code for item in status.findings if f"its own answer: {found}" in item.found] == [code]


@pytest.mark.parametrize(
    ("percent", "found"), [(50, ("warning", "socket-not-needed")), (51, ("error", "socket-not-asked"))]
)
def test_a_policy_allows_for_silent_clients_where_enough_others_answered(judged, instance, percent, found):
    """Those count that verified themselves, not those that Nomad calls healthy."""
    both = [instance("node", "a"), instance("node", "b")]

    status = judged(both, keyed(a=READY, b=LATE), min_healthy_percent=percent)

    assert [item[:2] for item in told(status)] == [found]
    assert status.ok == (found[0] == "warning")


@pytest.mark.parametrize(
    ("answer", "status", "detail"),
    [
        (None, "no-answer", "the client was not asked"),
        (probed.ClientAnswer(problem="late", reports={}), "no-answer", "late"),
        (probed.ClientAnswer(reports={}), "missing", "missing: its client was asked, and the allocation has no"),
    ],
)
def test_no_report_is_never_health(answer, status, detail):
    """Whatever the cause is."""
    word = probed.merged("ebs.csi.aws.com", "node", "node-a", answer)

    assert (word.healthy, word.reached, word.status) == (False, status == "missing", status)
    assert word.detail.startswith(detail)


def test_a_plugin_without_instances_is_not_ready():
    """None answered, and no client is at fault."""
    assert not probed.ProbedPlugin(plugin_id="aws-ebs0", rows=()).ok
