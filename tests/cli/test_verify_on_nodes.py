"""``nomad-csi verify --on-nodes``: what it asks, what it prints where, and how often it may."""

from nomad_csi import cli
from nomad_csi.cli.common import inputs
from tests import clocks

NOBODY = "http://127.0.0.1:9"


def test_rounds_keep_their_distance(spec, monkeypatch):
    """Whatever Nomad tells meanwhile: each one runs a job on every client."""
    waited = []

    class Interrupted(clocks.Clock):
        def sleep(self, seconds):
            waited.append(seconds)
            raise KeyboardInterrupt

    monkeypatch.setattr(inputs, "CLOCK", Interrupted())

    assert cli.main(["verify", spec, "--on-nodes", "--watch", "--every", "90s", "--address", NOBODY]) == 2

    assert waited == [90]
