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


@pytest.mark.parametrize(
    ("status", "text", "named", "raised"),
    [
        (500, "plugin does not support listing snapshots", (), errors.RefusedError),
        (500, "plugin does not support listing snapshots", ("vol-1",), None),
        (500, "No cluster leader", ("vol-1",), errors.NomadApiError),
        (403, "Permission denied", ("vol-1",), errors.NomadApiError),
        (
            200,
            {"Snapshots": [{"ID": "snap-1", "CreateTime": 1, "ExternalSourceVolumeID": ""}]},
            (),
            errors.RefusedError,
        ),
    ],
)
def test_storage_that_is_not_known_is_proven_by_its_name_alone(scripted, status, text, named, raised):
    """A plugin may list no snapshots, or not of which storage one is. An outage is no proof."""
    scripted.reply("GET", PATH, status, text)
    begun = {"ID": "new", "Namespace": "default", "PluginID": "ebs", "ExternalID": ""}
    scripted.reply("GET", "/v1/volumes", 200, [begun])

    with nomad.Nomad(nomad.Connection(address=scripted.address)) as client:
        if raised is None:
            assert volume_snapshots.refuse_unproven(client, "ebs", ["snap-1"], named) is None
        else:
            with pytest.raises(raised, match=r"--external-id" if raised is errors.RefusedError else "GET"):
                volume_snapshots.refuse_unproven(client, "ebs", ["snap-1"], named)
