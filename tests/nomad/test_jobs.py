"""Jobs: the HCL that one was submitted with, its plugin tasks and volumes, its allocations. More: tests/contract."""

import dataclasses
import json

import pytest

from nomad_csi.nomad import jobs
from nomad_csi.plan import model


@pytest.mark.parametrize(
    ("submission", "source"),
    [
        ({"Format": "hcl2"}, "job {}"),
        ({"Format": "json"}, None),
        ({"Format": "hcl2", "Variables": "a = 1"}, None),
        ({"Format": "hcl2", "VariableFlags": {"a": "1"}}, None),
    ],
)
def test_source_is_that_of_hcl_without_variables(agent, client, submission, source):
    """Nothing else can be sent again as it is."""
    agent.answer("GET", "/v1/job/j/submission", json.dumps({"Source": "job {}"} | submission))

    assert jobs.source(client, "default", "j", 3) == source
    assert agent.asked[0].query == {"namespace": "default", "version": "3"}


def rule(key):
    """Return a constraint in Nomad's JSON, and as it is read."""
    return {"LTarget": f"${{{key}}}", "RTarget": "x"}, model.Constraint(
        attribute=f"${{{key}}}", operator="=", value="x"
    )


OF_JOB, OF_GROUP, OF_TASK = rule("meta.a"), rule("meta.b"), rule("meta.c")
TASK = {"Name": "plugin", "Driver": "docker", "CSIPluginConfig": {"ID": "ebs", "Type": "node"}}
JOB = {"ID": "ebs-node", "Namespace": "infra", "Type": "system"}
READ = jobs.PluginTask(
    job_id="ebs-node",
    namespace="infra",
    job_type="system",
    plugin_id="ebs",
    role="node",
    task_driver="docker",
    privileged=False,
    host_network=False,
    own_credentials=False,
    datacenters=("*",),
    node_pool="default",
)


@pytest.mark.parametrize(
    ("job", "group", "task", "read"),
    [
        ({}, {}, {}, {}),
        (
            {"NodePool": "storage", "Datacenters": ["dc1"], "Meta": {"a": "b"}, "Constraints": [OF_JOB[0]]},
            {"Constraints": [OF_GROUP[0]]},
            {"Constraints": [OF_TASK[0]]},
            {
                "node_pool": "storage",
                "datacenters": ("dc1",),
                "meta": {"a": "b"},
                "constraints": (OF_JOB[1], OF_GROUP[1], OF_TASK[1]),
            },
        ),
        ({}, {}, {"Config": {"privileged": True}}, {"privileged": True}),
        ({}, {}, {"Config": {"privileged": "true"}}, {"privileged": True}),
        ({}, {}, {"Config": {"privileged": "false"}}, {}),
        ({}, {}, {"Config": {"network_mode": "host"}}, {"host_network": True}),
        ({}, {}, {"Config": {"network_mode": "bridge"}}, {}),
        ({}, {"Networks": [{"Mode": "host"}]}, {}, {"host_network": True}),
        ({}, {"Networks": [{"Mode": "bridge"}, {"Mode": "host"}]}, {}, {}),
        ({}, {}, {"Driver": "raw_exec"}, {"task_driver": "raw_exec", "host_network": True}),
        ({}, {}, {"Env": {"AWS_PROFILE": "p"}}, {"own_credentials": True}),
        ({}, {}, {"Env": {"AWS_WEB_IDENTITY_TOKEN_FILE": "f"}}, {"own_credentials": True}),
        ({}, {}, {"Env": {"AWS_REGION": "r"}}, {}),
        ({}, {}, {"Templates": [{}, {"EmbeddedTmpl": "AWS_ACCESS_KEY_ID=x"}]}, {"own_credentials": True}),
        ({}, {}, {"Config": {"volumes": ["/dev:/dev", "local/x:/x", 5, "/a:/a"]}}, {"binds": ("/dev:/dev", "/a:/a")}),
        ({}, {}, {"Config": {"volumes": "/dev:/dev"}}, {}),
        ({}, {}, {"Config": {"cap_add": ["CAP_SYS_ADMIN", "net_raw"]}}, {"capabilities": {"sys_admin", "net_raw"}}),
    ],
)
def test_plugin_task_is_read_with_all_that_rules_need(job, group, task, read):
    """Beside it a task that runs no plugin; in another group one of a controller."""
    controller = TASK | {"CSIPluginConfig": {"ID": "ebs", "Type": "controller"}} | task
    groups = [group | {"Tasks": [{"Driver": "docker"}, TASK | task]}, group | {"Tasks": [controller]}]
    node = dataclasses.replace(READ, **read)

    found = jobs.tasks_of_document(JOB | job | {"TaskGroups": groups})

    assert found == (node, dataclasses.replace(node, role="controller"))


@pytest.mark.parametrize(
    ("job", "group", "read"),
    [({}, "a", ("shared", "each[2]")), ({}, "b", ("other",)), ({}, "c", ()), ({"Stop": True}, "a", ())],
)
def test_volumes_of_an_allocation_are_those_of_its_group(job, group, read):
    """With the index of the allocation where each has its own; a stopped job has none."""
    blocks = {
        "s": {"Type": "csi", "Source": "shared"},
        "e": {"Type": "csi", "Source": "each", "PerAlloc": True},
        "h": {"Type": "host", "Source": "here"},
    }
    groups = [{"Name": "a", "Volumes": blocks}, {"Name": "b", "Volumes": {"o": {"Type": "csi", "Source": "other"}}}]

    assert jobs.volumes_of({"ID": "j", "TaskGroups": groups} | job, group, 2) == read


def hook(text, at_ns=5):
    return {"Time": at_ns, "DisplayMessage": text}


@pytest.mark.parametrize(
    ("allocation", "error"),
    [
        ({}, "no room"),
        ({"NextAllocation": "a-2"}, None),
        ({"TaskStates": {"t": {"Events": [hook("Task started")]}}}, None),
        ({"TaskStates": {"t": {"Events": [hook(f"{jobs.HOOK}old", 1), hook(f"{jobs.HOOK}new", 9)]}}}, "new"),
        ({"TaskStates": None}, None),
        ({"Name": None}, "no room"),
    ],
)
def test_failed_mounts_are_those_of_volumes_and_not_replaced(agent, client, allocation, error):
    """With the last reason."""
    failed = {"ID": "a-1", "JobID": "web", "Namespace": "prod", "TaskGroup": "g", "Name": "web.g[7]"}
    failed |= {"TaskStates": {"t": {"Events": [hook(f"{jobs.HOOK}no room")]}}}
    agent.answer("GET", "/v1/allocations", json.dumps([failed | allocation]))

    found = jobs.failed_mounts(client, "prod")

    assert [(item.job_id, item.group, item.index, item.error) for item in found] == (
        [] if error is None else [("web", "g", 0 if "Name" in allocation else 7, error)]
    )
    assert agent.asked[0].query == {"namespace": "prod", "filter": jobs.FAILED}


def test_allocation_is_read_with_the_events_of_all_its_tasks(agent, client):
    """Oldest first; restarts are counted over all."""
    states = {
        "b": {"Restarts": 2, "Events": [{"Time": 3, "Type": "Started"}, {"Time": 1, "Type": "Received"}]},
        "a": {"Restarts": 1, "Events": [{"Time": 3, "Type": "Restarting", "DisplayMessage": "again"}, None]},
        "c": None,
    }
    status = {"ClientStatus": "running", "DesiredStatus": "run", "JobVersion": 4, "TaskStates": states}
    one = {"ID": "a-1", "NodeID": "n-1", "NodeName": "client-1"} | status
    agent.answer("GET", "/v1/job/j/allocations", json.dumps([one, None]))

    assert jobs.allocations(client, "prod", "j") == (
        jobs.Allocation(
            alloc_id="a-1",
            node_id="n-1",
            node_name="client-1",
            client_status="running",
            desired_status="run",
            task_events=(
                jobs.TaskEvent(time_ns=1, type="Received", task="b"),
                jobs.TaskEvent(time_ns=3, type="Restarting", message="again", task="a"),
                jobs.TaskEvent(time_ns=3, type="Started", task="b"),
            ),
            restarts=3,
            job_version=4,
        ),
    )
