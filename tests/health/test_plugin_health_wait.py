"""The gate opens for a plugin that is verified healthy, says how far it is, and tells why it stays closed."""

import dataclasses

import pytest

from nomad_csi import errors
from nomad_csi.health import plugin_health_wait

DENIED = "Error: CSI plugin failed probe: api error AccessDenied: not authorized to perform: ec2:DescribeX"


def wait(context, expectation, cluster):
    """Wait at the gate."""
    return plugin_health_wait.wait(context, expectation, cluster.job_ids)


def test_restart_within_the_window_is_not_healthy(context, plugin_cluster, expectation):
    """Nomad calls a task healthy that restarts again and again; the gate stays closed and says so."""
    plugin_cluster.plugin()
    for restarts in range(500):
        plugin_cluster.allocation(restarts=restarts, events=[("Terminated", "Exit Code: 137")])
    wanted = dataclasses.replace(expectation, stable_s=100, timeout_s=60)

    with pytest.raises(errors.NomadCsiError, match=r"instance-restarted: .* Terminated: Exit Code: 137"):
        wait(context, wanted, plugin_cluster)


def test_timeout_tells_findings_and_task_events(context, plugin_cluster, expectation):
    """AWS's own words are in Nomad's events, and so in the error; a secret is not."""
    plugin_cluster.plugin(instances=0)
    plugin_cluster.allocation(
        events=[("Started", "x"), ("Plugin became unhealthy", f"{DENIED} token=abc"), ("Restarting", "in 15s")]
    )
    plugin_cluster.log("I1 starting\n\nE1 cannot start token=abc\n")

    with pytest.raises(errors.NomadCsiError) as caught:
        wait(dataclasses.replace(context, timeout_s=0.05), expectation, plugin_cluster)

    assert str(caught.value).splitlines() == [
        "plugin aws-ebs0 is not verified healthy after 0.05 s: 0/1 nodes; nothing was registered",
        "  instance-unhealthy: node instance of plugin aws-ebs0 on a: expected a healthy instance, found Plugin became "
        f"unhealthy: {DENIED} token=[secret]; check its task events with `nomad alloc status alloc-a`, then "
        "`nomad alloc logs -stderr alloc-a`",
        "  on a (allocation alloc-a): Restarting: in 15s",
        "  log on a (allocation alloc-a): I1 starting",
        "  log on a (allocation alloc-a): E1 cannot start token=[secret]",
        f"  {plugin_health_wait.NEXT}",
    ]


@pytest.mark.parametrize(
    ("is_known", "message"),
    [
        (
            True,
            "1/1 nodes; nothing was registered\n  it was not healthy for 100 s, or did not answer itself, in time: raise "
            f"timeout_s\n  {plugin_health_wait.NEXT}",
        ),
        (False, "ADDRESS did not answer; nothing was registered"),
    ],
)
def test_timeout_without_a_finding_has_a_reason_too(context, heard, plugin_cluster, expectation, is_known, message):
    """It was well, but not for long enough; or Nomad did not say."""
    if is_known:
        plugin_cluster.plugin()
    plugin_cluster.scripted.reply("GET", "/v1/plugin/csi/aws-ebs0", 500, "No cluster leader")
    plugin_cluster.allocation()
    address = plugin_cluster.scripted.address

    with pytest.raises(errors.NomadCsiError) as caught:
        wait(context, dataclasses.replace(expectation, stable_s=100, timeout_s=20), plugin_cluster)

    head = "plugin aws-ebs0 is not verified healthy after 20 s: "
    assert str(caught.value) == head + message.replace("ADDRESS", address)
    lost = f"{address} is not reachable, asking again: No cluster leader"
    assert heard["status"] == ["1/1 nodes, watched for 100 s"] * is_known + [lost]


@pytest.mark.parametrize(("limit_s", "is_long"), [(plugin_health_wait.OUTAGE_S, False), (20.0, True)])
def test_long_outage_is_an_error(context, monkeypatch, plugin_cluster, expectation, limit_s, is_long):
    """A short one ends with the time of the wait."""
    monkeypatch.setattr(plugin_health_wait, "OUTAGE_S", limit_s)
    plugin_cluster.scripted.reply("GET", "/v1/plugin/csi/aws-ebs0", 500, "No cluster leader")

    with pytest.raises(errors.NomadCsiError) as caught:
        wait(context, dataclasses.replace(expectation, timeout_s=25), plugin_cluster)

    assert (isinstance(caught.value, errors.NomadApiError), context.client.clock.now()) == (is_long, 25 - 4.5 * is_long)


def test_capacity_is_refused_without_waiting(context, heard, plugin_cluster, expectation):
    """Two controllers on one client will not become healthy in 30 s either."""
    plugin_cluster.plugin()
    plugin_cluster.allocation()

    with pytest.raises(errors.NomadCsiError, match="controllers-exceed-nodes") as caught:
        wait(context, dataclasses.replace(expectation, controllers=2), plugin_cluster)

    assert str(caught.value).startswith("plugin aws-ebs0 cannot become healthy; nothing was registered\n")
    assert heard["status"] == []


def test_capacity_lost_on_the_way_is_waited_for(context, plugin_cluster, expectation):
    """A client that is away for a moment, after it was there, may come back."""
    plugin_cluster.nodes({"Status": "down"})
    plugin_cluster.nodes({})
    plugin_cluster.plugin(instances=0)
    plugin_cluster.plugin()
    plugin_cluster.allocation()

    assert wait(context, expectation, plugin_cluster).status == "healthy"


def test_an_outage_begins_the_window_again(context, heard, plugin_cluster, expectation):
    """Nobody saw what restarted meanwhile."""
    path, scripted = "/v1/plugin/csi/aws-ebs0", plugin_cluster.scripted
    plugin_cluster.plugin()
    scripted.reply("GET", path, 500, "No cluster leader")
    plugin_cluster.plugin()
    plugin_cluster.allocation()

    wait(context, dataclasses.replace(expectation, stable_s=3 * plugin_health_wait.INTERVAL_S), plugin_cluster)

    assert f"{scripted.address} is not reachable, asking again: No cluster leader" in heard["status"]
    assert sum(asked.startswith(path) for asked, _ in scripted.sent("GET")) == 6
