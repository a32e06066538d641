"""Every driver of the catalogue with every role, access mode and attachment mode: what works passes, the rest is told."""

import itertools

import pytest

from nomad_csi import errors
from nomad_csi.drivers import catalogue
from nomad_csi.plan import storage
from nomad_csi.spec import names

EXTERNAL_IDS = {
    "aws-ebs": "vol-0123456789abcdef0",
    "aws-efs": "fs-0123456789abcdef0",
    "gce-pd": "projects/p/zones/us-central1-a/disks/data",
    "digitalocean": "506f78a4-e098-11e5-ad9f-000f53306ae1",
    "democratic-csi": "data",
    "csi-hostpath": "f3f0ef5c-3c5b-11ee-9d5a-0242ac120002",
    "csi-driver-nfs": "nas.example.net#export#data",
    "hetzner": "12345678",
    "smb": "nas.example.net/share#data#",
    "seaweedfs": "data",
    "rocketduck-nfs": "data",
    "ceph-rbd": "data",
    "cephfs": "data",
}
PLUGINS = {
    "aws-ebs": {"aws_region": "us-east-1"},
    "aws-efs": {"aws_region": "us-east-1"},
    "digitalocean": {"credentials": {"nomad_variable": "nomad/jobs"}},
    "portworx": {"config": {"cluster_id": "px"}},
    "democratic-csi": {"config": {"driver": "freenas-nfs"}},
    "hetzner": {"credentials": {"nomad_variable": "nomad/jobs"}},
    "seaweedfs": {"config": {"filer": "filer.example.net:8888"}},
    "rocketduck-nfs": {"config": {"nfs_server": "nas.example.net:/export"}},
    "ceph-rbd": {"credentials": {"nomad_variable": "nomad/jobs"}},
    "cephfs": {"credentials": {"nomad_variable": "nomad/jobs"}},
}
ZONES = {"aws-ebs": "us-east-1a", "gce-pd": "us-central1-a", "digitalocean": "nyc3", "hetzner": "fsn1"}
CONTEXTS = {
    "democratic-csi": {"node_attach_driver": "nfs", "provisioner_driver": "freenas-nfs", "server": "s", "share": "/s"},
    "csi-driver-nfs": {"server": "nas.example.net", "share": "/export"},
    "smb": {"source": "//nas.example.net/share"},
}
SECRETS = {"ceph-rbd": {"userID": "nomad", "userKey": "key"}}
CASES = [
    (driver.name, access_mode, attachment_mode)
    for driver in catalogue.DRIVERS.values()
    for access_mode, attachment_mode in itertools.product(names.ACCESS_MODES, names.ATTACHMENT_MODES)
]


def document(name, **volume):
    driver = catalogue.DRIVERS[name]
    plugin = {"id": "p", "driver": name} | PLUGINS.get(name, {})
    zone = {"availability_zone": ZONES[name]} if name in ZONES else {}
    if driver.registers:
        source = {"existing": {"external_id": EXTERNAL_IDS[name]} | zone, "context": CONTEXTS.get(name, {})}
    else:
        source = {"create": {"capacity_min_gib": 1} | zone}
    source |= {"secrets": SECRETS[name]} if name in SECRETS else {}
    return {"plugins": [plugin], "volumes": [{"id": "v", "plugin_id": "p"} | source | volume]}


def problems(spec):
    try:
        storage.plan_document(spec)
    except errors.SpecError as error:
        return [str(problem) for problem in error.problems]
    return []


@pytest.mark.parametrize(("name", "access_mode", "attachment_mode"), CASES)
def test_mode_works_or_is_refused_with_what_works(name, access_mode, attachment_mode):
    """Nomad would register each of them; a driver refuses those of the others when a job asks for the volume."""
    driver = catalogue.DRIVERS[name]
    mode = {"access_mode": access_mode, "attachment_mode": attachment_mode}

    found = problems(document(name, capabilities=[mode]))

    if (access_mode, attachment_mode) in driver.modes:
        assert found == []
    else:
        works = ", ".join(sorted(" ".join(item) for item in driver.modes))
        fix = f"; {driver.modes_advice}" if driver.modes_advice else ""
        assert found == [
            f"volumes[0].capabilities[0]: expected one of {works} for {name}, got {access_mode} {attachment_mode}{fix}"
        ]


@pytest.mark.parametrize("name", catalogue.DRIVERS)
def test_volume_without_a_mode_gets_the_usual_one_of_its_driver(name):
    """It is the first of the row, and it works."""
    plan = storage.plan_document(document(name))

    [capability] = plan.volumes[0].registration.capabilities
    assert (capability.access_mode, capability.attachment_mode) == catalogue.DRIVERS[name].default_mode


@pytest.mark.parametrize("role", ["controller", "node", "monolith"])
@pytest.mark.parametrize("name", catalogue.DRIVERS)
def test_role_has_a_job_or_is_refused(name, role):
    """A role that the driver has is one job of the plan; settings for one that it has not are a mistake."""
    driver = catalogue.DRIVERS[name]
    spec = document(name)
    spec["plugins"][0][role] = {"resources": {"cpu_mhz": 321}}

    if role in driver.roles:
        [plugin] = storage.plan_document(spec).plugins
        [job] = [job for job in plugin.jobs if job.role == role]
        assert (job.cpu_mhz, job.job_type) == (321, driver.roles[role].job_type)
    else:
        has = ", ".join(driver.roles)
        assert problems(spec) == [
            f"plugins[0].{role}: expected no {role} for {name}, which has only: {has}, got one; remove it"
        ]


@pytest.mark.parametrize("source", ["existing", "create"])
@pytest.mark.parametrize("name", catalogue.DRIVERS)
def test_way_to_a_volume_works_or_is_refused(name, source):
    """A volume is registered or made where the driver can do so."""
    driver = catalogue.DRIVERS[name]
    zone = {"availability_zone": ZONES[name]} if name in ZONES else {}
    given = {"existing": {"external_id": EXTERNAL_IDS.get(name, "1")}, "create": {"capacity_min_gib": 1}}[source]
    spec = document(name)
    spec["volumes"] = [{"id": "v", "plugin_id": "p", source: given | zone}]
    if source == "existing":
        spec["volumes"][0]["context"] = CONTEXTS.get(name, {})

    found = [line for line in problems(spec) if line.startswith(f"volumes[0].{source}")]

    if {"existing": driver.registers, "create": driver.creates}[source]:
        assert found == []
    else:
        ways = [driver.storage] * bool(driver.storage) + ["existing"] * driver.registers + ["create"] * driver.creates
        assert found[0] == (
            f"volumes[0].{source}: expected {' or '.join(ways)} under a plugin of {name}, got {source}; check plugin_id 'p'"
        )
