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
