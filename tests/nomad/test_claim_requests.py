"""Garbage collection, detaching by hand and forced deregistration: what is sent, and what an answer means."""

import pytest

from nomad_csi import errors
from nomad_csi.nomad import volumes

PATH = "/v1/volume/csi/v1"


def test_force_on_what_is_gone_is_done(agent, client):
    """Another volume's absence is not."""
    agent.answer("DELETE", PATH, "volume not found: v1", status=500)
    volumes.deregister(client, "prod", "v1", is_forced=True)

    agent.answer("DELETE", PATH, "volume in use: v1", status=500)
    with pytest.raises(errors.NomadApiError, match="volume in use: v1"):
        volumes.deregister(client, "prod", "v1", is_forced=True)
