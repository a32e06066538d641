"""An endpoint that stands in a spec finds the controller of the moment."""

import dataclasses

import pytest

from nomad_csi import errors
from nomad_csi.nomad import plugins
from nomad_csi.volumes import deleters

FAR = "ssh://root@{node_name}/opt/nomad/data/client/csi/plugins/{alloc_id}/csi.sock"


def instance(name, *, healthy=True):
    """Return a controller on a client."""
    return plugins.Instance(
        role="controller",
        node_id=f"id-{name}",
        alloc_id=f"alloc-{name}",
        healthy=healthy,
        health_description="",
        provider_version="v1",
        segments={},
        supports=frozenset(),
    )


PLUGIN = plugins.Plugin(
    plugin_id="hostpath",
    provider="hostpath.csi.k8s.io",
    version="v1",
    controller_required=True,
    controllers=(instance("a", healthy=False), instance("b"), instance("c")),
    nodes=(),
    controllers_expected=3,
    nodes_expected=0,
)


@pytest.fixture
def client(context):
    """A client of the scripted Nomad."""
    return context.connect()


def test_endpoint_without_places_stays_as_it_is(client, scripted):
    """And nobody is asked."""
    assert deleters.find_endpoint(client, PLUGIN, "client-1:9000") == "client-1:9000"
    assert scripted.requests == []


def test_healthy_controller_is_put_in(client, scripted):
    """With the name of its client, as ssh is to know it."""
    scripted.reply("GET", "/v1/nodes", 200, [{"ID": "id-b", "Name": "storage-2"}, {"ID": "id-c", "Name": "storage-3"}])

    found = deleters.find_endpoint(client, PLUGIN, FAR)

    assert found == "ssh://root@storage-2/opt/nomad/data/client/csi/plugins/alloc-b/csi.sock"


def test_rejects_a_plugin_without_a_healthy_controller(client):
    """Nobody could be asked."""
    down = dataclasses.replace(PLUGIN, controllers=PLUGIN.controllers[:1])

    with pytest.raises(errors.RefusedError, match="no healthy controller of plugin hostpath; nothing was changed"):
        deleters.find_endpoint(client, down, FAR)
