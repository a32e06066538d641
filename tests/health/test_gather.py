"""What there is of a plugin is asked of Nomad, and of the plugin where its socket is at hand."""

import dataclasses
import os
import pathlib
import socket
import tempfile
import threading

import pytest

from nomad_csi.csi import probe
from nomad_csi.health import gather, observed_plugin
from tests.plugin_samples import READY


def collect(context, expectation, cluster):
    """Return what Nomad and its instances say of the plugin of *cluster*."""
    told = gather.ask_nomad(context.connect(), expectation, cluster.job_ids)
    [found] = gather.probe_all([(expectation, told)])
    return found


def test_finds_record_allocations_and_job_type(context, plugin_cluster, expectation):
    """All of Nomad's word on a plugin comes together."""
    plugin_cluster.plugin()
    for version in (2, 1):
        plugin_cluster.allocation(JobVersion=version)

    seen, old = (collect(context, expectation, plugin_cluster) for _ in range(2))

    assert [item.alloc_id for item in seen.plugin.nodes] == ["alloc-a"]
    assert [
        (item.job_id, item.job_type, item.allocation.alloc_id, item.outdated) for item in (*seen.ran, *old.ran)
    ] == [
        ("plugin-aws-ebs0-nodes", "system", "alloc-a", ""),
        ("plugin-aws-ebs0-nodes", "system", "alloc-a", "it runs version 1 of its job, which is at version 2"),
    ]
    assert (seen.missing_jobs, seen.names_jobs) == ((), True)


OTHER = {
    "ID": "old",
    "TaskGroups": [
        {"Tasks": [{"CSIPluginConfig": {"ID": "aws-ebs0", "Type": "controller"}}, {"CSIPluginConfig": None}]},
        {"Tasks": [{"CSIPluginConfig": {"ID": "another", "Type": "node"}}]},
    ],
}


def with_other_job(scripted, plugin_cluster):
    """Queue a record that has a job beside the plan's, in another namespace."""
    plugin_cluster.plugin()
    plugin_cluster.allocation()
    _, record = scripted.replies["GET", "/v1/plugin/csi/aws-ebs0"][0]
    jobs = {"default": {"plugin-aws-ebs0-nodes": {}}, "storage": {"old": {}}}
    scripted.replies["GET", "/v1/plugin/csi/aws-ebs0"] = [(200, record | {"NodeJobs": jobs})]


def test_other_job_of_the_record_is_read(context, scripted, plugin_cluster, expectation):
    """What it serves by its blocks, and where it runs."""
    with_other_job(scripted, plugin_cluster)
    scripted.reply("GET", "/v1/job/old", 200, OTHER)
    scripted.reply("GET", "/v1/job/old/allocations", 200, [{"ID": "alloc-x", "NodeID": "id-a"}])

    [other] = collect(context, expectation, plugin_cluster).others

    assert (other.namespace, other.job_id, other.roles, other.unread) == ("storage", "old", {"controller"}, "")
    assert other.stands_for == ""  # it runs another plugin, too
    assert [item.alloc_id for item in other.allocations] == ["alloc-x"]
    assert "/v1/job/old?namespace=storage" in [path for path, _ in scripted.sent("GET")]


def test_of_a_plugin_whose_jobs_are_not_known_no_job_is_another_one(context, scripted, plugin_cluster, expectation):
    """Nothing is read of them."""
    with_other_job(scripted, plugin_cluster)

    assert gather.ask_nomad(context.connect(), expectation, ()).others == ()


def test_other_job_that_the_token_may_not_read_is_a_result(context, scripted, plugin_cluster, expectation):
    """The plugin's own jobs are checked all the same."""
    with_other_job(scripted, plugin_cluster)
    scripted.reply("GET", "/v1/job/old", 403, "Permission denied")

    seen = collect(context, expectation, plugin_cluster)

    [other] = seen.others
    assert other.unread.startswith("GET /v1/job/old: status 403: Permission denied")
    assert len(seen.ran) == 1


@pytest.mark.parametrize("job", [(404, "job not found"), (200, {"ID": "x", "Stop": True, "Version": 2})])
def test_absent_and_stopped_jobs_are_missing(context, scripted, plugin_cluster, expectation, job):
    """A job that runs no more runs no plugin."""
    plugin_cluster.plugin()
    plugin_cluster.allocation()
    scripted.replies["GET", "/v1/job/plugin-aws-ebs0-nodes"] = [job]

    assert collect(context, expectation, plugin_cluster).missing_jobs == plugin_cluster.job_ids


@pytest.fixture
def short_folder(tmp_path):
    """Return a data_dir short enough for sockets, whatever pytest's own is."""
    link = pathlib.Path(tempfile.gettempdir(), f"g{os.getpid()}")
    link.symlink_to(tmp_path)
    yield str(link)
    link.unlink()


@pytest.mark.parametrize(
    ("folder", "why"),
    [
        ("/nowhere", "its socket is not on this machine"),
        (f"/{'x' * 90}", "the socket path has 127 bytes, the system allows 107"),
        ("", "the sockets are not known, because the clients' data_dir is not"),
    ],
)
def test_socket_that_is_not_here_is_not_asked(context, plugin_cluster, expectation, folder, why):
    """It is said why."""
    plugin_cluster.plugin()
    plugin_cluster.allocation()

    seen = collect(context, dataclasses.replace(expectation, client_data_dir=folder), plugin_cluster)

    assert seen.probed == {("alloc-a", "node"): observed_plugin.Probed(reached=False, detail=why)}


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (READY, {"healthy": True, "status": "ready"}),
        (dataclasses.replace(READY, status="silent"), {"status": "silent", "detail": "silent: fine"}),
    ],
)
def test_each_instance_is_asked_as_the_plan_wants_it(monkeypatch, expectation, instance, seen, answer, found):
    """At its own socket, with the name, the role and the time; what it answers comes back whole, by plugin."""
    asked, event = [], threading.Event()
    monkeypatch.setattr(gather, "_hidden", lambda path: "gone" if "-c" in path else "")
    monkeypatch.setattr(probe, "probe", lambda path, **options: asked.append((path, options)) or answer)
    plans = [dataclasses.replace(expectation, client_data_dir=path) for path in ("/d", "/e")]
    there = [seen(instance("controller", "a"), instance("node", "b")), seen(instance("node", "c"))]

    told = gather.probe_all(list(zip(plans, there, strict=True)), timeout_s=7, cancelled=event)

    given = {"timeout_s": 7, "expect_name": "ebs.csi.aws.com", "cancelled": event}
    assert sorted(asked, key=str) == [
        (f"/d/client/csi/plugins/{role}-{name}/csi.sock", given | {"role": role})
        for role, name in (("controller", "a"), ("node", "b"))
    ]
    whole = observed_plugin.Probed(reached=True, provider="ebs.csi.aws.com", version="v1.64.0", **found)
    assert [item.probed for item in told] == [
        {("controller-a", "controller"): whole, ("node-b", "node"): whole},
        {("node-c", "node"): observed_plugin.Probed(reached=False, detail="gone")},
    ]


def test_socket_nobody_listens_at_is_an_unhealthy_answer(context, short_folder, plugin_cluster, expectation):
    """A process that died leaves its socket behind; Nomad sees that late, the probe at once."""
    plugin_cluster.plugin()
    plugin_cluster.allocation()
    path = gather.socket_path(short_folder, "alloc-a")
    pathlib.Path(path).parent.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(path)

    seen = collect(context, dataclasses.replace(expectation, client_data_dir=short_folder), plugin_cluster)

    probed = seen.probed["alloc-a", "node"]
    assert (probed.reached, probed.healthy) == (True, False)
    assert probed.detail.startswith("missing: nothing listens there")
