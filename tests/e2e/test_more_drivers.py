"""
Drivers other than AWS's, and such that a spec describes itself, on one sandbox: run, registered, made, verified.

Portworx runs on the two clients of the sandbox, and wants three. The hostpath driver runs on one of them.
"""

import re

import pytest

from nomad_csi.drivers import catalogue
from nomad_csi.nomad import plugins, volumes
from tests.described import described
from tests.e2e import sandboxes

TOKEN = "dop_v1_not_a_token"
TOKEN_AT = "nomad/jobs/plugin-do0-controller"
GCE_DISK = "projects/my-project/zones/us-east-1a/disks/mysql"
DO_VOLUME = "506f78a4-e098-11e5-ad9f-000f53306ae1"
ZONE = "us-east-1a"
DESCRIBED = {"px0": "portworx", "nfs0": "csi-driver-nfs"}
"""Plugins whose driver the spec describes, and the row of the catalogue that it is."""

DEMOCRATIC = {
    "id": "kowlan",
    "driver": "democratic-csi",
    "config": {
        "driver": "zfs-generic-nfs",
        "sshConnection": {"host": "nas.example.net", "username": "democratic"},
        "zfs": {"datasetParentName": "pool2/democratic/root"},
        "nfs": {"shareHost": "nas.example.net"},
    },
}
ACME = {
    "node_attach_driver": "nfs",
    "provisioner_driver": "zfs-generic-nfs",
    "server": "nas.example.net",
    "share": "/pool2/democratic/root/traefik-acme",
}
MEDIA = {"server": "nas.example.net", "share": "/export/media"}
BUILDS = {"server": "nas.example.net", "share": "/export", "subDir": "builds"}
VOLUMES = [
    {
        "id": "traefik-acme",
        "plugin_id": "kowlan",
        "existing": {"external_id": "traefik-acme"},
        "mount_options": {"fs_type": "nfs", "mount_flags": ["nolock"]},
        "context": ACME,
    },
    {"id": "kowlan-made", "plugin_id": "kowlan", "create": {"capacity_min_gib": 1}},
    {
        "id": "media",
        "plugin_id": "nfs1",
        "existing": {"external_id": "nas.example.net#export/media"},
        "context": MEDIA,
    },
    {"id": "builds", "plugin_id": "nfs1", "create": {"capacity_min_gib": 1}, "parameters": BUILDS},
    {"id": "scratch", "plugin_id": "hostpath0", "create": {"capacity_min_gib": 1}},
    {"id": "disk", "plugin_id": "gce0", "existing": {"external_id": GCE_DISK, "availability_zone": ZONE}},
    {
        "id": "disk-made",
        "plugin_id": "gce0",
        "create": {"capacity_min_gib": 10, "availability_zone": ZONE},
        "parameters": {"type": "pd-balanced"},
    },
    {"id": "block", "plugin_id": "do0", "existing": {"external_id": DO_VOLUME, "availability_zone": ZONE}},
    {"id": "block-made", "plugin_id": "do0", "create": {"capacity_min_gib": 1, "availability_zone": ZONE}},
    {"id": "px0-made", "plugin_id": "px0", "create": {"capacity_min_gib": 1}, "parameters": {"repl": "2"}},
    {
        "id": "nfs0-made",
        "plugin_id": "nfs0",
        "create": {"capacity_min_gib": 1},
        "parameters": {"server": "nas", "share": "/export"},
    },
]


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A sandbox with a plugin of each driver, and their volumes. The variable with the token is there before them."""
    sandbox = sandboxes.make(tmp_path_factory.mktemp("many"))
    sandbox.edit(lambda storage: storage.update(plugins=storage["plugins"][1:], volumes=[]))
    try:
        sandbox.up(check=True)
        with sandbox.nomad() as client:
            client.request("PUT", f"/v1/var/{TOKEN_AT}", body={"Items": {"token": TOKEN}})
        one = [{"attribute": "${node.unique.name}", "value": "client-1"}]
        state = {"config": {"state_dir": str(sandbox.data_dir / "hostpath")}, "constraints": one}
        plugins_of_it = [
            sandbox.played(DEMOCRATIC),
            sandbox.played({"id": "nfs1", "driver": "csi-driver-nfs"}),
            sandbox.played({"id": "hostpath0", "driver": "csi-hostpath"} | state),
            sandbox.played({"id": "gce0", "driver": "gce-pd"}),
            sandbox.played({"id": "do0", "driver": "digitalocean", "credentials": {"nomad_variable": TOKEN_AT}}),
            sandbox.played(
                {
                    "id": "px0",
                    "driver": described("portworx", count_minimum=1, default_count=2),
                    "config": {"cluster_id": "px"},
                },
                "portworx",
            ),
            sandbox.played({"id": "nfs0", "driver": described("csi-driver-nfs")}, "csi-driver-nfs"),
        ]
        sandbox.edit(lambda storage: storage.update(plugins=plugins_of_it, volumes=VOLUMES))
        sandbox.up(check=True)
        yield sandbox
    finally:
        sandboxes.end(sandbox)


@pytest.fixture
def held(many):
    """Return what Nomad has of a plugin and of volumes: ``held("do0", "block")``."""

    def look(plugin_id, *volume_ids):
        with many.nomad() as client:
            found = [volumes.get(client, "default", volume_id) for volume_id in volume_ids]
            return plugins.get(client, plugin_id), *found

    return look


def test_all_of_them_are_verified_and_a_second_run_changes_nothing(many):
    """Plugins and volumes alike."""
    done = many.exec("nomad-csi", "verify", many.config, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "Nothing has changed" in many.up(check=True).stdout


def test_gce_disks_are_registered_and_made(held):
    """Without credentials: the controller takes the client's service account."""
    plugin, disk, made = held("gce0", "disk", "disk-made")

    assert (plugin.provider, len(plugin.controllers), len(plugin.nodes)) == ("pd.csi.storage.gke.io", 1, 2)
    assert (disk.external_id, disk.topologies) == (GCE_DISK, ({"topology.gke.io/zone": ZONE},))
    assert made.external_id.endswith(f"/zones/us-east-1a/disks/{made.name}")
    assert made.name.startswith("disk-made-")
    assert made.schedulable


def test_digitalocean_gets_its_token_through_a_template_alone(many, held):
    """The token is in a Nomad variable; the controller runs with it, and neither jobs nor the stack's state hold it."""
    plugin, block, made = held("do0", "block", "block-made")

    assert (plugin.provider, len(plugin.controllers), len(plugin.nodes)) == ("dobs.csi.digitalocean.com", 1, 2)
    assert (block.external_id, block.topologies) == (DO_VOLUME, ({"region": ZONE},))
    assert made.schedulable
    with many.nomad() as client:
        jobs = [client.request("GET", f"/v1/job/plugin-do0-{name}").data for name in ("controller", "nodes")]
    assert "--token=${DIGITALOCEAN_ACCESS_TOKEN}" in str(jobs[0])
    assert "DIGITALOCEAN_ACCESS_TOKEN" not in str(jobs[1])
    assert TOKEN not in str(jobs) + many.state.read_text()


@pytest.mark.parametrize("plugin_id", DESCRIBED)
def test_driver_that_a_spec_describes_runs_like_one_of_the_catalogue(held, plugin_id):
    """One without a controller, and one with it."""
    plugin, made = held(plugin_id, f"{plugin_id}-made")

    assert plugin.provider == catalogue.DRIVERS[DESCRIBED[plugin_id]].provider
    assert len(plugin.nodes) == 2
    assert made.schedulable


def test_democratic_csi_has_its_configuration_through_a_template(held):
    """The name has the plugin's id; the context that no other driver has reaches Nomad."""
    plugin, acme, made = held("kowlan", "traefik-acme", "kowlan-made")

    assert (plugin.provider, len(plugin.controllers), len(plugin.nodes)) == ("org.democratic-csi.kowlan", 1, 2)
    assert (acme.external_id, acme.context, acme.mount_options.fs_type) == ("traefik-acme", ACME, "nfs")
    assert re.fullmatch(r"kowlan-made-[a-z0-9]+", made.external_id)


def test_shares_of_nfs_are_registered_and_made(held):
    """A controller, and a node on each client."""
    plugin, media, builds = held("nfs1", "media", "builds")

    assert (plugin.provider, len(plugin.controllers), len(plugin.nodes)) == ("nfs.csi.k8s.io", 1, 2)
    assert (media.context, builds.context) == (MEDIA, BUILDS)
    assert builds.external_id.startswith("nas.example.net#export#builds#")


def test_hostpath_binds_its_volume_to_its_client(held):
    """One instance is controller and node."""
    plugin, scratch = held("hostpath0", "scratch")

    [node] = plugin.nodes
    assert (plugin.provider, len(plugin.controllers)) == ("hostpath.csi.k8s.io", 1)
    assert scratch.topologies == (node.segments,)
