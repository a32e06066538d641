"""Many volumes are read one by one, some at a time: in order, each once, and no more after the first error."""

import json

import pytest

from nomad_csi import errors
from nomad_csi.nomad import request, volumes

IDS = [f"v{number}" for number in range(300)]


def path(volume_id):
    """Return the path of a volume."""
    return f"/v1/volume/csi/{volume_id}"


def body(volume_id):
    """Return what Nomad shows of a volume."""
    return json.dumps({"ID": volume_id, "Namespace": "default", "PluginID": "efs"})


@pytest.fixture
def served(agent):
    """An agent that has every second volume."""
    for volume_id in IDS[::2]:
        agent.answer("GET", path(volume_id), body(volume_id))
    for volume_id in IDS[1::2]:
        agent.answer("GET", path(volume_id), "volume not found", status=404)
    return agent


def test_many_volumes_come_in_order(served, client, canary):
    """Each is asked for once, with the token and in the namespace; absent ones are none."""
    found = list(volumes.get_many(client, [("prod", volume_id) for volume_id in IDS]))

    assert [volume and volume.volume_id for volume in found] == [
        None if number % 2 else volume_id for number, volume_id in enumerate(IDS)
    ]
    assert sorted(item.path for item in served.asked) == sorted(path(volume_id) for volume_id in IDS)
    assert {item.query["namespace"] for item in served.asked} == {"prod"}
    assert {item.headers["X-Nomad-Token"] for item in served.asked} == {canary}


def test_refused_read_is_an_error_with_its_advice(served, client):
    """A token that may not read is told as for one volume, and what is left is not asked for."""
    served.answer("GET", path("v4"), "Permission denied", status=403)

    with pytest.raises(errors.NomadApiError, match="csi-read-volume in namespace default"):
        list(volumes.get_many(client, [("default", volume_id) for volume_id in IDS]))

    assert len(served.asked) < len(IDS)


def test_results_do_not_pile_up(served, client):
    """Of ten thousand volumes, few are held: the next are asked for when the first are taken."""
    found = volumes.get_many(client, [("default", volume_id) for volume_id in IDS])

    next(found)
    asked = len(served.asked)
    found.close()

    assert asked <= 5 * request.READERS
