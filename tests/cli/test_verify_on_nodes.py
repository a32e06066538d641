"""``nomad-csi verify --on-nodes``: what it asks, what it prints where, and how often it may."""

import json

import pytest

from nomad_csi import cli
from nomad_csi.cli.common import inputs
from nomad_csi.diagnosis import verification, verification_report
from nomad_csi.health import probe_run
from tests import clocks

NOBODY = "http://127.0.0.1:9"


@pytest.fixture
def given(monkeypatch):
    """Verify nothing; return how it was to ask on clients."""
    found = []

    class Verifier:
        def __init__(self, *_given, on_nodes=None, **_more):
            found.append(on_nodes)

        def verify(self, *, watch_s=0.0):
            del watch_s
            found[-1].tell("asking 2 clients with job x")
            return verification_report.VerificationReport(plugins=(), volumes=())

    monkeypatch.setattr(verification, "Verifier", Verifier)
    return found


def test_options_make_the_job(spec, given, capsys):
    """Namespace and region are the connection's; what is being done goes to standard error."""
    words = ["--on-nodes", "--json", "--image", "x/y:1", "--state-dir", "/s", "--command", "/n", "--timeout", "9s"]
    place = ["--namespace", "storage", "--region", "eu", "--probe-timeout", "2.5s"]

    assert cli.main(["verify", spec, "--address", NOBODY, *words, *place]) == 0

    [how] = given
    assert isinstance(how, probe_run.OnNodes)
    assert (how.timeout_s, how.job.timeout_s) == (9.0, 2.5)
    assert (how.job.namespace, how.job.region, how.job.image) == ("storage", "eu", "x/y:1")
    assert (how.job.state_dir, how.job.command) == ("/s", "/n")
    out, err = capsys.readouterr()
    assert json.loads(out)["ok"] is True
    assert err == "asking 2 clients with job x\n"


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
