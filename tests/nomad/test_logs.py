"""The last lines of a log: what is asked, and what a token needs."""

import pytest

from nomad_csi import errors
from nomad_csi.nomad import jobs


def test_tail_asks_for_plain_text_from_the_end(agent, client):
    """A log is nobody's JSON."""
    agent.answer("GET", "/v1/client/fs/logs/a-1", "{ not json\n")

    assert jobs.tail_log(client, "storage", "a-1", "plugin", length=50) == "{ not json\n"
    assert agent.asked[0].query == {
        "namespace": "storage",
        "task": "plugin",
        "type": "stderr",
        "plain": "true",
        "origin": "end",
        "offset": "50",
    }


@pytest.mark.parametrize("status", [403, 500])
def test_rejects_a_token_without_read_logs(agent, client, status):
    """The refusal names the right that is missing, and is one of rights, whatever status a release gives it."""
    agent.answer("GET", "/v1/client/fs/logs/a-1", "Permission denied", status=status)

    with pytest.raises(errors.NomadApiError, match=r"needs read-logs in namespace default") as caught:
        jobs.tail_log(client, "default", "a-1", "plugin")

    assert caught.value.status == 403
