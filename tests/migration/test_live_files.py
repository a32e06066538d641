"""What an import reads from a cluster: nothing that a file has already, and a remark on what it may not read."""

import dataclasses
from unittest import mock

import pytest

from nomad_csi import errors
from nomad_csi.hcl import values
from nomad_csi.migration import live_files, model
from nomad_csi.nomad import jobs, volumes
from tests import emulated_agent
from tests.cli import option_world

JOBS = {"job default/plugin-ebs-controller", "job default/plugin-ebs-nodes", "job default/plugin-efs-nodes"}
VOLUMES = {"volume default/logs", "volume prod/scratch", "volume prod/web"}

SECRETS = (
    "the cluster: note: Nomad shows neither the secrets of volumes nor whether there are any: if the driver needs them, "
    "pass them by `apply --secrets`, or as Pulumi config secrets, under secrets of the volume"
)
FLAGS = (
    "volume prod/web: missing: mount_options.mount_flags of prod/web: Nomad has some but hides them; fill them in, or "
    "they are dropped"
)


@pytest.fixture(scope="module")
def agent(tmp_path_factory):
    """Return an agent with two plugins of known drivers and three volumes."""
    with emulated_agent.running(tmp_path_factory.mktemp("agent")) as made:
        option_world.running(made)
        yield made


def read(agent, namespace="*", **how):
    """Return the names of the files, and the remarks."""
    remarks = model.Remarks()
    found = live_files.read(agent.client(), namespace, remarks, **how)
    return {each.name for each in found.files}, [str(remark) for remark in remarks.entries]


def without_namespace(file):
    """Return *file* as it is where no job in it has a namespace."""
    unnamed = [
        dataclasses.replace(job, body=values.Map(1, ((k, v, 1) for k, v in job.body.items() if k != "namespace")))
        for job in file.jobs
    ]
    contents = [values.without_lines({k: v for k, v in item.items() if v != "default"}) for item in file.volumes]
    return dataclasses.replace(file, jobs=tuple(unnamed), volumes=tuple(contents))


def test_jobs_and_volumes_are_read(agent):
    """With a remark on what Nomad does not show."""
    assert read(agent) == (JOBS | VOLUMES, [SECRETS, FLAGS])


def test_plugin_that_runs_says_which_driver_it_is(agent):
    """For a driver that the catalogue does not know; all in the order of their names."""
    found = live_files.read(agent.client(), "*", model.Remarks())
    assert list(found.providers.items()) == [("ebs", "ebs.csi.aws.com"), ("efs", "efs.csi.aws.com")]
    assert [file.name for file in found.files] == [*sorted(JOBS), *sorted(VOLUMES)]


@pytest.mark.parametrize("change", [lambda file: file, without_namespace], ids=["as they are", "without a namespace"])
def test_files_that_are_known_are_not_read_again(agent, change):
    """They may have values that Nomad hides; a file without a namespace is of the default one."""
    known = live_files.read(agent.client(), "*", model.Remarks()).files

    assert read(agent, known=[change(file) for file in known])[0] == set()


def test_job_that_the_token_may_not_read_is_named(agent):
    """The others are read."""
    document = jobs.document

    def shown(client, namespace, job_id):
        if job_id == "plugin-ebs-nodes":
            raise errors.NomadApiError("GET", "/v1/job", "Permission denied", status=403, kind="refused")
        return document(client, namespace, job_id)

    with mock.patch.object(jobs, "document", shown):
        names, said = read(agent)

    assert names == (JOBS | VOLUMES) - {"job default/plugin-ebs-nodes"}
    lacking = "the cluster: not read: job default/plugin-ebs-nodes: the token lacks read-job there"
    assert said == [SECRETS, lacking, FLAGS]


def test_other_errors_and_jobs_that_are_stopped(agent):
    """An error other than that of a right ends the import; a job that is stopped or gone runs no plugin."""
    error = errors.NomadApiError("GET", "/v1/job", "no leader", status=500, kind="retry")
    with mock.patch.object(jobs, "document", side_effect=error), pytest.raises(errors.NomadApiError, match="no leader"):
        read(agent)
    with mock.patch.object(jobs, "document", side_effect=[{"Stop": True, "TaskGroups": []}, None, None]):
        assert read(agent)[0] == VOLUMES


def test_topologies_are_those_that_were_asked_for_else_those_of_the_plugin(agent):
    """Nothing is said of secrets where no volume is read."""
    [volume] = volumes.read_each(agent.client(), [("prod", "scratch")]).volumes
    zones = ({"zone": "a"}, {"zone": "b"})
    for required, expected in ((zones[:1], ["a"]), ((), ["a", "b"])):
        found = dataclasses.replace(volume, required_topologies=required, topologies=zones)
        with mock.patch.object(volumes, "read_each", return_value=volumes.Read(volumes=(found,), unread=())):
            [file] = live_files.read(agent.client(), "prod", model.Remarks(), plugin_id="ebs").files[-1:]
        [required_block] = values.blocks(file.volumes[0]["topology_request"][0], "required")
        assert [item["segments"]["zone"] for item in required_block["topology"]] == expected

    assert read(agent, "default", plugin_id="ebs")[1] == []


@pytest.mark.parametrize(
    ("namespace", "how", "expected"),
    [
        ("*", {"plugin_id": "efs"}, {"job default/plugin-efs-nodes", "volume default/logs", "volume prod/web"}),
        ("default", {}, {"job default/plugin-efs-nodes", "volume default/logs"}),
    ],
)
def test_plugin_or_namespace_limits_what_is_read(agent, namespace, how, expected):
    """With the jobs of the plugins of the volumes that are read."""
    assert read(agent, namespace, **how)[0] == expected
