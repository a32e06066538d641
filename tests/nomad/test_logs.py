"""The last lines of a log: what is asked, and what a token needs."""

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
