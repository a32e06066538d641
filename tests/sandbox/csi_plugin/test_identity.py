import json

import pytest

from nomad_csi import errors
from nomad_csi.csi import probe
from nomad_csi_sandbox.aws import session


def ask(connection, **more):
    return probe.probe(connection.endpoint.text, timeout_s=30, **more)


def test_controller_answers_as_the_ebs_driver(ebs_controller):
    """Name, version and capabilities are those of the driver, and Probe has asked EC2."""
    report = ask(ebs_controller, role="controller", expect_name="ebs.csi.aws.com")

    assert (report.status, report.vendor_version) == ("ready", "v1.64.0")
    assert report.plugin_capabilities == ("CONTROLLER_SERVICE", "VOLUME_ACCESSIBILITY_CONSTRAINTS")
    assert report.controller_capabilities == (
        "CLONE_VOLUME",
        "CREATE_DELETE_SNAPSHOT",
        "CREATE_DELETE_VOLUME",
        "EXPAND_VOLUME",
        "LIST_SNAPSHOTS",
        "MODIFY_VOLUME",
        "PUBLISH_UNPUBLISH_VOLUME",
    )


def test_controller_without_ec2_is_unhealthy(start):
    """An EBS controller that cannot ask EC2 fails its Probe with the driver's sentence."""
    connection = start("aws-ebs", "controller", AWS_ENDPOINT_URL="http://127.0.0.1:1")

    report = ask(connection)

    assert report.status == "error"
    assert report.detail.startswith(
        "FAILED_PRECONDITION: Failed health check (verify network connection and IAM credentials): "
        "dry-run EC2 API call failed: operation error EC2: DescribeAvailabilityZones, "
    )


def test_node_needs_no_ec2(start):
    """A node plugin is healthy as soon as it runs."""
    assert ask(start("aws-ebs", "node", AWS_ENDPOINT_URL=""), role="node").ready


def test_efs_answers_as_the_efs_driver(start):
    """Its one process serves all, whatever the job calls it."""
    report = ask(start("aws-efs"), role="node", expect_name="efs.csi.aws.com")

    assert (report.status, report.vendor_version) == ("ready", "v3.4.1")
    assert (report.node_capabilities, report.max_volumes) == ((), None)


def test_rejects_an_ec2_that_is_not_on_this_machine(start):
    """An emulator never reaches AWS."""
    with pytest.raises(errors.RefusedError, match="talks to loopback addresses only"):
        start("aws-ebs", "controller", AWS_ENDPOINT_URL="https://ec2.us-east-1.amazonaws.com")


def test_plays_the_role_of_its_instance_where_there_are_no_keys(start):
    """Nomad hands no AWS keys down to tasks."""
    connection = start("aws-ebs", "controller", AWS_ACCESS_KEY_ID="", AWS_SECRET_ACCESS_KEY="")

    assert ask(connection).ready


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        ({"probe": "error"}, "error"),
        ({"probe": "not-ready"}, "not-ready"),
        ({"name": "other.csi.example.com"}, "wrong-name"),
        ({}, "ready"),
    ],
)
def test_faults_on_order_change_the_status(start, tmp_path, fault, status):
    """Each fault is seen by the probe, from one call to the next."""
    file = tmp_path / "faults.json"
    connection = start("aws-efs", NOMAD_CSI_SANDBOX_FAULT_FILE=str(file))
    assert ask(connection, expect_name="efs.csi.aws.com").status == "ready"

    file.write_text(json.dumps(fault))

    assert ask(connection, expect_name="efs.csi.aws.com").status == status


def test_hang_on_order_is_silence(start, tmp_path):
    """A plugin told to hang answers nothing, and still ends with the test."""
    file = tmp_path / "faults.json"
    file.write_text('{"probe": "hang"}')
    connection = start("aws-efs", NOMAD_CSI_SANDBOX_FAULT_FILE=str(file))

    assert probe.probe(connection.endpoint.text, timeout_s=0.3).status == "silent"
    file.write_text("{}")
    assert ask(connection).ready


def test_denied_permission_is_told_as_the_driver_tells_it(start, monkeypatch):
    """An access error of EC2 arrives with operation, status and code."""
    client = session.isolated("sandbox", "sandbox").client("ec2", region_name="us-east-1")
    answer = {
        "Error": {"Code": "AccessDenied", "Message": "not authorized"},
        "ResponseMetadata": {"HTTPStatusCode": 403, "RequestId": "r-1"},
    }

    def refuse(*_, **__):
        raise client.exceptions.ClientError(answer, "DescribeAvailabilityZones")

    monkeypatch.setattr("botocore.client.BaseClient._make_api_call", refuse)

    assert (
        "operation error EC2: DescribeAvailabilityZones, https response error StatusCode: 403, RequestID: r-1, "
        "api error AccessDenied: not authorized"
    ) in ask(start("aws-ebs", "controller")).detail
