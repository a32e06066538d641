"""What a controller says of volumes counts."""

import dataclasses

import pytest

from nomad_csi.csi import records, validation
from nomad_csi.findings import registry
from nomad_csi.health import probe_deep, probed
from nomad_csi.nomad import volumes
from nomad_csi.plan import registration
from tests.plugin_samples import READY

Validated = records.Validated
KEY = ("default", "mysql")
FIX = registry.codes()["volume-unconfirmed"].fix
PLUGINS = (("mysql", "aws-ebs0"), ("bare", "aws-ebs0"), ("other", "my-aws-ebs0"))
LISTED = [{"ID": name, "Namespace": "default", "PluginID": plugin} for name, plugin in PLUGINS]
GONE = ("volume-unknown", "NOT_FOUND: gone")
WRITER = registration.Capability(access_mode="single-node-writer", attachment_mode="file-system")


def volume(name, **changes):
    """Return a volume of plugin ``aws-ebs0``."""
    empty = dict.fromkeys(("topologies", "claims"), ())
    given = {
        "volume_id": name,
        "namespace": "default",
        "name": name,
        "external_id": f"vol-{name}",
        "plugin_id": "aws-ebs0",
        "capabilities": (WRITER,),
        "context": {},
        "parameters": {},
        "schedulable": True,
        "controller_required": True,
    }
    return volumes.Volume(**given | empty | changes)


@pytest.mark.parametrize(
    ("changes", "listed", "expected"),
    [
        (
            {"endpoint": "/plugins/alloc-a/csi.sock", "controller_capabilities": (), "status": "silent"},
            (200, [{"ID": "mysql", "Namespace": "default", "PluginID": "aws-ebs0"}]),
            [],
        ),
        ({"name": "other.csi"}, (200, []), [("provider-differs", "other.csi behind /csi.sock")]),
        ({"controller_capabilities": ()}, (200, LISTED), [("instance-unknown", "/csi.sock"), GONE]),
        ({"endpoint": "/plugins/alloc-a/csi.sock", "name": ""}, (200, []), []),
        (
            {"endpoint": "/plugins/alloc-a/csi.sock"},
            (403, "Permission denied"),
            [("volumes-unread", "Permission denied")],
        ),
        (
            {"endpoint": "/plugins/alloc-a/csi.sock", "controller_capabilities": ()},
            (200, LISTED),
            [GONE],
        ),
    ],
)
def test_endpoint_is_compared_with_the_record_of_its_plugin(
    context, scripted, plugin_cluster, monkeypatch, changes, listed, expected
):
    """Its name, its allocation, and what a controller says of each registered volume."""
    asked = []

    def ask(*given, **options):
        asked.append((*given, options))
        return {KEY: Validated(code="NOT_FOUND", message="gone")}

    monkeypatch.setattr(validation, "ask", ask)
    plugin_cluster.plugin()
    scripted.reply("GET", "/v1/volumes", *listed)
    held = {"ID": "mysql", "Namespace": "default", "PluginID": "aws-ebs0", "ExternalID": "vol-1"}
    held |= {"Context": {"a": "1"}, "Parameters": {"b": "2"}}
    held["RequestedCapabilities"] = [{"AccessMode": "single-node-writer", "AttachmentMode": "file-system"}]
    scripted.reply("GET", "/v1/volume/csi/mysql", 200, held)
    scripted.reply("GET", "/v1/volume/csi/bare", 200, held | {"ID": "bare", "ExternalID": ""})
    answer, secrets = dataclasses.replace(READY, **changes), {"default/mysql": {"password": "x"}}

    client = context.connect()
    client.connection = dataclasses.replace(client.connection, insecure_http=True)
    found = probe_deep.probe_endpoint(client, "aws-ebs0", answer, local="tcp://a", secrets=secrets, timeout_s=7)

    assert [(item.code, item.found) for item in found] == expected
    question = records.ValidationQuestion(
        key=KEY,
        external_id="vol-1",
        uses=(("single-node-writer", "file-system"),),
        context={"a": "1"},
        parameters={"b": "2"},
    )
    bare = dataclasses.replace(question, key=("default", "bare"), external_id="bare")
    options = {"secrets": {KEY: {"password": "x"}, bare.key: {}}, "timeout_s": 7, "insecure": True}
    assert asked == ([("tcp://a", [bare, question], options)] if expected[-1:] == [GONE] else [])


@pytest.mark.parametrize(
    ("said", "code", "found"),
    [
        (Validated(confirmed=True), None, ""),
        (
            Validated(code="NOT_FOUND", message="no such"),
            "volume-unknown",
            "NOT_FOUND: no such; compare the external id with the storage provider's",
        ),
        (Validated(message="not so"), "volume-unconfirmed", f"not confirmed: not so; {FIX}"),
        (
            Validated(code="INTERNAL"),
            "volume-unconfirmed",
            "INTERNAL: without output; check the controller's log; if it needs secrets, name them with --secrets",
        ),
    ],
)
def test_what_a_controller_says_of_a_volume_counts(said, code, found):
    """Unknown to the storage provider, or not to be used like that."""
    judged = probed.judge_volumes([volume("mysql"), volume("other")], {KEY: said})

    wanted = "expected a plugin that knows vol-mysql and confirms single-node-writer file-system"
    assert list(map(str, judged)) == ([f"{code}: volume default/mysql: {wanted}, found {found}"] if code else [])
