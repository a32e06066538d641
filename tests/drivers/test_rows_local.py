"""The drivers that need no cloud: what of their rows is a rule, and what an operator reads."""

import re

import pytest
import yaml

from nomad_csi import errors
from nomad_csi.drivers import catalogue
from nomad_csi.plan import storage

DEMOCRATIC, HOSTPATH, NFS = (catalogue.DRIVERS[name] for name in ("democratic-csi", "csi-hostpath", "csi-driver-nfs"))
ZFS = {"driver": "zfs-generic-nfs"}
ISCSI = {"node_attach_driver": "iscsi", "provisioner_driver": "zfs-generic-iscsi", "iqn": "iqn.x:y", "lun": "0"}
SHARE = {"server": "nas.example.net", "share": "/export"}
RAW = {"name": "raw_exec", "command": "/usr/bin/democratic-csi", "client_data_dir": "/opt/nomad"}


def plan(driver, *wanted, **plugin):
    """Plan one plugin with volumes."""
    document = [item | {"plugin_id": "p0"} for item in wanted]
    return storage.plan_document({"plugins": [{"id": "p0", "driver": driver} | plugin], "volumes": document})


def existing(external_id="data", **more):
    return {"id": "data", "existing": {"external_id": external_id}} | more


def create(**more):
    return {"id": "data", "create": {"capacity_min_gib": 1}} | more


def refused(*arguments, **options):
    with pytest.raises(errors.SpecError) as caught:
        plan(*arguments, **options)
    return [str(problem) for problem in caught.value.problems]


def test_name_of_democratic_csi_has_the_id_of_its_plugin():
    """Each plugin answers another name."""
    document = {"plugins": [{"id": "p", "driver": "democratic-csi", "config": ZFS}]}

    [planned] = storage.plan_document(document).plugins

    assert planned.expectation.provider == "org.democratic-csi.p"
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


def test_one_portal_or_several_are_enough_for_iscsi():
    """Either key will do; with neither the volume is refused."""
    for key in ("portal", "portals"):
        assert plan("democratic-csi", existing(context=ISCSI | {key: "nas.example.net"}), config=ZFS).volumes

    assert refused("democratic-csi", existing(context=ISCSI), config=ZFS) == [
        "volumes[0].context.portal|portals: expected a value, which node_attach_driver 'iscsi' calls for, got nothing; "
        "add portal or portals"
    ]


def test_context_is_wanted_of_what_exists_and_not_of_what_is_made():
    """The plugin writes the context of its own volumes."""
    assert plan("democratic-csi", create(), config=ZFS).volumes
    missing = refused("democratic-csi", existing(), config=ZFS)
    assert [problem.partition(":")[0] for problem in missing] == [
        "volumes[0].context.node_attach_driver",
        "volumes[0].context.provisioner_driver",
    ]


def test_share_stands_in_the_context_of_what_exists_and_in_the_parameters_of_what_is_made():
    """The NFS driver reads one at a mount and the other at a creation, in upper and lower case alike."""
    assert plan("csi-driver-nfs", existing(context=SHARE)).volumes
    assert plan("csi-driver-nfs", create(parameters={"Server": "nas.example.net", "SHARE": "/export"})).volumes
    assert [problem.partition(":")[0] for problem in refused("csi-driver-nfs", create())] == [
        "volumes[0].parameters.server",
        "volumes[0].parameters.share",
    ]


def test_state_of_the_hostpath_driver_is_the_same_folder_inside_and_outside():
    """So it is found whether the driver runs in a container or not."""
    [job] = plan("csi-hostpath", config={"state_dir": "/srv/volumes"}).plugins[0].jobs

    assert job.binds == ("/srv/volumes:/srv/volumes",)
    assert "--statedir=/srv/volumes" in job.arguments
    assert "--nodeid=${node.unique.name}" in job.arguments
