"""The real agent as the sandbox starts it: ACLs on, with the sandbox's token alone, and no job from a web page."""

import gc
import os
import shutil
import ssl
import subprocess

import pytest

from nomad_csi import nomad
from nomad_csi.nomad import nodes
from nomad_csi_sandbox.session import agent, environment, folder
from tests import cross_site
from tests.contract import agents

pytestmark = [
    pytest.mark.real_nomad,
    pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning"),  # that of the agent itself
]


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    """The agent's port and the sandbox's token."""
    if why := agents.obstacle():
        pytest.skip(why)
    paths = folder.Folder(tmp_path_factory.mktemp("project"))
    paths.make()
    paths.make_token()
    data_dir = agents.short_folder()
    folder.claim_data_dir(data_dir, paths.project)
    variables = {"PATH": os.environ["PATH"], "HOME": str(paths.path / "home")}
    process = agent.start(paths, data_dir, ("us-east-1a", "i-0123456789abcdef0"), variables)
    gc.collect()  # the agent outlives the object that started it: here that is no warning, in another file it is one
    try:
        yield process.port, paths
    finally:
        agent.stop(process, paths)
        agent.clear(data_dir)
        shutil.rmtree(data_dir)


def test_its_one_token_is_that_of_the_sandbox(started):
    """It may do everything, and it is in no other file, argument or variable."""
    port, paths = started
    with nomad.Nomad(agent.connect(paths, port)) as client:
        assert [node.status for node in nodes.list_nodes(client)] == ["ready"]
    found = [
        path for path in paths.path.rglob("*") if path.is_file() and paths.token in path.read_text(errors="replace")
    ]

    assert found == [paths.token_file]


def test_nomad_command_reaches_it_by_the_variables(started):
    """Those of ``sandbox status --env``, and not without the certificate."""
    port, paths = started
    variables = environment.of_agent(paths, port)

    def node_status(*names):
        own = {"PATH": os.environ["PATH"]} | {name: variables[name] for name in names}
        return subprocess.run(["nomad", "node", "status"], env=own, capture_output=True, text=True, check=False)

    given, without = node_status(*variables), node_status("NOMAD_ADDR", "NOMAD_TOKEN", "NOMAD_CACERT")

    assert given.returncode == 0, given.stderr
    assert given.stdout.splitlines()[1].endswith("ready")
    assert without.returncode == 1
    assert "certificate required" in without.stderr


@pytest.mark.parametrize("host", ["evil.example.com", "127.0.0.1"])
def test_a_web_page_runs_no_job(started, tmp_path, host):
    """Given the cross-site request, by the agent's address and by a name that points to it, with its certificate, too."""
    port, paths = started
    headers = cross_site.HEADERS | {"Host": host}

    evil = cross_site.job("evil", tmp_path / "came")
    with_it = ssl.create_default_context(cafile=paths.certificates["ca_cert"])
    without = ssl.create_default_context(cafile=paths.certificates["ca_cert"])
    with_it.load_cert_chain(paths.certificates["client_cert"], paths.certificates["client_key"])

    assert cross_site.send(port, "POST", "/v1/jobs", evil, headers)[0] == 400
    with pytest.raises((ssl.SSLError, ConnectionError)):
        cross_site.send(port, "POST", "/v1/jobs", evil, headers, without)
    for method, body in (("POST", evil), ("GET", "")):
        assert cross_site.send(port, method, "/v1/jobs", body, headers, with_it) == (403, "Permission denied")
    with nomad.Nomad(agent.connect(paths, port)) as client:
        assert client.request("GET", "/v1/jobs", query={"namespace": "*"}).data == []
    assert not (tmp_path / "came").exists()
