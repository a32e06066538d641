"""What of a cluster is read, and what becomes of a list that may not be."""

import pytest

from nomad_csi import errors
from nomad_csi.diagnosis import facts, read_cluster

LISTS = ("/v1/agent/members", "/v1/nodes", "/v1/plugins", "/v1/volumes", "/v1/acl/token/self")


def test_a_token_without_rights_is_examined(context, scripted):
    """Each list is unknown, with the reason: that the token may not read them is what `doctor` is to say."""
    for path in LISTS:
        scripted.reply("GET", path, 403, "Permission denied")

    found = read_cluster.read_cluster(context.client, None, {})

    parts = (found.servers, found.clients, found.plugins, found.volumes, found.token)
    assert all(isinstance(part, facts.Unknown) and "Permission denied" in part.reason for part in parts)


def test_a_cluster_that_does_not_answer_is_an_error(context, scripted):
    """Nothing is known of it."""
    for path in LISTS:
        scripted.reply("GET", path, 0)

    with pytest.raises(errors.NomadApiError, match="the connection broke"):
        read_cluster.read_cluster(context.client, None, {})
