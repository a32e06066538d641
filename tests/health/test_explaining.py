"""What explains a plugin that is not well is fetched; what cannot be had is said."""

import dataclasses
import re

import pytest

from nomad_csi.health import explaining, observation
from nomad_csi.nomad import jobs

JOB = "/v1/job/plugin-aws-ebs0-nodes"
DENIED = "AccessDenied: user is not authorized to perform: ec2:DescribeAvailabilityZones"


@pytest.fixture
def explained(context, expectation):
    """Look once, and explain."""

    def look():
        wanted = observation.WatchedPlugin(
            expectation=dataclasses.replace(expectation, driver="aws-ebs"), job_ids=("plugin-aws-ebs0-nodes",)
        )
        client = context.connect()
        [seen] = observation.Observer(client, [wanted]).observe()
        return explaining.explain(client, wanted.expectation, seen.plugin, seen.status)

    return look


@pytest.fixture
def denied(plugin_cluster):
    """A plugin whose task says that AWS refuses it."""
    plugin_cluster.plugin(instances=0)
    plugin_cluster.allocation(events=[("Started", "x"), ("Plugin became unhealthy", DENIED)])
    return plugin_cluster


def test_trap_is_known_by_the_words_of_aws(denied, explained):
    """The task's event is enough, without a log."""
    denied.log("")

    [issue, note] = explained()

    assert issue.kind == "known-issue"
    assert issue.text == "a role without ec2:DescribeAvailabilityZones never gets a healthy controller (since v1.49.0)"
    assert str(note) == "note on a (allocation alloc-a): its log is empty"


def test_trap_is_known_by_the_log(plugin_cluster, explained, monkeypatch):
    """What the driver wrote last, without secrets; to stdout, where stderr is empty."""
    plugin_cluster.plugin(instances=0)
    plugin_cluster.allocation(events=[("Started", "x"), ("Terminated", "Exit Code: 1")])
    texts, asked = ["", 'E1 "Retrieving IMDS metadata failed" err="no route" token=abc\n'], []
    monkeypatch.setattr(jobs, "tail_log", lambda *given, **how: asked.append((*given[1:], how)) or texts.pop(0))

    told = explained()

    assert [cause.kind for cause in told] == ["known-issue", "log"]
    assert "hop limit of 1" in told[0].text
    assert told[1].text.endswith("token=[secret]")
    how = [{"stream": stream, "timeout_s": 10} for stream in ("stderr", "stdout")]
    assert asked == [("default", "alloc-a", "plugin", each) for each in how]


def test_sick_instance_goes_before_a_task_that_never_was_one(plugin_cluster, scripted, explained):
    """What Nomad says of its health is evidence, too; the log is that of the task with the last event."""
    plugin_cluster.plugin(healthy=False)
    _, record = scripted.replies["GET", "/v1/plugin/csi/aws-ebs0"][0]
    record["Nodes"]["id-a"]["HealthDescription"] = DENIED
    one = {"ClientStatus": "running", "DesiredStatus": "run", "JobVersion": 2}
    one["TaskStates"] = {
        name: {"Restarts": 0, "Events": [{"Time": at, "Type": "Started", "DisplayMessage": "x"}]}
        for at, name in enumerate(["proxy", "plugin"])
    }
    both = [one | {"ID": f"alloc-{name}", "NodeID": f"id-{name}", "NodeName": name} for name in "ba"]
    scripted.reply("GET", f"{JOB}/allocations", 200, both)
    for item in both:
        scripted.reply("GET", f"/v1/client/fs/logs/{item['ID']}", 200, f"said by {item['ID']}")

    assert [str(cause).partition(": ")[2] for cause in explained()] == [
        "a role without ec2:DescribeAvailabilityZones never gets a healthy controller (since v1.49.0)",
        "said by alloc-a",
        "said by alloc-b",
    ]
    logs = [path for path, _ in scripted.sent("GET") if "/fs/logs/" in path]
    assert [re.search(r"task=(\w+)", path)[1] for path in logs] == ["plugin", "plugin"]


def test_refused_log_is_said_and_passed_over(denied, explained):
    """The right that is missing is named; the issue is told all the same."""
    denied.log("Permission denied", status=403)

    [issue, note] = explained()

    assert issue.kind == "known-issue"
    assert str(note) == (
        "note on a (allocation alloc-a): its log cannot be read: Permission denied; set NOMAD_TOKEN "
        "to a token that has read-logs in namespace default (or read-fs)"
    )


def test_only_a_few_logs_are_read(scripted, plugin_cluster, explained):
    """A hundred sick clients are a hundred rows, and three logs."""
    plugin_cluster.plugin(instances=0)
    one = {"NodeName": "a", "ClientStatus": "failed", "DesiredStatus": "run", "JobVersion": 2}
    told = {"plugin": {"Restarts": 0, "Events": [{"Time": 1, "Type": "Started", "DisplayMessage": "x"}]}}
    many = [one | {"ID": f"alloc-{at}", "NodeID": f"id-{at}", "TaskStates": told} for at in range(100)]
    scripted.reply("GET", f"{JOB}/allocations", 200, many)

    explained()

    logs = {path.partition("?")[0] for path, _ in scripted.sent("GET") if path.startswith("/v1/client/fs/logs/")}
    assert len(logs) == 3
