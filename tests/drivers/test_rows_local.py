"""The drivers that need no cloud: what of their rows is a rule, and what an operator reads."""

import re

import pytest
import yaml

from nomad_csi import errors
from nomad_csi.drivers import catalogue
from nomad_csi.plan import storage

DEMOCRATIC, HOSTPATH, NFS = (catalogue.DRIVERS[name] for name in ("democratic-csi", "csi-hostpath", "csi-driver-nfs"))
ZFS = {"driver": "zfs-generic-nfs"}
RAW = {"name": "raw_exec", "command": "/usr/bin/democratic-csi", "client_data_dir": "/opt/nomad"}


def plan(driver, *wanted, **plugin):
    """Plan one plugin with volumes."""
    document = [item | {"plugin_id": "p0"} for item in wanted]
    return storage.plan_document({"plugins": [{"id": "p0", "driver": driver} | plugin], "volumes": document})


def refused(*arguments, **options):
    with pytest.raises(errors.SpecError) as caught:
        plan(*arguments, **options)
    return [str(problem) for problem in caught.value.problems]


def test_name_of_democratic_csi_has_the_id_of_its_plugin():
    """Each plugin answers another name."""
    document = {"plugins": [{"id": "p", "driver": "democratic-csi", "config": ZFS}]}

    [planned] = storage.plan_document(document).plugins

    assert planned.expectation.provider == "org.democratic-csi.p"
    assert catalogue.find_by_provider("org.democratic-csi.p") is DEMOCRATIC
    assert catalogue.find_by_provider("org.democratic-csi.") is None
    assert catalogue.find_by_provider("ebs.csi.aws.com.x") is None
    assert "--csi-name=org.democratic-csi.p" in planned.jobs[0].arguments


def test_version_that_a_driver_answers_is_what_is_compared():
    """democratic-csi answers an older one than its image has, the hostpath driver what its build wrote there."""
    found = {
        driver.name: plan(driver.name, config=config).plugins[0].expectation.version
        for driver, config in ((DEMOCRATIC, ZFS), (HOSTPATH, {}), (NFS, {}))
    }

    assert found == {"democratic-csi": "1.9.0", "csi-hostpath": "", "csi-driver-nfs": "v4.13.4"}


@pytest.mark.parametrize("value", sorted(DEMOCRATIC.config_file.not_in_containers["driver"]))
def test_backend_that_needs_the_clients_files_runs_as_a_process_only(value):
    """In a container its controller would make volumes that nobody finds again."""
    [problem] = refused("democratic-csi", config={"driver": value})

    assert problem.startswith("plugins[0].config.driver: expected a value that works in a container; not this one: ")
    assert problem.endswith("use raw_exec as task_driver")
    assert plan("democratic-csi", config={"driver": value}, task_driver=RAW).plugins


def test_configuration_is_written_as_yaml_with_its_secrets_left_to_the_client():
    """What the driver reads is what the spec says; a secret stands there as an expression only."""
    config = ZFS | {"sshConnection": {"host": "nas.example.net", "password": {"from_secret": "ssh_password"}}}
    credentials = {"nomad_variable": "nomad/jobs/storage"}

    jobs = plan("democratic-csi", config=config, credentials=credentials).plugins[0].jobs

    for job in jobs:
        [template] = job.templates
        filled = re.sub(r'"?\{\{ [^{}]* \| toJSON \}\}"?', '"s3cret"', template.data)
        document = yaml.safe_load(re.sub(r"\{\{.*?\}\}", "", filled))
        assert document == ZFS | {"sshConnection": {"host": "nas.example.net", "password": "s3cret"}}
        assert f"--driver-config-file=${{NOMAD_SECRETS_DIR}}/{template.file_name}" in job.arguments


def test_state_of_the_hostpath_driver_is_the_same_folder_inside_and_outside():
    """So it is found whether the driver runs in a container or not."""
    [job] = plan("csi-hostpath", config={"state_dir": "/srv/volumes"}).plugins[0].jobs

    assert job.binds == ("/srv/volumes:/srv/volumes",)
    assert "--statedir=/srv/volumes" in job.arguments
    assert "--nodeid=${node.unique.name}" in job.arguments
