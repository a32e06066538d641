import socket
import threading
import time
from pathlib import Path

import pytest

from nomad_csi import errors
from nomad_csi.csi import channel, probe
from tests import deadlines


def test_ready_plugin_is_reported_with_all_answers(start_plugin):
    """Identity, controller and node are asked when no role is named."""
    plugin = start_plugin()

    report = probe.probe(f"unix://{plugin.socket}", timeout_s=deadlines.PATIENT_S)

    assert report.ready
    assert report.as_json() == {
        "endpoint": f"unix://{plugin.socket}",
        "ready": True,
        "status": "ready",
        "detail": "every question was answered as expected",
        "latency_ms": round(report.latency_ms, 1),
        "name": "ebs.csi.aws.com",
        "vendor_version": "v1.64.0",
        "plugin_capabilities": [
            "99",
            "CONTROLLER_SERVICE",
            "UNKNOWN",
            "VOLUME_ACCESSIBILITY_CONSTRAINTS",
            "VOLUME_EXPANSION_ONLINE",
        ],
        "controller_capabilities": ["CREATE_DELETE_VOLUME", "PUBLISH_UNPUBLISH_VOLUME"],
        "node_capabilities": ["STAGE_UNSTAGE_VOLUME"],
        "node_id": "i-0abc",
        "segments": {"zone": "us-east-1a"},
        "max_volumes": 26,
    }


@pytest.mark.parametrize("form", ["127.0.0.1:{}", "tcp://127.0.0.1:{}", "localhost:{}"])
def test_plugin_that_listens_on_tcp_is_probed_all_the_same(start_plugin, form):
    """By address or by name, with the scheme or without."""
    where = form.format(start_plugin().port)

    report = probe.probe(where, timeout_s=deadlines.PATIENT_S, expect_name="ebs.csi.aws.com", role="monolith")

    assert (report.endpoint, report.status, report.node_id) == (where, "ready", "i-0abc")


def test_number_of_volumes_that_is_not_known_is_none(start_plugin):
    """A plugin that sets no limit answers 0."""
    assert probe.probe(start_plugin(most=0).socket, timeout_s=deadlines.PATIENT_S).max_volumes is None


def test_role_decides_what_is_asked(start_plugin):
    """A controller that also serves Node is asked as a controller only."""
    report = probe.probe(start_plugin().socket, timeout_s=deadlines.PATIENT_S, role="controller")

    assert report.controller_capabilities == ("CREATE_DELETE_VOLUME", "PUBLISH_UNPUBLISH_VOLUME")
    assert (report.node_id, report.node_capabilities) == ("", None)


@pytest.mark.parametrize(("serves", "role"), [("controller", "node"), ("node", "controller"), ("node", "monolith")])
def test_wrong_role_is_seen_by_what_is_not_implemented(start_plugin, serves, role):
    """Identity answers the same in every role; only UNIMPLEMENTED tells them apart."""
    report = probe.probe(start_plugin(serves=(serves,)).socket, timeout_s=deadlines.PATIENT_S, role=role)

    absent = "node" if serves == "controller" else "controller"
    assert report.status == "wrong-role"
    assert report.detail == f"role: expected {role}, it serves no {absent}; {channel.ADVICE['UNIMPLEMENTED']}"


def test_any_role_is_enough_when_none_is_expected(start_plugin):
    """A node plugin is ready without being a controller."""
    report = probe.probe(start_plugin(serves=("node",)).socket, timeout_s=deadlines.PATIENT_S)

    assert (report.status, report.controller_capabilities) == ("ready", None)


def test_plugin_that_serves_nothing_has_the_wrong_role(start_plugin):
    """Identity alone is no plugin that anyone can use."""
    report = probe.probe(start_plugin(serves=()).socket, timeout_s=deadlines.PATIENT_S)

    assert report.status == "wrong-role"
    assert report.detail == "it serves neither CSI's Controller nor its Node service; it cannot be used"


def test_plugin_that_still_starts_is_not_ready(start_plugin):
    """`ready` false is no error and no health."""
    report = probe.probe(start_plugin(probe="not-ready").socket, timeout_s=deadlines.PATIENT_S)

    assert (report.status, report.ready) == ("not-ready", False)
    assert report.detail == "the plugin reports that it is still starting; wait, then check its logs"


@pytest.mark.parametrize("expected", ["ebs.csi.aws.com", "csi.aws.com"])
def test_ready_plugin_with_another_name_is_the_wrong_one(start_plugin, expected):
    """A healthy EFS plugin behind an EBS plugin's socket is not what was asked for."""
    plugin = start_plugin(name="efs.csi.aws.com", probe="ready")

    report = probe.probe(plugin.socket, timeout_s=deadlines.PATIENT_S, expect_name=expected)

    assert (report.status, report.name) == ("wrong-name", "efs.csi.aws.com")
    image = "compare the image with the plugin's driver"
    assert report.detail == f"name: expected {expected}, got efs.csi.aws.com; {image}"


@pytest.mark.parametrize(
    ("answers", "detail"),
    [
        ({"name": ""}, "GetPluginInfo: the name is empty; Nomad does not register such a plugin"),
        ({"node_id": ""}, "NodeGetInfo: the node id is empty; no volume can be attached to this node"),
        ({"probe": "FAILED_PRECONDITION"}, "FAILED_PRECONDITION: told to fail"),
        ({"probe": "UNIMPLEMENTED"}, f"UNIMPLEMENTED: told to fail; {channel.ADVICE['UNIMPLEMENTED']}"),
        ({"probe": "INTERNAL: EC2: connection refused"}, "INTERNAL: EC2: connection refused"),
    ],
)
def test_broken_answers_are_errors(start_plugin, answers, detail):
    """What breaks the specification, or says that it is broken, is unhealthy; its words arrive in one line."""
    report = probe.probe(start_plugin(**answers).socket, timeout_s=deadlines.PATIENT_S)

    assert (report.status, report.detail) == ("error", detail)


def test_missing_socket_is_a_result(folder):
    """Nothing runs there: that is an answer, not a failed call."""
    report = probe.probe(str(folder / "csi.sock"))

    assert report.status == "missing"
    assert report.detail == (
        "no such socket; the plugin is not running here, has not come up yet, or listens elsewhere: compare its --endpoint"
    )


def test_socket_of_a_dead_process_is_missing(folder):
    """A killed plugin leaves its socket behind."""
    path = str(folder / "csi.sock")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)

    report = probe.probe(path, timeout_s=deadlines.PATIENT_S)

    assert report.status == "missing"
    assert report.detail == "nothing listens there: the process has ended; check the allocation and its logs"


def test_cancelled_probe_raises(start_plugin):
    """An interrupted probe has no status."""
    cancelled = threading.Event()
    cancelled.set()

    with pytest.raises(errors.CancelledError):
        probe.probe(start_plugin(probe="hang").socket, timeout_s=deadlines.PATIENT_S, cancelled=cancelled)


def test_hung_plugin_is_silent_after_the_whole_deadline(start_plugin):
    """The deadline counts for all questions together."""
    report = probe.probe(start_plugin(probe="hang").socket, timeout_s=0.3)

    assert report.status == "silent"
    assert report.latency_ms >= 250


def test_fifty_hung_probes_leave_nothing_behind(folder):
    """A socket that accepts and never speaks costs no thread and no open file."""
    path = str(folder / "csi.sock")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen(128)
        probe.probe(path, timeout_s=0.01)  # what gRPC keeps for the whole process is there after the first
        before = _threads_and_files()

        reports = [probe.probe(path, timeout_s=0.01) for _ in range(50)]

        after = _settled(before)
        assert {report.status for report in reports} == {"silent"}
        assert (after[0] <= before[0], after[1] <= before[1]) == (True, True)


def _entries(kind):
    return len(list(Path("/proc/self", kind).iterdir()))


def _threads_and_files():
    return _entries("task"), _entries("fd")


def _settled(limit):
    """Return threads and open files once they are within *limit*, or as they are after 20 s."""
    end = time.monotonic() + deadlines.PATIENT_S
    found = _threads_and_files()
    while time.monotonic() < end and (found[0] > limit[0] or found[1] > limit[1]):
        time.sleep(0.05)
        found = _threads_and_files()
    return found


def test_answers_are_shown_without_secrets(start_plugin):
    """A plugin may answer what it was started with."""
    plugin = start_plugin(version="v1 --password=canary-31", node_id="i-1 token=canary-32")

    report = probe.probe(plugin.socket, timeout_s=deadlines.PATIENT_S)

    assert (report.vendor_version, report.node_id) == ("v1 --password=[secret]", "i-1 token=[secret]")
    plugin.name = "csi token=canary-33"
    report = probe.probe(plugin.socket, timeout_s=deadlines.PATIENT_S, expect_name="x")
    assert report.detail == "name: expected x, got csi token=[secret]; compare the image with the plugin's driver"
