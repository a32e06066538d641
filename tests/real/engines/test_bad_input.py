"""Bad input: the same words from both engines, each cause told once, and no traceback."""

import re

import pytest

NOWHERE = ("NOMAD_ADDR=http://127.0.0.1:1",)
NO_KEYS = ("-u", "AWS_ACCESS_KEY_ID", "-u", "AWS_SECRET_ACCESS_KEY")


@pytest.fixture
def asked(settled):
    """Change the spec and run the engine: ``asked(change, "preview")``. Return what it did."""

    def ask(change, *words, **options):
        settled.sandbox.edit(change)
        return settled.run(*words, **options)

    return ask


@pytest.fixture
def mended(settled):
    """The shared sandbox, put back by `up` once the test is over."""
    before = settled.sandbox.config.read_text()
    yield settled
    settled.sandbox.config.write_text(before)
    done = settled.run("up", "--skip-preview")
    assert done.code == 0, done.text


def break_two(storage):
    storage["volumes"][0]["ebs"]["size_gib"] = 0
    storage["volumes"][1]["id"] = "no spaces"


def three_controllers(storage):
    storage["plugins"][0]["controller"]["count"] = 3


def other_file_system(storage):
    storage["volumes"][0]["mount_options"] = {"fs_type": "xfs"}


def nothing(_storage):
    """Change nothing."""


def take_over(storage):
    """Ask for a volume under an id that is registered as something else."""
    ebs = {"availability_zone": "us-east-1a", "size_gib": 8}
    storage["volumes"].append({"id": "theirs", "plugin_id": "aws-ebs0", "ebs": ebs})


def test_all_problems_of_the_spec_are_told_at_once(asked, noise):
    """Before anything is asked of AWS or Nomad, and without warnings of Python."""
    done = asked(break_two, "preview")

    assert (done.code, noise(done.text)) == (1, []), done.text
    assert {re.sub(r"^line \d+:", "line N:", line) for line in done.diagnostics()} == {
        "pulumi:pulumi:Stack (nomad-csi-sandbox):",
        "error: nomad-csi:storage in Pulumi.sandbox.yaml: 2 problems",
        "line N: volumes[0] (mysql).ebs.size_gib: expected 1 to 65536 for gp3, got 0",
        "line N: volumes[1].id: expected letters, digits, '.', '_' or '-', not '.' or '..', optionally an index like [0] at the end, "
        "got 'no spaces'",
    }


@pytest.mark.usefixtures("mended")
def test_more_controllers_than_clients_end_the_wait_at_once(asked, noise):
    """With what to do; the gate does not wait for what cannot come."""
    done = asked(three_controllers, "up", "--skip-preview")

    assert (done.code, noise(done.text)) == (1, []), done.text
    assert done.diagnostics() == {
        "nomad-csi:index:PluginHealth (aws-ebs0):",
        "error: plugin aws-ebs0 cannot become healthy; nothing was registered",
        "controllers-exceed-nodes: plugin aws-ebs0: expected one client for each of 3 controllers, "
        "found 2 eligible clients; set controller.count to 2 or less, or add clients",
        "nomad-csi:index:PluginJob (aws-ebs0-controller):",
        "warning: group controller of job default/plugin-aws-ebs0-controller cannot be placed yet: "
        "distinct_hosts (2 nodes)",
        "pulumi:pulumi:Stack (nomad-csi-sandbox):",
        "error: update failed",
    }


def test_nomad_out_of_reach_is_named_with_its_address(asked, noise):
    """What could not be compared is said to be so, and the question for the id of the cluster fails in one line."""
    done = asked(other_file_system, "up", "--skip-preview", environment=NOWHERE)

    assert (done.code, noise(done.text)) == (1, []), done.text
    errors = {line for line in done.diagnostics() if line.startswith("error: ")}
    [told] = {line for line in errors if "127.0.0.1" in line}
    assert told.startswith(
        "error: GET /v1/var/nomad-csi/cluster: http://127.0.0.1:1: no connection: Connection refused; check NOMAD_ADDR"
    ), errors
    assert "warning: http://127.0.0.1:1 is not reachable: volume default/mysql was not compared" in done.diagnostics()


def test_missing_credentials_are_told_before_anything_is_made(asked, noise):
    """By the program: it asks AWS first what an interrupted run may have left."""
    done = asked(nothing, "preview", environment=NO_KEYS)

    assert (done.code, noise(done.text)) == (1, []), done.text
    assert done.diagnostics() == {
        "pulumi:pulumi:Stack (nomad-csi-sandbox):",
        "error: AWS credentials: none found; set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    }


@pytest.fixture
def theirs(mended):
    """An EBS volume of somebody else's, registered as ``theirs``. Return its id."""
    ec2 = mended.sandbox.aws("ec2")
    volume_id = ec2.create_volume(AvailabilityZone="us-east-1a", Size=1)["VolumeId"]
    capability = {"AccessMode": "single-node-writer", "AttachmentMode": "file-system"}
    volume = {"ID": "theirs", "Name": "theirs", "Namespace": "default", "ExternalID": volume_id}
    volume |= {"PluginID": "aws-ebs0", "RequestedCapabilities": [capability]}
    with mended.sandbox.nomad() as client:
        client.request("PUT", "/v1/volume/csi/theirs", body={"Volumes": [volume]})
        yield volume_id
        client.request("DELETE", "/v1/volume/csi/theirs")
    ec2.delete_volume(VolumeId=volume_id)


def test_registration_that_is_somebody_elses_is_not_taken_over(settled, theirs, asked, noise):
    """The refusal says what differs, and how to take it over; Nomad still has theirs."""
    done = asked(take_over, "up", "--skip-preview")

    assert (done.code, noise(done.text)) == (1, []), done.text
    assert "nomad-csi:index:VolumeRegistration (theirs):" in done.diagnostics()
    [told] = {line for line in done.diagnostics() if line.startswith("error: ")} - {"error: update failed"}
    assert "adopt" in told, told
    with settled.sandbox.nomad() as client:
        assert client.request("GET", "/v1/volume/csi/theirs").data["ExternalID"] == theirs
