"""democratic-csi on the sandbox: its configuration reaches it through a template, its volumes are made and registered."""

import re

import pytest

from nomad_csi.nomad import plugins, volumes

PLUGIN = {
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
    "id": "traefik-acme",
    "plugin_id": "kowlan",
    "existing": {"external_id": "traefik-acme"},
    "mount_options": {"fs_type": "nfs", "mount_flags": ["nolock"]},
    "context": {
        "node_attach_driver": "nfs",
        "provisioner_driver": "zfs-generic-nfs",
        "server": "nas.example.net",
        "share": "/pool2/democratic/root/traefik-acme",
    },
}
MADE = {"id": "media", "plugin_id": "kowlan", "create": {"capacity_min_gib": 1}}


@pytest.fixture
def storage(sandbox, alone):
    """The plugin with the volume of its wiki and one that it makes."""
    alone(PLUGIN, [ACME, MADE])
    return sandbox


def test_volumes_of_a_backend_are_registered_and_made_and_verified(storage):
    """One controller, a node on each client, the name with the plugin's id; nothing to do afterwards."""
    storage.up(check=True)

    with storage.nomad() as client:
        plugin = plugins.get(client, "kowlan")
        there, made = (volumes.get(client, "default", volume_id) for volume_id in ("traefik-acme", "media"))
    assert (plugin.provider, len(plugin.controllers), len(plugin.nodes)) == ("org.democratic-csi.kowlan", 1, 2)
    assert (there.external_id, there.context, there.mount_options.fs_type) == ("traefik-acme", ACME["context"], "nfs")
    assert re.fullmatch(r"media-[a-z0-9]+", made.external_id)
    done = storage.exec("nomad-csi", "verify", storage.config, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Nothing has changed" in storage.up(check=True).stdout


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            lambda document: document["plugins"][0].update(controller={"count": 2}),
            "plugins[0] (kowlan).controller.count: expected at most 1 for democratic-csi",
        ),
        (
            lambda document: document["volumes"][0]["context"].pop("node_attach_driver"),
            "volumes[0] (traefik-acme).context.node_attach_driver: expected a value",
        ),
        (
            lambda document: document["plugins"][0]["config"]["sshConnection"].update(password="open"),
            "plugins[0] (kowlan).config.sshConnection.password: expected {from_secret: ITEM}",
        ),
    ],
    ids=["two-controllers", "no-context", "open-secret"],
)
def test_what_would_fail_later_is_refused_before_anything_is_made(storage, change, problem):
    """Two controllers, a volume that no node could mount, a password in the job file."""
    storage.edit(change)

    done = storage.up()

    assert done.returncode != 0
    assert problem in done.stdout + done.stderr
    assert not (storage.project / "rendered").exists()
