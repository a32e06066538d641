"""The emulator as the sandbox starts it: with a token, and for no web page."""

import pytest

from nomad_csi_sandbox.nomad import cluster, server
from nomad_csi_sandbox.nomad.clients import nodes
from tests import cross_site

TOKEN = "9d0f4c2e-0000-4000-8000-000000000000"


@pytest.fixture
def guarded(tmp_path):
    """Its port, and the cluster."""
    specs = [nodes.NodeSpec(name="client-1", zone="us-east-1a", instance_id="i-1")]
    made = cluster.Cluster(cluster.Settings(data_dir=tmp_path / "d", nodes=specs, token=TOKEN))
    with server.Server(made, is_guarded=True) as serving:
        yield serving.port, made


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({}, 403),
        ({"Host": "HERE", "X-Nomad-Token": TOKEN}, 403),
        ({"Host": "HERE", "Origin": "", "Sec-Fetch-Site": "", "X-Nomad-Token": TOKEN}, 415),
    ],
    ids=["rebinding", "cross-site", "text"],
)
def test_a_web_page_runs_no_job(guarded, tmp_path, change, status):
    """Given the request that once ran a command as root, and what of its headers an attacker may get rid of."""
    port, made = guarded
    headers = {**cross_site.HEADERS, **change}
    sent = {name: value.replace("HERE", f"127.0.0.1:{port}") for name, value in headers.items() if value}

    found, text = cross_site.send(port, "POST", "/v1/jobs", cross_site.job("evil", tmp_path / "came"), sent)

    assert found == status, text
    assert made.state.jobs == {}
    assert not (tmp_path / "came").exists()


def test_a_rebound_name_reads_nothing(guarded):
    """Reads too; a program with the token reads all."""
    port, _ = guarded
    rebound = {"Host": f"evil.example.com:{port}", "X-Nomad-Token": TOKEN}

    assert cross_site.send(port, "GET", "/v1/nodes", headers=rebound)[0] == 403
    assert cross_site.send(port, "GET", "/v1/nodes", headers={**rebound, "Host": f"127.0.0.1:{port}"})[0] == 200
    assert cross_site.send(port, "GET", "/v1/nodes", headers={"Host": f"localhost:{port}"})[0] == 403
