"""The health of a plugin as a resource: making it waits, reading it looks, deleting it changes nothing."""

import pytest

from nomad_csi import errors
from nomad_csi.frame import resource
from nomad_csi.health import plugin_health

HEALTH = plugin_health.PluginHealthResource()
JOBS = {"plugin-aws-ebs0-nodes": "41"}
NEWS = {
    "pluginId": "aws-ebs0",
    "provider": "ebs.csi.aws.com",
    "version": "v1.64.0",
    "namespace": "default",
    "controllers": 0,
    "datacenters": ["*"],
    "nodePool": "default",
    "taskDriver": "docker",
    "evidence": "nomad",
    "timeoutS": 0.05,
    "stableS": 0,
    "jobs": JOBS,
}
VERIFIED = {
    "healthyControllers": 0,
    "expectedControllers": 0,
    "healthyNodes": 1,
    "expectedNodes": 1,
    "reportedVersion": "v1.64.0",
    "verifiedBy": "nomad",
    "status": "healthy",
    "satisfied": True,
}


def test_check_fills_in_what_the_plan_would():
    """An operator who writes the least gets the defaults of the spec."""
    values, failures = HEALTH.check({"pluginId": "aws-ebs0", "provider": "ebs.csi.aws.com"})

    assert failures == ()
    assert values == {
        "pluginId": "aws-ebs0",
        "provider": "ebs.csi.aws.com",
        "namespace": "default",
        "controllers": 0,
        "datacenters": ["*"],
        "nodePool": "default",
        "taskDriver": "docker",
        "evidence": "nomad",
        "timeoutS": 300,
        "stableS": 3,
    }


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"pluginId": "a/b"}, "pluginId"),
        ({"provider": None}, "provider"),
        ({"evidence": "hope"}, "evidence"),
        ({"jobs": {"a": True}}, "jobs.a"),
        ({"jobs": ["a"]}, "jobs"),
        ({"controller": 1}, "controller"),
    ],
)
def test_check_refuses(change, path):
    """What cannot be meant is refused where it stands."""
    assert [failure.path for failure in HEALTH.check(NEWS | change)[1]] == [path]


def test_create_of_an_unhealthy_plugin_records_nothing(context, plugin_cluster):
    """A status that was not reached is no object: a plain error, so that the next run waits again."""
    plugin_cluster.plugin(healthy=False)
    plugin_cluster.allocation()

    with pytest.raises(errors.NomadCsiError, match="instance-unhealthy") as caught:
        HEALTH.create(context, NEWS)

    assert not isinstance(caught.value, resource.InitFailedError)


@pytest.mark.parametrize(
    ("policy", "outputs", "warning"),
    [
        ({}, {}, []),
        (
            {"minHealthyPercent": 50},
            {"expectedNodes": 2, "status": "partial"},
            [
                "plugin aws-ebs0 is partial, 1/2 nodes, which is enough (at least 50 %): instance-tolerated: node instance "
                "of plugin aws-ebs0 on b: expected a healthy instance, found missing: none (no allocation there); find out why "
                "its job places no allocation there, with `nomad job status`"
            ],
        ),
    ],
)
def test_create_records_and_tells_what_was_verified(context, heard, plugin_cluster, policy, outputs, warning):
    """A deviation that the policy allows is a warning."""
    plugin_cluster.scripted.replies.pop(("GET", "/v1/nodes"))
    plugin_cluster.nodes(*({"ID": f"id-{name}", "Name": name} for name in "ab"[: 1 + len(warning)]))
    plugin_cluster.plugin()
    plugin_cluster.allocation()

    assert HEALTH.create(context, NEWS | policy) == ("aws-ebs0", NEWS | policy | VERIFIED | outputs)

    assert heard["warn"] == warning
    assert heard["status"][-1] == f"plugin aws-ebs0: 1/{1 + len(warning)} nodes, verified by Nomad's status"


@pytest.mark.parametrize(
    ("change", "updates", "replaces"),
    [
        ({}, (), ()),
        ({"timeoutS": 9, "stableS": 9}, (), ()),
        ({"jobs": {"plugin-aws-ebs0-nodes": "42"}}, ("jobs",), ()),
        ({"controllers": 2, "evidence": "csi"}, ("controllers", "evidence"), ()),
        ({"pluginId": "other"}, (), ("pluginId",)),
    ],
)
def test_diff_verifies_again_what_changed(change, updates, replaces):
    """A setting of the wait alone verifies nothing new; a changed job does."""
    difference = HEALTH.diff("aws-ebs0", NEWS, NEWS | VERIFIED, NEWS | change)

    assert (difference.updates, difference.replaces) == (updates, replaces)


def test_diff_verifies_again_what_was_found_unhealthy():
    """A refresh that found a sick plugin makes the next run wait for it."""
    difference = HEALTH.diff("aws-ebs0", NEWS, NEWS | VERIFIED | {"status": "partial", "satisfied": False}, NEWS)

    assert difference.updates == ("status",)


@pytest.mark.parametrize(
    ("policy", "status"),
    [({}, "healthy"), ({"minHealthyPercent": 50}, resource.UNKNOWN), ({"minHealthyPerZone": 1}, resource.UNKNOWN)],
)
def test_preview_knows_the_status_of_a_plugin_of_which_all_must_be_healthy(policy, status):
    """Else it may be partial; the counts are not known."""
    unknown = dict.fromkeys(VERIFIED, resource.UNKNOWN) | {"status": status, "satisfied": True}

    assert HEALTH.preview(NEWS | policy) == ("aws-ebs0", NEWS | policy | unknown)


BY_JOB = {"evidence": "csi", "onNodes": {"command": "nomad-csi"}}


@pytest.mark.parametrize(("asked", "verified_by"), [({}, "nomad"), (BY_JOB, "csi")])
def test_read_keeps_the_evidence_of_a_job(context, plugin_cluster, asked, verified_by):
    """While the plugin is healthy by Nomad's status: a read runs no job."""
    plugin_cluster.plugin()
    plugin_cluster.allocation()

    _, outputs = HEALTH.read(context, "aws-ebs0", NEWS | asked, NEWS | VERIFIED | {"verifiedBy": "csi"})

    assert (outputs["verifiedBy"], outputs["satisfied"]) == (verified_by, True)


@pytest.mark.parametrize(
    ("asked", "count", "status"), [({}, 1, "starting"), (BY_JOB, 1, "starting"), ({}, 2, "missing")]
)
def test_read_looks_once_and_warns_of_nothing_that_stays(context, heard, plugin_cluster, asked, count, status):
    """The status of this moment is recorded. An update may repair the plugin after it, so that the reason passes."""
    given = NEWS | asked
    plugin_cluster.scripted.replies.pop(("GET", "/v1/nodes"))
    plugin_cluster.nodes(*({"ID": f"id-{name}", "Name": name} for name in "ab"[:count]))
    plugin_cluster.plugin(instances=0)
    plugin_cluster.allocation()

    inputs, outputs = HEALTH.read(context, "aws-ebs0", given, given | VERIFIED | {"verifiedBy": "csi"})

    assert inputs == given
    unverified = {"healthyNodes": 0, "expectedNodes": count, "verifiedBy": "-", "status": status}
    assert outputs == given | VERIFIED | unverified | {"satisfied": False}
    reason = (
        "instance-starting: node instance of plugin aws-ebs0 on a: expected a healthy instance, found it runs, but has "
        "not reported healthy yet; wait; the task has had no errors so far"
    ) + (count - 1) * " (and 1 more: `nomad-csi verify` shows all)"
    assert heard == {"warn": [], "status": [f"plugin aws-ebs0 is not healthy now: {reason}"]}


def test_import_is_refused(context):
    """A bare id says nothing of what to expect."""
    with pytest.raises(errors.RefusedError, match="cannot be imported"):
        HEALTH.read(context, "aws-ebs0", {}, {})
