"""Registering volumes, alone and many at once; reading, listing and forgetting them."""

import pytest

from nomad_csi import errors
from nomad_csi.nomad import volumes

ONE = "unable to update volume: 1 error occurred:\n\t* {}\n\n"
ZONE = "topology.kubernetes.io/zone"
HERE = {"Required": [{"Segments": {ZONE: "us-east-1a"}}]}
THERE = {"Required": [{"Segments": {ZONE: "us-east-1b"}}]}
MODE = [{"AccessMode": "multi-node-multi-writer", "AttachmentMode": "file-system"}]
LONE = [{"AccessMode": "single-node-writer", "AttachmentMode": "file-system"}]
FULL = {
    "MountOptions": {"FSType": "nfs", "MountFlags": ["tls"]},
    "Secrets": {"key": "value"},
    "Parameters": {"p": "1"},
    "Context": {"encryptInTransit": "true"},
    "RequestedTopologies": HERE,
    "CloneID": "c",
}
GIB = 2**30
UNHELPFUL = "controller plugin returned an internal error, check the plugin allocation logs for more information"
VALIDATE = "controller validate volume: CSI.ControllerValidateVolume: "


def test_registration_reads_back_as_it_was_sent(client, fresh, volume, kept):
    """What the product compares; of secrets and flags only that flags are there."""
    volume_id = fresh("full")
    kept(volume(volume_id, **FULL))

    found = volumes.get(client, "default", volume_id)

    assert (found.volume_id, found.namespace, found.name) == (volume_id, "default", volume_id)
    assert (found.external_id, found.plugin_id) == ("fs-0123456789abcdef0", "efs")
    assert [(item.access_mode, item.attachment_mode) for item in found.capabilities] == [
        ("multi-node-multi-writer", "file-system")
    ]
    assert (found.mount_options.fs_type, found.has_mount_flags) == ("nfs", True)
    assert (found.context, found.parameters) == ({"encryptInTransit": "true"}, {"p": "1"})
    assert found.topologies == found.required_topologies == ({ZONE: "us-east-1a"},)
    assert (found.preferred_topologies, found.claims) == ((), ())
    assert (found.schedulable, found.controller_required) == (True, False)


def test_list_shows_the_volumes_of_one_disk(client, fresh, volume, kept):
    """In every namespace: the server filters."""
    one, other = fresh("one"), fresh("other")
    kept(volume(one, ExternalID="vol-0123456789abcdef7"))
    kept(volume(other, ExternalID="vol-0123456789abcdef8"))

    listed = volumes.list_volumes(client, "*", storage="vol-0123456789abcdef7")

    assert {item.volume_id for item in listed} == {one}


def test_secrets_and_flags_are_never_shown(agent, fresh, volume, kept):
    """Null, and a mark."""
    volume_id = fresh("secret")
    kept(volume(volume_id, **FULL))

    found = agent.get(f"/v1/volume/csi/{volume_id}")

    assert found["Secrets"] is None
    assert found["MountOptions"] == {"FSType": "nfs", "MountFlags": ["[REDACTED]"]}


def test_absent_volume_is_told_and_for_the_product_no_error(agent, client, fresh):
    """Its own sentence, with the id."""
    volume_id = fresh("absent")

    volumes.deregister(client, "default", volume_id)

    assert agent.refused("DELETE", f"/v1/volume/csi/{volume_id}") == (500, f"volume not found: {volume_id}")
    assert agent.refused("DELETE", f"/v1/volume/csi/{volume_id}?namespace=nobody")[0] == 500


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        ({"MountOptions": None}, {"MountOptions": {"FSType": "", "MountFlags": None}}),
        ({"MountOptions": {"FSType": "x"}}, {"MountOptions": {"FSType": "x", "MountFlags": None}}),
        ({"Context": None}, {}),
        ({"Secrets": None}, {}),
    ],
)
def test_free_volume_may_be_registered_again_with(agent, fresh, volume, kept, change, shown):
    """What is left out stays, but for mount options and secrets; a node plugin is not asked about modes."""
    volume_id = fresh("again")
    kept(volume(volume_id, **FULL))
    before = agent.get(f"/v1/volume/csi/{volume_id}")

    agent.register(volume(volume_id, **FULL) | change)

    after = agent.get(f"/v1/volume/csi/{volume_id}")
    if change == {"Context": None} and not agent.has("keeps-context"):
        shown = {"Context": {}}
    assert after == before | shown | {"ModifyIndex": after["ModifyIndex"]}
    assert after["ModifyIndex"] > before["ModifyIndex"]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            {"RequestedCapacityMin": GIB},
            "unable to update volume: expand is not implemented by this controller plugin",
        ),
        (
            {"Name": "other", "ExternalID": "fs-2", "Parameters": {"q": "1"}},
            "unable to update volume: 3 errors occurred:\n\t* volume name cannot be updated\n"
            "\t* volume external ID cannot be updated\n\t* volume parameters cannot be updated\n\n",
        ),
    ],
)
def test_volume_cannot_be_registered_again_with(agent, fresh, volume, kept, change, text):
    """The sentence, and nothing is stored."""
    volume_id = fresh("fixed")
    kept(volume(volume_id, **FULL))
    before = agent.get(f"/v1/volume/csi/{volume_id}")

    body = {"Volumes": [volume(volume_id, **FULL) | change]}

    assert agent.refused("PUT", "/v1/volumes", body) == (500, text)
    assert agent.get(f"/v1/volume/csi/{volume_id}") == before


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"Namespace": "nobody"}, "volume {id} is in nonexistent namespace nobody"),
        ({"PluginID": "nobody"}, "no CSI plugin named: nobody could be found"),
        ({"PluginID": "gone"}, "no healthy controllers for CSI plugin: gone"),
        (
            {"PluginID": "ebs", "RequestedCapabilities": [{"AccessMode": "bogus", "AttachmentMode": "file-system"}]},
            VALIDATE + "unknown volume access mode: bogus",
        ),
    ],
)
def test_new_volume_is_refused(agent, client, fresh, volume, fields, text):
    """And the product's classes of refusal: try again, or not."""
    volume_id = fresh("new")

    body = {"Volumes": [volume(volume_id, **fields)]}

    assert agent.refused("PUT", f"/v1/volume/csi/{volume_id}", body) == (500, text.format(id=volume_id))
    with pytest.raises(errors.NomadApiError) as caught:
        client.request("PUT", f"/v1/volume/csi/{volume_id}", body=body)
    assert caught.value.kind == ("retry" if "no healthy controllers" in text else "refused")
    assert volumes.get(client, "default", volume_id) is None


def test_ebs_volume_that_is_not_there_is_refused_by_its_driver(agent, fresh, volume):
    """EC2's code is in the sentence; the volume's own id is not."""
    fields = {"PluginID": "ebs", "ExternalID": "vol-0123456789abcdef0", "RequestedCapabilities": LONE}

    status, text = agent.refused("PUT", "/v1/volumes", {"Volumes": [volume(fresh("ebs"), **fields)]})

    assert status == 500
    assert text.startswith(f"{VALIDATE}{UNHELPFUL}: rpc error: code = Internal desc = Could not get volume with ID")
    assert "InvalidVolume.NotFound" in text


def test_plugin_that_never_was_healthy_takes_any_volume(client, fresh, volume, kept):
    """Why registrations of ours wait for health: no one is asked, and nothing could use it."""
    volume_id = fresh("garbage")

    kept(volume(volume_id, PluginID="mute"))

    assert volumes.get(client, "default", volume_id).schedulable is False


def test_id_with_brackets_is_found(client, fresh, volume, kept):
    """As those of volumes per allocation are."""
    name = fresh("data")
    kept(volume(f"{name}[2]"))

    assert volumes.get(client, "default", f"{name}[2]").volume_id == f"{name}[2]"
