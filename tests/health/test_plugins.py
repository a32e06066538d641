"""A plugin is healthy when everything that the plan expects is there, and never for want of anything to count."""

import pytest

from nomad_csi.health import plugins as statuses


def codes(status):
    """Return severity and code of each finding."""
    return [(finding.severity, finding.code) for finding in status.findings]


def test_healthy_when_all_expected_instances_are(expected, node, instance, seen):
    """One controller and a node instance on each of two clients is all that was asked."""
    there = seen(instance("controller", "a"), instance("node", "a"), instance("node", "b"))

    status = statuses.compare_plugin(expected(), there, (node("a"), node("b")))

    assert (status.status, status.findings, status.evidence) == ("healthy", (), "nomad")
    assert status.counts == "2/2 nodes, 1/1 controllers"
    assert [(row.role, row.node_name, row.zone) for row in status.instances] == [
        ("controller", "a", ""),
        ("node", "a", "us-east-1a"),
        ("node", "b", "us-east-1a"),
    ]


def test_zero_of_zero_is_not_healthy(expected, seen):
    """Right after registration Nomad expects 0 and has 0; without a client there is nothing to be healthy."""
    status = statuses.compare_plugin(expected(controllers=0), seen(), ())

    assert status.status == "missing"
    assert status.counts == "0/0 nodes"
    assert status.evidence == "-"


def test_missing_node_says_what_its_task_reported(expected, node, instance, seen, ran):
    """The allocation that should serve the client explains it, not a neighbour's."""
    there = seen(
        instance("node", "a"),
        ran=[
            ran("node", "a"),
            ran("node", "b", events=[("Driver Failure", "failed to pull image")]),
            ran("controller", "b", events=[("Setup Failure", "other")]),
        ],
    )

    status = statuses.compare_plugin(expected(controllers=0), there, (node("a"), node("b")))

    assert [str(finding) for finding in status.findings] == [
        "instance-unhealthy: node instance of plugin aws-ebs0 on b: expected a healthy instance, found Driver Failure: "
        "failed to pull image; check its task events with `nomad alloc status node-b`, then `nomad alloc logs "
        "-stderr node-b`"
    ]
    assert [line.text for line in status.explanations] == [
        "Driver Failure: failed to pull image",
        "Setup Failure: other",
    ]


@pytest.mark.parametrize(("restarts", "code"), [(2, "instance-unhealthy"), (3, "instance-flapping")])
def test_task_that_was_never_healthy_flaps_after_three_restarts(expected, node, seen, ran, restarts, code):
    """Before that it may still come up."""
    events = [("Terminated", "Exit Code: 1"), ("Restarting", "")]
    there = seen(ran=[ran("node", "a", restarts=restarts, events=events)])

    status = statuses.compare_plugin(expected(controllers=0), there, (node("a"),))

    assert codes(status) == [("error", code)]


@pytest.mark.parametrize(
    ("changes", "is_enough"), [({}, True), ({"draining": True}, False), ({"eligible": False}, True)]
)
def test_controller_on_a_client_that_is_drained_does_not_count(expected, node, instance, seen, changes, is_enough):
    """It ends with the drain; one on a client that only takes nothing new stays."""
    there = seen(instance("controller", "c"), instance("node", "a"))

    status = statuses.compare_plugin(expected(), there, (node("a"), node("c", **{"drivers": {}} | changes)))

    assert (status.healthy_controllers, status.ok) == (int(is_enough), is_enough)


@pytest.mark.parametrize(("wanted", "code"), [("run", "instance-starting"), ("stop", "node-missing")])
def test_task_that_is_to_stop_will_be_no_instance(expected, node, seen, ran, wanted, code):
    """It may run on until its end."""
    there = seen(ran=[ran("node", "a", desired_status=wanted)])

    status = statuses.compare_plugin(expected(controllers=0), there, (node("a"),))

    assert codes(status) == [("error", code)]


@pytest.mark.parametrize(
    ("role", "wanted", "has", "is_lacking"),
    [
        ("node", {"node_supports": ("ExpandVolume", "StageVolume")}, {"StageVolume"}, True),
        ("node", {"node_supports": ("StageVolume",)}, {"ExpandVolume", "StageVolume"}, False),
        ("node", {"controller_supports": ("AttachDetach",)}, {"StageVolume"}, False),
        ("controller", {"controller_supports": ("AttachDetach", "Clone")}, {"AttachDetach"}, True),
    ],
)
def test_instance_that_lacks_one_capability_is_not_healthy(
    expected, node, instance, seen, role, wanted, has, is_lacking
):
    """However many others it has; what the other role needs is not asked of it."""
    changes = {role: {"supports": frozenset(has)}}
    there = seen(*(instance(each, "a", **changes.get(each, {})) for each in ("controller", "node")))

    status = statuses.compare_plugin(expected(**wanted), there, (node("a"),))

    [row] = [item for item in status.instances if item.role == role]
    assert (row.status == "wrong-capability") is is_lacking


@pytest.mark.parametrize(("restarts", "state"), [(4, "healthy"), (5, "restarted")])
def test_instance_that_restarted_once_since_the_last_check_is_not_healthy(
    expected, node, instance, seen, ran, restarts, state
):
    """Nomad calls it healthy all the time."""
    before = seen(instance("node", "a"), ran=[ran("node", "a", restarts=4)])
    now = seen(instance("node", "a"), ran=[ran("node", "a", restarts=restarts)])

    status = statuses.compare_plugin(expected(controllers=0), now, (node("a"),), before)

    assert status.instances[0].status == state


@pytest.mark.parametrize(
    ("changes", "more", "code", "state", "detail"),
    [
        (
            {"healthy": False, "health_description": "failed\nfingerprinting"},
            {},
            "instance-unhealthy",
            "unhealthy",
            "Nomad reports: failed fingerprinting",
        ),
        (
            {"healthy": False, "health_description": ""},
            {},
            "instance-unhealthy",
            "unhealthy",
            "Nomad reports: unhealthy",
        ),
        (
            {"healthy": False, "health_description": "rpc error: code = DeadlineExceeded"},
            {},
            "instance-hung",
            "hung",
            "Nomad reports: rpc error: code = DeadlineExceeded",
        ),
        ({"provider": "other.csi"}, {}, "provider-differs", "wrong-identity", "it reports other.csi"),
        ({"provider_version": "v1.63.0"}, {}, "version-differs", "wrong-identity", "version v1.63.0"),
        ({"provider_version": ""}, {}, "version-differs", "wrong-identity", "version not given"),
        (
            {},
            {"client_status": "pending"},
            "instance-unhealthy",
            "unhealthy",
            "Nomad lists it as healthy, but its allocation is pending",
        ),
        (
            {},
            {"outdated": "it runs version 1 of its job"},
            "instance-outdated",
            "outdated",
            "it runs version 1 of its job",
        ),
    ],
)
def test_instance_that_is_not_as_planned(expected, node, instance, seen, ran, changes, more, code, state, detail):
    """Each way of not being healthy has a code and names its source."""
    there = seen(instance("node", "a", **changes), ran=[ran("node", "a", **more)])

    status = statuses.compare_plugin(expected(controllers=0), there, (node("a"),))

    assert codes(status) == [("error", code)]
    assert (status.status, status.instances[0].status) == (state, state)
    assert (status.instances[0].detail, status.healthy_nodes) == (detail, 0)


def test_instance_on_a_client_that_needs_none_is_a_note(expected, node, instance, seen):
    """A node instance left on a drained or unknown client neither counts nor fails."""
    there = seen(instance("node", "a"), instance("node", "b"), instance("node", "gone", healthy=False))

    status = statuses.compare_plugin(expected(controllers=0), there, (node("a"), node("b", draining=True)))

    assert codes(status) == [("warning", "client-not-counted"), ("warning", "instance-extra")]
    assert status.counts == "1/1 nodes"
    assert [row.detail for row in status.instances if row.is_extra] == [
        "not needed there (draining)",
        "Nomad reports: healthy; on a client that Nomad does not list",
    ]


def test_csi_proof_that_cannot_be_had_is_a_finding(expected, node, instance, seen):
    """Where the plan wants the plugin's own answers, Nomad's word is not enough."""
    status = statuses.compare_plugin(expected(controllers=0, evidence="csi"), seen(instance("node", "a")), (node("a"),))

    assert [str(finding) for finding in status.findings] == [
        "csi-unverified: node instance of plugin aws-ebs0 on a: expected its own answers over its CSI socket, found "
        "only Nomad's status: its socket is not on this machine; for `pulumi up`, set verify.on_nodes in the spec; "
        "here, use --on-nodes, or run as root on that client; or set verify.evidence to nomad"
    ]
    assert status.healthy_nodes == 1
