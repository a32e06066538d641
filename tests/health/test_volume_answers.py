"""What a controller says of volumes counts."""

import dataclasses

import pytest

from nomad_csi.csi import records, validation
from nomad_csi.health import probe_deep, probed
from nomad_csi.nomad import volumes
from nomad_csi.plan import registration
from tests.plugin_samples import READY

Validated = records.Validated
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
    ("changes", "listed", "told"),
    [
        ({"name": "other.csi"}, (200, []), [("provider-differs", "other.csi behind /csi.sock")]),
        ({}, (200, []), [("instance-unknown", "/csi.sock")]),
        ({"endpoint": "/plugins/alloc-a/csi.sock"}, (200, []), []),
        (
            {"endpoint": "/plugins/alloc-a/csi.sock"},
            (403, "Permission denied"),
            [("volumes-unread", "Permission denied")],
        ),
        (
            {"endpoint": "/plugins/alloc-a/csi.sock", "controller_capabilities": ()},
            (200, [{"ID": "mysql", "Namespace": "default", "PluginID": "aws-ebs0"}]),
            [("volume-unknown", "NOT_FOUND: vol-1 tcp://a 1 7 False")],
        ),
    ],
)
def test_endpoint_is_compared_with_the_record_of_its_plugin(
    context, scripted, plugin_cluster, monkeypatch, changes, listed, told
):
    """Its name, its allocation, and what a controller says of each registered volume."""

    def ask(local, questions, *, secrets, timeout_s, insecure):
        said = " ".join(
            map(str, (questions[0].external_id, local, len(secrets[questions[0].key]), timeout_s, insecure))
        )
        return {questions[0].key: Validated(code="NOT_FOUND", message=said)}

    monkeypatch.setattr(validation, "ask", ask)
    plugin_cluster.plugin()
    scripted.reply("GET", "/v1/volumes", *listed)
    held = {"ID": "mysql", "Namespace": "default", "PluginID": "aws-ebs0", "ExternalID": "vol-1"}
    scripted.reply("GET", "/v1/volume/csi/mysql", 200, held)
    answer, secrets = dataclasses.replace(READY, **changes), {"default/mysql": {"password": "x"}}

    found = probe_deep.probe_endpoint(
        context.connect(), "aws-ebs0", answer, local="tcp://a", secrets=secrets, timeout_s=7
    )

    assert [(item.code, item.found) for item in found] == told


@pytest.mark.parametrize(
    ("said", "code", "found"),
    [
        (Validated(confirmed=True), None, ""),
        (Validated(code="NOT_FOUND", message="no such"), "volume-unknown", "NOT_FOUND: no such"),
        (Validated(message="not so"), "volume-unconfirmed", "not confirmed: not so"),
        (Validated(code="INTERNAL", message="x"), "volume-unconfirmed", "INTERNAL: x"),
    ],
)
def test_what_a_controller_says_of_a_volume_counts(said, code, found):
    """Unknown to the storage provider, or not to be used like that."""
    judged = probed.judge_volumes([volume("mysql"), volume("other")], {("default", "mysql"): said})

    assert [(item.code, item.subject, item.found) for item in judged] == (
        [(code, "volume default/mysql", found)] if code else []
    )
