"""Jobs: the HCL that one was submitted with. What else is read of them: tests/contract."""

import json

from nomad_csi.nomad import jobs


def test_source_in_another_format_is_no_hcl(agent, client):
    """A job sent as JSON has no HCL source."""
    agent.answer("GET", "/v1/job/j/submission", json.dumps({"Format": "json", "Source": "{}"}))

    assert jobs.source(client, "default", "j", 0) is None
