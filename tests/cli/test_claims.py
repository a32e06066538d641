"""``nomad-csi claims`` and ``nomad-csi remove``: exit codes, words and data, and nothing done unasked."""

import dataclasses
import io
import json
import sys

import pytest

from nomad_csi import cli, nomad
from nomad_csi.diagnosis import claim_replacement
from nomad_csi.nomad import volumes
from nomad_csi.plan import registration
from nomad_csi_sandbox.nomad import cluster, state
from nomad_csi_sandbox.nomad import server as agent
from nomad_csi_sandbox.nomad.clients import nodes

CANARY = "canary-3e88"
GHOST = "62d4d1b7-96ce-3b12-ba07-d6f3a5bf86b1"
FILE_SYSTEM = "fs-0123456789abcdef0"
DISK = "vol-0123456789abcdef0"
VOLUME_FILE = f"""type = "csi"
id = "a"
name = "a"
external_id = "{FILE_SYSTEM}"
plugin_id = "aws-efs0"

capability {{
  access_mode = "multi-node-multi-writer"
  attachment_mode = "file-system"
}}
"""


def document(volume_id):
    return registration.VolumeRegistration(
        volume_id=volume_id,
        name=volume_id,
        external_id=FILE_SYSTEM,
        plugin_id="aws-efs0",
        capabilities=(registration.Capability(access_mode="multi-node-multi-writer", attachment_mode="file-system"),),
        secrets={"password": CANARY},
    )


@pytest.fixture
def served(short_folder):
    """An emulator agent with volumes ``a`` and ``b``, which have a secret; nothing claims them."""
    specs = [nodes.NodeSpec(name="client-1", zone="us-east-1a", instance_id="i-1")]
    settings = cluster.Settings(data_dir=short_folder, nodes=specs, environment={"PATH": "/usr/bin:/bin"})
    made = cluster.Cluster(settings)
    made.state.plugins["aws-efs0"] = state.PluginRecord(plugin_id="aws-efs0", create_index=1, modify_index=1)
    serving = agent.Server(made)
    with nomad.Nomad(nomad.Connection(address=serving.url)) as client:
        for name in ("a", "b"):
            volumes.register(client, document(name))
    yield made, serving.url
    serving.close()


@pytest.fixture
def stick(served):
    """Let a volume be claimed by an allocation that nobody knows."""
    made, _ = served

    def claim(volume_id):
        with made.state.lock:
            made.state.volumes["default", volume_id].claims[GHOST] = {"Mode": "write", "NodeID": "gone"}

    return claim


@pytest.fixture
def run(served, capsys, tmp_path, monkeypatch):
    """Run a command where there is no spec; return its exit code, what it printed, and what it wrote beside it."""
    monkeypatch.chdir(tmp_path)

    def words(*given):
        code = cli.main([*given, "--address", served[1]])
        found = code, *capsys.readouterr()
        assert CANARY not in found[1] + found[2]
        return found

    return words


@pytest.fixture
def writes(served):
    """Return every request that was no read, since the volumes were registered."""
    made, _ = served
    before = len(made.requests)
    return lambda: [
        f"{item['method']} {item['path']}" for item in list(made.requests)[before:] if item["method"] != "GET"
    ]


@pytest.fixture
def terminal(monkeypatch):
    """Somebody at a terminal who types: ``terminal("yes")``."""

    def types(line):
        typed = io.StringIO(f"{line}\n")
        typed.isatty = lambda: True
        monkeypatch.setattr(sys, "stdin", typed)

    return types


@pytest.fixture(autouse=True)
def _nobody(monkeypatch):
    """Nobody is at a terminal."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))


def test_stuck_claim_exits_1(run, stick, writes):
    """With what to type next."""
    stick("a")

    code, out, _ = run("claims")

    assert code == 1
    assert f"default/a  vanished  -       -      write  -      {GHOST}  -" in out
    assert "advice    release the claim with `nomad-csi claims repair default/a`" in out
    assert writes() == []


def test_repair_without_anybody_to_ask_is_refused(run, stick, writes):
    """The step is told; nothing is sent."""
    stick("a")

    code, _, err = run("claims", "repair", "default/a", "--step-timeout", "0.01s")

    assert code == 1
    assert "step 2: have Nomad collect garbage" in err
    assert "refused: no terminal to confirm on; pass --yes" in err
    assert writes() == []


def test_repair_that_was_agreed_to_beforehand(run, stick, writes):
    """As data, with the steps."""
    stick("a")

    code, out, _ = run("claims", "repair", "default/a", "--yes", "--step-timeout", "0.01s", "--json")

    assert code == 0
    assert json.loads(out) == {
        "schema_version": 1,
        "namespace": "default",
        "volume_id": "a",
        "status": "free",
        "reason": "nothing claims it",
        "steps": ["wait", "gc"],
    }
    assert writes() == ["PUT /v1/system/gc"]


def test_last_step_takes_registration_and_secrets_from_files(run, served, stick, tmp_path, monkeypatch, writes):
    """No secret is shown, and none is lost."""
    made, _ = served
    monkeypatch.setattr(made, "collect_garbage", lambda: None)
    stick("a")
    (tmp_path / "a.volume.hcl").write_text(VOLUME_FILE)
    (tmp_path / "secrets.yaml").write_text(f"default/a:\n  password: {CANARY}\ndefault/other:\n  password: {CANARY}\n")

    words = ["repair", "default/a", "--yes", "--step-timeout", "0.01s", "--from", str(tmp_path / "a.volume.hcl")]
    code, out, err = run("claims", *words, "--secrets", str(tmp_path / "secrets.yaml"))

    assert (code, out.split()[:2]) == (0, ["default/a", "registered"])
    assert f"its storage {FILE_SYSTEM} is still attached or mounted somewhere: make sure of it" in err
    note = f"/v1/var/{claim_replacement.note_path('a')}"
    assert writes() == [
        "PUT /v1/system/gc",
        f"PUT {note}",
        "DELETE /v1/volume/csi/a",
        "PUT /v1/volume/csi/a",
        f"DELETE {note}",
    ]
    record = made.state.volumes["default", "a"]
    assert (record.claims, record.spec["Secrets"]) == ({}, {"password": CANARY})


def test_free_volumes_are_deregistered(run, writes):
    """What is not there is said, with exit code 1, and the storage that stays is named; EC2 has nothing to say of a file system."""
    code, out, err = run("remove", "default/a", "default/nobody")

    assert (code, err) == (1, "")
    assert out.splitlines() == [
        "volume          outcome       remarks",
        "default/a       deregistered  -",
        "default/nobody  gone          not registered in namespace default",
        "2 volumes: 1 deregistered, 1 gone",
        f'default/a: storage {FILE_SYSTEM} stays; to register it again: existing: {{external_id: "{FILE_SYSTEM}"}}',
    ]
    assert writes() == ["DELETE /v1/volume/csi/a"]


def test_region_of_the_zone_is_queried(run, served):
    """What only reads shows what Nomad says, and ends with 2; what changes anything is not begun without EC2's word."""
    places = ({"topology.ebs.csi.aws.com/zone": "us-east-1a"},)
    with nomad.Nomad(nomad.Connection(address=served[1])) as client:
        disk = dataclasses.replace(document("disk"), external_id=DISK, required_topologies=places)
        volumes.register(client, disk)
    none = "AWS in us-east-1 could not be asked: Unable to locate credentials"

    assert run("claims") == (
        2,
        f"0 claims: 0 errors, 0 warnings; EC2 could not be queried: {none}; --no-aws leaves it out\n",
        "",
    )
    assert run("claims", "--no-aws")[0] == 0
    assert run("remove", "disk") == (2, "", f"error: {none}\n")
    assert run("claims", "repair", "disk", "--yes") == (2, "", f"error: {none}\n")
    assert json.loads(run("remove", "disk", "--no-aws", "--json")[1])["asked_ec2"] is False


def test_claimed_volume_exits_1(run, stick, writes):
    """The other one goes."""
    stick("a")

    code, out, _ = run("remove", "default/a", "default/b", "--timeout", "0.01s", "--json")

    first, second = json.loads(out)["volumes"]
    assert (code, first["status"], second["status"]) == (1, "claimed", "deregistered")
    assert first["reason"] == f"held by a job that is gone (write, allocation {GHOST}, node unknown)"
    assert writes() == ["DELETE /v1/volume/csi/b"]


def test_force_explains_itself_and_asks(run, stick, writes):
    """And does nothing where nobody answers."""
    stick("a")

    code, _, err = run("remove", "default/a", "--force")

    assert code == 1
    assert "does not detach them from their instances" in err
    assert writes() == []
