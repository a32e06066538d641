"""The rules of registering a volume again, as measured on a real agent."""

import pytest

from nomad_csi_sandbox.nomad.storage import volumes

ZONE = {"Required": [{"Segments": {"zone": "a"}}]}


@pytest.fixture
def stored(volume):
    """A stored volume without topology."""
    return volumes.first(volumes.decode(volume("v", Parameters={"a": "1"}, Context={"c": "1"})))


@pytest.fixture
def update(volume):
    """The same volume as sent again, with changes."""
    return lambda **fields: volumes.decode(volume("v", Parameters={"a": "1"}, **fields))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"Name": "w"}, "volume name cannot be updated"),
        ({"ExternalID": "vol-2"}, "volume external ID cannot be updated"),
        ({"PluginID": "q"}, "volume plugin ID cannot be updated"),
        ({"CloneID": "c"}, "volume clone ID cannot be updated"),
        ({"SnapshotID": "s"}, "volume snapshot ID cannot be updated"),
        ({"Parameters": {"a": "2"}}, "volume parameters cannot be updated"),
    ],
)
def test_merge_refuses_what_is_fixed(stored, volume, fields, words):
    """The sentence is Nomad's, behind what the route puts in front of it."""
    with pytest.raises(volumes.VolumeError) as caught:
        volumes.merge(stored, volumes.decode(volume("v", **fields)), in_use=False)

    assert str(caught.value) == f"1 error occurred:\n\t* {words}\n\n"


def test_merge_refuses_other_mount_options_while_in_use(stored, update):
    """Omitted mount options count as other ones, even where none were stored."""
    with pytest.raises(volumes.VolumeError, match="can not update mount options while volume is in use"):
        volumes.merge(stored, update(MountOptions=None), in_use=True)

    assert volumes.merge(stored, update(MountOptions=None), in_use=False)["MountOptions"]["FSType"] == ""


def test_merge_keeps_context_and_replaces_secrets(stored, update):
    """An omitted context stays, omitted secrets are erased."""
    merged = volumes.merge(stored | {"Secrets": {"s": "1"}}, update(), in_use=False)

    assert (merged["Context"], merged["Secrets"]) == ({"c": "1"}, {})


def test_merge_ignores_a_topology_that_comes_later(stored, update):
    """A volume registered without a topology never gets one."""
    merged = volumes.merge(stored, update(RequestedTopologies=ZONE), in_use=False)

    assert (merged["Topologies"], merged["RequestedTopologies"]) == ([], None)


def test_merge_refuses_another_topology(volume):
    """A topology once taken is fixed, also against being left out."""
    placed = volumes.first(volumes.decode(volume("v", RequestedTopologies=ZONE)))

    with pytest.raises(volumes.VolumeError, match="topology request update was not compatible"):
        volumes.merge(placed, volumes.decode(volume("v")), in_use=False)


def test_merge_refuses_to_drop_the_capability_in_use(stored, update):
    """The mode pair of the current claims has to stay."""
    used = stored | {"AccessMode": "single-node-writer", "AttachmentMode": "file-system"}
    other = [{"AccessMode": "multi-node-multi-writer", "AttachmentMode": "file-system"}]

    with pytest.raises(volumes.VolumeError, match="not compatible with existing capability in use"):
        volumes.merge(used, update(RequestedCapabilities=other), in_use=True)


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (3_145_728, 2_097_152, "max requested capacity (2.1 MB) less than or equal to min (3.1 MB)"),
        (0, 1_048_576, "max requested capacity (1.0 MB) less than or equal to current (2.1 MB)"),
    ],
)
def test_resize_refuses_what_cannot_be(stored, update, low, high, words):
    """Sizes are written as go-humanize writes them."""
    asked = update(RequestedCapacityMin=low, RequestedCapacityMax=high)

    with pytest.raises(volumes.VolumeError) as caught:
        volumes.resize(stored | {"Capacity": 2_097_152}, asked)

    assert str(caught.value) == words


def test_redacted_volume_shows_no_secret(volume):
    """Secrets are gone, mount flags are a mark."""
    spec = volumes.decode(volume("v", Secrets={"s": "1"}, MountOptions={"FSType": "nfs", "MountFlags": ["password=x"]}))

    shown = volumes.redacted(spec)

    assert (shown["Secrets"], shown["MountOptions"]) == (None, {"FSType": "nfs", "MountFlags": ["[REDACTED]"]})


def test_snake_case_keys_are_ignored():
    """A wrong body reads as one without a plugin id, as in Nomad."""
    with pytest.raises(volumes.VolumeError) as caught:
        volumes.check(volumes.decode({"ID": "v", "plugin_id": "p"}))

    assert str(caught.value) == "validation: missing plugin id, must include at least one capability block"
