"""A snapshot through Nomad: sent once, and what is known of it where that fails."""

import pytest

from nomad_csi import errors, nomad
from nomad_csi.nomad import snapshots
from nomad_csi.volumes import volume_snapshots

PATH = "/v1/volumes/snapshot"


@pytest.mark.parametrize(
    ("status", "text", "kind", "advice"),
    [
        (0, "", "ambiguous", "it may have been made: run again with --name nightly, which makes no second one"),
        (500, "No cluster leader", "retry", ""),
        (403, "Permission denied", "refused", ""),
    ],
)
def test_snapshot_may_exist_only_where_the_answer_was_lost(scripted, status, text, kind, advice):
    """A second request is for whoever knows the name."""
    scripted.reply("PUT", PATH, status, text)
    wanted = snapshots.NewSnapshot(namespace="default", volume_id="mysql", name="nightly")

    with (
        nomad.Nomad(nomad.Connection(address=scripted.address)) as client,
        pytest.raises(errors.NomadApiError) as caught,
    ):
        volume_snapshots.create(client, wanted, wait_s=5, report=print)

    assert (caught.value.kind, len(scripted.sent("PUT"))) == (kind, 1)
    assert ("it may have been made" in caught.value.advice) is bool(advice)
    assert not advice or caught.value.advice == advice


NO_LIST, SNAPSHOT = "plugin does not support listing snapshots", {"ID": "snap-1", "CreateTime": 1}
OTHERS = [SNAPSHOT | {"ID": "snap-2"}, SNAPSHOT | {"ID": "snap-0", "CreateTime": 2}]
SNAPSHOTS = {"Snapshots": [*OTHERS, SNAPSHOT | {"ExternalSourceVolumeID": "vol-1"}]}
UNPROVEN = (
    "no registered volume of plugin ebs has the storage of snapshot snap-1 of storage {}; name the storage with --ext"
)


@pytest.mark.parametrize(
    ("status", "text", "named", "expected"),
    [
        (
            500,
            NO_LIST,
            (),
            (errors.RefusedError, "nothing was deleted: the storage of the snapshots is not known: GET"),
        ),
        (500, NO_LIST, ("vol-1",), None),
        (500, "No cluster leader", ("vol-1",), (errors.NomadApiError, "No cluster leader")),
        (403, NO_LIST, ("vol-1",), (errors.NomadApiError, NO_LIST)),
        (200, {"Snapshots": [SNAPSHOT]}, (), (errors.RefusedError, UNPROVEN.format("unknown"))),
        (200, SNAPSHOTS, ("vol-2",), (errors.RefusedError, UNPROVEN.format("vol-1"))),
        (200, SNAPSHOTS, ("vol-1",), ["snap-1", "snap-2", "snap-0"]),
    ],
)
def test_storage_that_is_not_known_is_proven_by_its_name_alone(scripted, status, text, named, expected):
    """A plugin may list no snapshots, or not of which storage one is. An outage is no proof."""
    scripted.reply("GET", PATH, status, text)
    begun = {"ID": "new", "Namespace": "default", "PluginID": "ebs", "ExternalID": ""}
    scripted.reply("GET", "/v1/volumes", 200, [begun])

    with nomad.Nomad(nomad.Connection(address=scripted.address)) as client:
        if isinstance(expected, tuple):
            with pytest.raises(expected[0], match=expected[1]):
                volume_snapshots.refuse_unproven(client, "ebs", ["snap-1"], named)
        else:
            found = volume_snapshots.refuse_unproven(client, "ebs", ["snap-1"], named)
            assert (found and list(found)) == expected
