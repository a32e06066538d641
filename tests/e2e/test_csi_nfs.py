"""csi-driver-nfs on the sandbox: a share that is there is registered, a folder of one is made."""

import pytest

from nomad_csi.nomad import plugins, volumes

PLUGIN = {"id": "nfs0", "driver": "csi-driver-nfs"}
THERE = {
    "id": "media",
    "plugin_id": "nfs0",
    "existing": {"external_id": "nas.example.net#export/media"},
    "mount_options": {"mount_flags": ["nfsvers=4.1"]},
    "context": {"server": "nas.example.net", "share": "/export/media"},
}
MADE = {
    "id": "builds",
    "plugin_id": "nfs0",
    "create": {"capacity_min_gib": 1},
    "parameters": {"server": "nas.example.net", "share": "/export", "subDir": "builds"},
}


@pytest.fixture
def storage(sandbox, alone):
    """The plugin with a volume that is there and one that it makes."""
    alone(PLUGIN, [THERE, MADE])
    return sandbox


def test_shares_are_registered_and_made_and_verified(storage):
    """A controller and a node on each client; both volumes as planned, and nothing to do afterwards."""
    storage.up(check=True)

    with storage.nomad() as client:
        plugin = plugins.get(client, "nfs0")
        there, made = (volumes.get(client, "default", volume_id) for volume_id in ("media", "builds"))
    assert (plugin.provider, len(plugin.controllers), len(plugin.nodes)) == ("nfs.csi.k8s.io", 1, 2)
    assert there.context == THERE["context"]
    assert made.context == MADE["parameters"]
    assert made.external_id.startswith("nas.example.net#export#builds#")
    done = storage.exec("nomad-csi", "verify", storage.config, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Nothing has changed" in storage.up(check=True).stdout


def test_volume_without_its_share_is_refused_before_anything_is_made(storage):
    """The rule says which key is missing; no job was run."""
    storage.edit(lambda document: document["volumes"][0]["context"].pop("share"))

    done = storage.up()

    assert done.returncode != 0
    assert "volumes[0] (media).context.share: expected a value" in done.stdout + done.stderr
    assert not (storage.project / "rendered").exists()
