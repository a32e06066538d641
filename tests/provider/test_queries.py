"""The functions of the package: what they read of a plugin and of a volume, and what they refuse."""

import pytest
from pulumi.runtime.proto import provider_pb2

from nomad_csi.provider import wire
from tests.provider.test_servicer import failure
from tests.scripted import scripted as cluster  # noqa: F401  # a fixture; its name is taken here

PLUGIN = {
    "ID": "ebs0",
    "Provider": "ebs.csi.aws.com",
    "Version": "v1.51.0",
    "ControllersExpected": 1,
    "NodesExpected": 2,
    "Controllers": {"n1": {"PluginID": "ebs0", "AllocID": "a1", "Healthy": True, "NodeID": "n1"}},
    "Nodes": {
        "n1": {"PluginID": "ebs0", "AllocID": "a2", "Healthy": True, "NodeID": "n1"},
        "n2": {"PluginID": "ebs0", "AllocID": "a3", "Healthy": False, "NodeID": "n2"},
    },
}
VOLUME = {
    "ID": "mysql",
    "Namespace": "shop",
    "Name": "mysql",
    "ExternalID": "vol-1",
    "PluginID": "ebs0",
    "Schedulable": True,
    "ReadAllocs": {},
    "WriteAllocs": {"a9": None},
}


@pytest.fixture
def ask(plugin, cluster):  # noqa: F811  # the fixture
    """Call a function of a provider of the scripted cluster, and return its response."""
    plugin.Configure(provider_pb2.ConfigureRequest(args=wire.dump({"address": cluster.address})))

    def call(name, **given):
        request = provider_pb2.InvokeRequest(tok=f"nomad-csi:index:{name}", args=wire.dump(given))
        return plugin.Invoke(request)

    return call


def returned(answer):
    """Return the values of a response."""
    return wire.load(getattr(answer, "return"))[0]


def test_plugin_is_read_as_nomad_has_it(ask, cluster):  # noqa: F811
    """Its version, its instances, and how many of them are healthy."""
    cluster.reply("GET", "/v1/plugin/csi/ebs0", 200, PLUGIN)

    assert returned(ask("getPlugin", pluginId="ebs0")) == {
        "provider": "ebs.csi.aws.com",
        "version": "v1.51.0",
        "controllers": 1,
        "healthyControllers": 1,
        "nodes": 2,
        "healthyNodes": 1,
    }


def test_volume_is_read_in_its_namespace(ask, cluster):  # noqa: F811
    """Its storage, its plugin, and the allocations that claim it."""
    cluster.reply("GET", "/v1/volume/csi/mysql", 200, VOLUME)

    assert returned(ask("getVolume", volumeId="mysql", namespace="shop")) == {
        "pluginId": "ebs0",
        "externalId": "vol-1",
        "schedulable": True,
        "capacityBytes": 0,
        "claimedBy": ["a9"],
    }


def test_claim_is_the_blocks_of_a_job_by_the_names_of_the_schema(ask, cluster):  # noqa: F811
    """As the output `claim` of a component has them, for a volume that another program registered."""
    modes = [{"AccessMode": "multi-node-reader-only", "AttachmentMode": "file-system"}]
    cluster.reply("GET", "/v1/volume/csi/mysql", 200, VOLUME | {"RequestedCapabilities": modes})

    assert returned(ask("getClaim", volumeId="mysql", namespace="shop")) == {
        "namespace": "shop",
        "name": "mysql",
        "volume": {
            "type": "csi",
            "source": "mysql",
            "accessMode": "multi-node-reader-only",
            "attachmentMode": "file-system",
            "readOnly": True,
        },
        "volumeMount": {"volume": "mysql", "destination": "/mysql", "readOnly": True},
    }


def test_claims_of_a_volume_without_capabilities_are_refused(ask, cluster):  # noqa: F811
    """Nomad would refuse a job with any modes."""
    cluster.reply("GET", "/v1/volume/csi/mysql", 200, VOLUME)

    refused = failure(lambda _: ask("getClaim", volumeId="mysql", namespace="shop"), None)

    assert "mysql: expected capabilities that all its volumes have, got none" in refused.details()


def test_rejects_arguments_that_are_missing_or_unknown(ask):
    """All at once, before Nomad is queried."""
    [missing, unknown] = ask("getVolume", other="mysql").failures

    assert missing.reason.startswith("volumeId: expected a value")
    assert unknown.reason.startswith("other: expected one of namespace, volumeId")


def test_rejects_a_plugin_and_a_volume_that_are_not_there(ask, cluster):  # noqa: F811
    """Each by its id."""
    cluster.reply("GET", "/v1/volume/csi/mysql", 404, "volume not found")

    plugin = failure(lambda _: ask("getPlugin", pluginId="ebs0"), None)
    volume = failure(lambda _: ask("getVolume", volumeId="mysql"), None)

    assert "Nomad has no CSI plugin ebs0" in plugin.details()
    assert "Nomad has no CSI volume default/mysql" in volume.details()
