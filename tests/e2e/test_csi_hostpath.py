"""csi-hostpath on the sandbox: one instance, which makes volumes and finds them again."""

import pytest

from nomad_csi.nomad import plugins, volumes

MADE = {"id": "scratch", "plugin_id": "hostpath0", "create": {"capacity_min_gib": 1}}


@pytest.fixture
def storage(sandbox, alone):
    """The plugin with a volume that it makes."""
    state_dir = str(sandbox.data_dir / "hostpath")
    one = [{"attribute": "${node.unique.name}", "value": "client-1"}]
    alone({"id": "hostpath0", "driver": "csi-hostpath", "constraints": one, "config": {"state_dir": state_dir}}, [MADE])
    return sandbox


def test_plugin_makes_a_volume_that_is_verified(storage):
    """One instance on one of two clients is controller and node; what it made is bound to that client."""
    storage.up(check=True)

    with storage.nomad() as client:
        plugin = plugins.get(client, "hostpath0")
        volume = volumes.get(client, "default", "scratch")
    [node] = plugin.nodes
    assert len(plugin.controllers) == 1
    assert (plugin.provider, volume.plugin_id) == ("hostpath.csi.k8s.io", "hostpath0")
    assert volume.topologies == (node.segments,)
    done = storage.exec("nomad-csi", "verify", storage.config, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "default/scratch ok hostpath0" in " ".join(done.stdout.split())


def test_volume_that_the_plugin_made_is_registered_under_another_id(storage):
    """By its external id, once the first registration is gone; the storage was left alone."""
    storage.up(check=True)
    with storage.nomad() as client:
        made = volumes.get(client, "default", "scratch")
    again = {"id": "kept", "plugin_id": "hostpath0", "existing": {"external_id": made.external_id}}

    for volumes_of_it in ([], [again | {"topologies": [dict(made.topologies[0])]}]):
        storage.edit(lambda document, wanted=volumes_of_it: document.update(volumes=wanted))
        storage.up(check=True)

    with storage.nomad() as client:
        assert volumes.get(client, "default", "scratch") is None
        assert volumes.get(client, "default", "kept").external_id == made.external_id
    assert storage.exec("nomad-csi", "verify", storage.config, check=False).returncode == 0
