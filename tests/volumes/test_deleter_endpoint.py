"""An endpoint that stands in a spec finds the controller of the moment."""

import pytest

from nomad_csi import errors
from nomad_csi.volumes import deleters
from tests.plugin_samples import make_instance, make_plugin

FAR = "ssh://root@{node_name}/opt/nomad/data/client/csi/plugins/{alloc_id}/csi.sock"

DOWN = make_instance("controller", "a", healthy=False)
PLUGIN = make_plugin(DOWN, make_instance("controller", "b"), make_instance("controller", "c"))


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

    assert found == "ssh://root@storage-2/opt/nomad/data/client/csi/plugins/controller-b/csi.sock"


def test_rejects_a_plugin_without_a_healthy_controller(client):
    """Nobody could be asked."""
    with pytest.raises(errors.RefusedError, match="no healthy controller of plugin aws-ebs0; nothing was changed"):
        deleters.find_endpoint(client, make_plugin(DOWN), FAR)
