"""Real agents over mutual TLS, in two regions, and from inside a task by its own socket."""

import shutil
from contextlib import ExitStack, suppress

import pytest

from nomad_csi import errors, nomad
from nomad_csi.nomad import jobs
from tests.real import certificates, nomad_agents

START_S = 60

CALLER = """job "caller" {
  type = "service"
  group "g" {
    task "t" {
      driver = "raw_exec"
      identity {
        file = true
      }
      config {
        command = "sleep"
        args    = ["600"]
      }
    }
  }
}
"""


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    """A folder with an authority and the certificates of two regions' servers and of a caller."""
    folder = tmp_path_factory.mktemp("tls")
    certificates.write_all(folder, "server.global.nomad", "server.eu.nomad", "cli.global.nomad")
    return folder


@pytest.fixture(scope="module")
def regions(tmp_path_factory, authority, free_ports, until):
    """The addresses of two servers, each the only one of its region, that know each other."""
    if not shutil.which("nomad"):
        pytest.skip("needs `nomad` on PATH")
    ports = {name: free_ports(3) for name in ("global", "eu")}
    with ExitStack() as stack:
        for name, own_ports in ports.items():
            others = [serf for region, (_, _, serf) in ports.items() if region != name]
            own = {"region": name, "server": nomad_agents.server(1, others), "tls": _tls(name, authority)}
            nomad_agents.start(stack, tmp_path_factory.mktemp(name), name, own_ports, **own)
        found = {name: f"https://127.0.0.1:{http}" for name, (http, _, _) in ports.items()}
        until(
            lambda: all(_know_each_other(found[name], authority) for name in ports), START_S, "both regions are known"
        )
        yield found


def _tls(name, authority):
    """Return the settings of a server of region *name* that wants a certificate of every caller."""
    return {
        "http": True,
        "rpc": True,
        "ca_file": str(authority / "ca.pem"),
        "cert_file": str(authority / f"server.{name}.nomad.pem"),
        "key_file": str(authority / f"server.{name}.nomad-key.pem"),
        "verify_server_hostname": True,
        "verify_https_client": True,
    }


def _shown(address, authority, **more):
    """Return the connection of a caller who shows its certificate."""
    own = {"client_cert": "cli.global.nomad.pem", "client_key": "cli.global.nomad-key.pem", "ca_cert": "ca.pem"}
    files = {name: str(authority / file) for name, file in own.items()}
    return nomad.Connection(address=address, **files | more)


def _know_each_other(address, authority):
    with suppress(errors.NomadApiError), nomad.Nomad(_shown(address, authority)) as client:
        known = client.request("GET", "/v1/regions").data
        # A leader is there some moments before its keyring, without which no variable is taken.
        ready = {"Path": "ready", "Items": {"is": "ready"}}
        return sorted(known) == ["eu", "global"] and all(
            client.request("PUT", "/v1/var/ready", query={"region": region}, body=ready).data for region in known
        )
    return False


def test_servers_that_want_a_certificate_are_asked_in_either_region(regions, authority):
    """What is written in one region is there and not in the other, whichever agent is asked."""
    item = {"Path": "nomad-csi/cluster", "Items": {"id": "of-eu"}}
    with nomad.Nomad(_shown(regions["global"], authority, region="eu")) as eu:
        eu.request("PUT", "/v1/var/nomad-csi/cluster", body=item)
        assert eu.request("GET", "/v1/var/nomad-csi/cluster").data["Items"] == {"id": "of-eu"}
    with nomad.Nomad(_shown(regions["eu"], authority)) as there:
        assert there.request("GET", "/v1/var/nomad-csi/cluster").data["Items"] == {"id": "of-eu"}
    with (
        nomad.Nomad(_shown(regions["global"], authority)) as here,
        pytest.raises(errors.NomadApiError) as caught,
    ):
        here.request("GET", "/v1/var/nomad-csi/cluster")
    assert caught.value.status == 404


def test_region_that_is_not_there_is_told(regions, authority):
    """With Nomad's own words."""
    with (
        nomad.Nomad(_shown(regions["eu"], authority, region="mars")) as client,
        pytest.raises(errors.NomadApiError, match="No path to region"),
    ):
        client.request("GET", "/v1/volumes", query={"type": "csi"})


def test_task_asks_by_its_own_socket(agent, until):
    """The agent's whole API, for the identity that Nomad gave the task."""
    jobs.register(agent.client, jobs.parse(agent.client, CALLER), source=CALLER, enforce_index=None)
    try:
        [allocation] = until(lambda: _running(agent.client), START_S, "the task runs")
        secrets = agent.folder / "alloc" / allocation.alloc_id / "t/secrets"
        token = (secrets / "nomad_token").read_text(encoding="utf-8").strip()
        settings = nomad.Connection.from_environment({"NOMAD_ADDR": f"unix://{secrets}/api.sock", "NOMAD_TOKEN": token})

        with nomad.Nomad(settings) as client:
            one = client.request("GET", "/v1/job/caller").data["ID"]

        assert one == "caller"
        with nomad.Nomad(nomad.Connection(address=settings.address)) as stranger, pytest.raises(errors.NomadApiError):
            stranger.request("GET", "/v1/job/caller")
    finally:
        jobs.stop(agent.client, "default", "caller", purge=True)


def _running(client):
    return [each for each in jobs.allocations(client, "default", "caller") if each.client_status == "running"]
