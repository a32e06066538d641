"""Each setting of a plugin: what it becomes in the files that Nomad reads, and in what is expected of the plugin."""

from pathlib import Path

import pytest

from nomad_csi.hcl import documents, read
from nomad_csi.plan import storage
from nomad_csi.plan.model import Constraint
from tests import tables

ROWS = tables.load(Path(__file__).with_name("settings.yaml"))
BASE = {"id": "ebs", "driver": "aws-ebs", "aws_region": "us-east-1"}
OWN = {
    "name": "own",
    "provider": "own.example.com",
    "image": "registry.example.com/team/own:1",
    "roles": {"monolith": {"job_type": "service", "arguments": ["--endpoint=${CSI_ENDPOINT}"], "ipc_mode": "host"}},
    "capabilities": [{"access_mode": "single-node-writer"}],
}
PROCESS = {"name": "raw_exec", "command": "/opt/driver", "client_data_dir": "/opt/nomad"}


def planned(**settings):
    """Return the plan of the plugin of `BASE` with *settings*."""
    [plan] = storage.plan_document({"plugins": [BASE | settings]}).plugins
    return plan


def at(value, path):
    """Return what is at *path* of a parsed file: a step into a list of blocks is one into its first."""
    for step in path.split("."):
        value = value[0] if isinstance(value, list) else value
        value = None if value is None else value.get(step)
    return value


@pytest.mark.parametrize("row", [pytest.param(row, id=f"{row['what']} {index}") for index, row in enumerate(ROWS)])
def test_setting_is_written_into_the_files_of_its_roles(row):
    """Those of the driver where none is given."""
    files = {job.role: read.read_job(documents.job_file(job))["job"] for job in planned(**row["settings"]).jobs}

    found = {role: {path: at(files[role], path) for path in paths} for role, paths in row["files"].items()}
    assert found == row["files"]
    assert files.keys() == row["files"].keys()


def test_constraints_and_the_zone_are_those_of_the_jobs_and_of_what_is_expected():
    """The count of clients follows the same constraints as Nomad's scheduler."""
    plan = planned(availability_zone="us-east-1b", constraints=[{"attribute": "${meta.storage}", "operator": "is_set"}])

    constraints = (
        Constraint(attribute="${attr.platform.aws.placement.availability-zone}", operator="=", value="us-east-1b"),
        Constraint(attribute="${meta.storage}", operator="is_set", value=""),
    )
    assert [plan.expectation.constraints, *(job.constraints for job in plan.jobs)] == [constraints] * 3


def test_count_of_a_monolith_is_that_of_its_instances():
    """A service monolith has so many instances, each controller and node."""
    plan = planned(driver=OWN, aws_region=None, monolith={"count": 2})

    assert [(job.role, job.count, job.says_type) for job in plan.jobs] == [("monolith", 2, False)]
    assert planned(driver=OWN, aws_region=None, monolith={"job_type": "system"}).jobs[0].says_type
    expected = plan.expectation
    assert (expected.monolith, expected.nodes, expected.controllers) == (True, 2, 0)
    assert planned(controller={"count": 3}).expectation.controllers == 3


VENDOR = OWN | {"version": "v1", "vendor_version": "1.0.0"}


@pytest.mark.parametrize(
    ("settings", "version"),
    [
        ({}, "v1.64.0"),
        ({"image": "own/driver:v1.60.0"}, ""),
        ({"task_driver": PROCESS}, ""),
        ({"driver": VENDOR, "aws_region": None}, "1.0.0"),
        ({"driver": VENDOR, "aws_region": None, "image": "own/driver:v2"}, ""),
    ],
)
def test_version_is_expected_of_the_catalogues_image_alone(settings, version):
    """Nobody but its maker knows what another one will answer."""
    assert planned(**settings).expectation.version == version


def test_needs_are_those_of_the_task_driver():
    """The notes for the operator; Podman's task driver has the IPC mode since 0.6.5."""
    hop = "an instance metadata hop limit of at least 2, because the container is one hop away"
    docker, podman = (planned(task_driver={"name": name}).jobs[1].needs for name in ("docker", "podman"))

    assert docker == ("docker with allow_privileged = true", hop)
    assert podman == ("Podman's task driver", hop)
    assert planned(host_network=True).jobs[1].needs == ("docker with allow_privileged = true",)
    [job] = planned(driver=OWN, aws_region=None, task_driver={"name": "podman"}).jobs
    assert job.needs == ("Podman's task driver, 0.6.5 or newer for ipc_mode",)


@pytest.mark.parametrize("image", [None, "own/driver:v2"])
def test_digest_of_the_driver_is_that_of_its_own_image(image):
    """Another image has another one."""
    driver = OWN | {"image_digest": f"sha256:{'a' * 64}"}

    [job] = planned(driver=driver, aws_region=None, image=image).jobs

    assert job.image == (image or f"{OWN['image']}@{driver['image_digest']}")


def test_metrics_of_a_monolith_are_at_the_port_itself():
    """Only a controller, which may share its client with a node, is at the next one."""
    role = OWN["roles"]["monolith"] | {"optional_arguments": {"metrics_port": "--metrics={metrics_port}"}}

    [job] = planned(driver=OWN | {"roles": {"monolith": role}}, aws_region=None, metrics_port=9000).jobs

    assert (job.metrics_port, job.arguments[-1]) == (9000, "--metrics=9000")


def test_jobs_have_the_ids_that_the_spec_names():
    """The other job keeps its usual one; the file's name is the plugin's."""
    plan = planned(job_ids={"node": "plugin-ebs-nodes"})

    assert [(job.job_id, job.file_name) for job in plan.jobs] == [
        ("plugin-ebs-controller", "jobs/ebs-controller.nomad.hcl"),
        ("plugin-ebs-nodes", "jobs/ebs-node.nomad.hcl"),
    ]
