import pytest

from nomad_csi import errors
from nomad_csi.csi import probe


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


def test_rejects_an_ec2_that_is_not_on_this_machine(start):
    """An emulator never reaches AWS."""
    with pytest.raises(errors.RefusedError, match="talks to loopback addresses only"):
        start("aws-ebs", "controller", AWS_ENDPOINT_URL="https://ec2.us-east-1.amazonaws.com")
