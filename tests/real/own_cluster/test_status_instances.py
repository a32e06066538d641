"""Instances on a real server with two clients: out of a volume's reach, and of another version than Nomad knows."""

import pytest

from nomad_csi.diagnosis import verification
from nomad_csi.nomad import volumes
from nomad_csi.plan import model, registration
from nomad_csi.volumes import apply_volumes as applied
from tests import volume_files
from tests.real import two_clients

pytestmark = pytest.mark.real_nomad


ONLY_C1 = 'constraint {\n attribute = "${node.unique.name}"\n value = "c1"\n}'
MODE = registration.Capability(access_mode="single-node-writer", attachment_mode="file-system")


@pytest.fixture(scope="module")
def cluster():
    """Both clients, and both plugins at once: they get well together."""
    with two_clients.started() as made:
        made.plugins = {
            "half": made.hostpath("half", constraint=ONLY_C1),
            "swapped": made.run("swapped", health_timeout="2m"),
        }
        yield made


def test_volume_in_a_place_without_an_instance_is_out_of_reach(cluster):
    """Nomad registers it, and calls it schedulable; no allocation that claims it would be placed."""
    plugin = cluster.plugins["half"]
    plugin.until("partial", "healthy", "healthy", "missing", **two_clients.HOSTPATH)
    new = registration.VolumeRegistration(
        volume_id="made", namespace="default", name="made", plugin_id="half", capabilities=(MODE,)
    )
    made = volumes.create(cluster.client, new).volume
    volumes.deregister(cluster.client, "default", "made")  # two registrations of one single-node volume are refused
    wanted = registration.VolumeRegistration(
        volume_id="afar",
        name="afar",
        external_id=made.external_id,
        plugin_id="half",
        capabilities=(MODE,),
        required_topologies=({"topology.hostpath.csi/node": "c2"},),
    )
    [outcome] = applied.apply(cluster.client, volume_files.wanted([wanted]))

    [status] = verification.Verifier(cluster.client, _plan(plugin, wanted)).verify().volumes

    assert (outcome.status, status.status) == ("registered", "unschedulable")
    assert [(item.severity, str(item)) for item in status.findings] == [
        (
            "error",
            "volume-out-of-reach: volume default/afar: expected a healthy node instance in "
            "topology.hostpath.csi/node=c2, found c1; add a client there, or move the data with a snapshot "
            "to a zone that has one",
        )
    ]


def _plan(plugin, volume):
    expectation = plugin.expectation(**two_clients.HOSTPATH)
    planned = model.PluginPlan(
        plugin_id=plugin.plugin_id,
        driver="csi-hostpath",
        jobs=(),
        expectation=expectation,
        iam_policy=None,
        adopt=False,
    )
    return model.StoragePlan(
        plugins=(planned,),
        volumes=(model.VolumePlan(registration=volume, source=None, protect=True, adopt=False),),
    )
