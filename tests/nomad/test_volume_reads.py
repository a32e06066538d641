"""Volumes that a list names, read one by one: what the token may not read is left out and told."""

import json

import pytest

from nomad_csi import errors
from nomad_csi.nomad import volumes


def shown(volume_id, namespace):
    """Return a volume as Nomad shows it."""
    return json.dumps(
        {"ID": volume_id, "Namespace": namespace, "Name": volume_id, "PluginID": "efs", "ExternalID": "fs-1"}
    )


def test_many_that_may_not_be_read_are_counted(client, agent):
    """Five of them are named."""
    for number in range(7):
        agent.answer("GET", f"/v1/volume/csi/v{number}", "Permission denied", status=403)

    [unread] = volumes.read_each(client, [("secret", f"v{number}") for number in range(7)]).unread

    assert unread.what == "7 volumes of namespace secret (v0, v1, v2, v3, v4 and 2 more)"


def test_volume_that_went_away_meanwhile_is_no_volume(client, agent):
    """Between the list and the look."""
    agent.answer("GET", "/v1/volume/csi/a", "volume not found", status=404)
    agent.answer("GET", "/v1/volume/csi/b", shown("b", "default"))

    found = volumes.read_each(client, [("default", "a"), ("default", "b")])

    assert ([item.volume_id for item in found.volumes], found.unread) == (["b"], ())


def test_read_that_nomad_does_not_answer_is_an_error(client, agent):
    """Only a token that may not read leaves a namespace out."""
    agent.answer("GET", "/v1/volume/csi/a", "some other refusal", status=400)

    with pytest.raises(errors.NomadApiError, match="some other refusal"):
        volumes.read_each(client, [("default", "a")])
