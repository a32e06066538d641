"""Servers that erase the secrets of a volume that is read: nothing is read there that has some."""

from pathlib import Path

import pytest

from nomad_csi import cli, errors
from nomad_csi.volumes import apply_volumes as applied
from nomad_csi.volumes import desired, secret_safety, volume_resource
from tests import volume_files
from tests.scripted import servers

OURS = Path(__file__).parents[2] / "examples/committed-hcl"
VOLUME = volume_resource.VolumeRegistrationResource()
KINDS = [VOLUME, volume_resource.CreatedVolumeResource()]
IDENTITY = "default/mysql"
GET, LIST = "/v1/volume/csi/mysql", "/v1/volumes"
CANARY = "canary-2c90"
MODE = {"accessMode": "single-node-writer", "attachmentMode": "file-system"}
NEWS = {
    "volumeId": "mysql",
    "namespace": "default",
    "name": "mysql",
    "externalId": "pool/mysql",
    "pluginId": "nfs",
    "capabilities": [MODE],
    "secrets": {"password": CANARY},
}
STUB = {"ID": "mysql", "Namespace": "default", "Name": "mysql", "PluginID": "nfs", "ControllerRequired": True}
TOLD = (
    "reading a volume can erase its secrets in Nomad (server-0 with 1.10.6): upgrade Nomad's servers to 1.11.1 or 1.10.7 "
    "or 1.8.19, or later"
)
TWO_TOLD = TOLD.replace("1.10.6", "1.10.6, server-1 with 1.10.5")


@pytest.fixture
def old(scripted):
    """A Nomad whose server erases, and that has the volume."""
    scripted.reply("GET", "/v1/agent/members", 200, servers("1.10.6", "1.10.7"))
    scripted.reply("GET", LIST, 200, [STUB])
    return scripted


def reads(script):
    """Return how often the volume was read."""
    return sum(path.startswith("/v1/volume/") for path, _ in script.sent("GET"))


@pytest.mark.parametrize(
    ("version", "told", "is_excluded"),
    [("1.10.6 1.10.5", TWO_TOLD, False), ("1.10.7", "", True), ("2.0.5", "", True), ("mine", "", False)],
)
def test_servers_are_asked_once(context, scripted, version, told, is_excluded):
    """Those that are fixed erase nothing; of an unknown version nothing is known."""
    scripted.reply("GET", "/v1/agent/members", 200, servers(*version.split()))

    assert [secret_safety.risk(context.connect()) for _ in range(2)] == [told] * 2
    assert secret_safety.is_excluded(context.client) is is_excluded
    assert len(scripted.requests) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_refresh_reads_no_volume_with_secrets(context, old, heard, kind):
    """What is recorded stays, and why is said."""
    assert kind.read(context, IDENTITY, NEWS, NEWS) == (NEWS, NEWS)

    assert heard["warn"] == [f"volume {IDENTITY} was not compared: it has secrets, and {TOLD}"]
    assert reads(old) == 0


def register(context, _kind, new_inputs):
    """Register by the command; what is refused is raised."""
    [outcome] = applied.apply(context.connect(), volume_files.wanted([desired.parse_inputs(new_inputs)]))
    if outcome.status == "refused":
        raise errors.RefusedError(outcome.reason)


WAYS = {
    "create": lambda context, kind, new_inputs: kind.create(context, new_inputs),
    "update": lambda context, kind, new_inputs: kind.update(context, IDENTITY, new_inputs, new_inputs),
    "update that drops them": lambda context, kind, old: kind.update(context, IDENTITY, old, old | {"secrets": {}}),
    "command": register,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", WAYS)
def test_volume_with_secrets_is_refused_unread(context, old, kind, way):
    """Nothing is read but a list, and nothing is sent."""
    with pytest.raises(errors.RefusedError) as caught:
        WAYS[way](context, kind, NEWS)

    assert str(caught.value) == (
        f"volume {IDENTITY} has secrets, and {TOLD}; nothing was read or changed: until then, `nomad volume register` "
        "sends it unread"
    )
    assert (reads(old), old.sent("PUT")) == (0, [])


def test_volume_without_secrets_is_compared_as_ever(context, old):
    """None are erased; the servers are not even asked."""
    new_inputs = {name: value for name, value in NEWS.items() if name != "secrets"}
    old.reply("GET", GET, 404, "volume not found")

    assert VOLUME.read(context, IDENTITY, new_inputs, new_inputs) == (new_inputs, new_inputs | {"deregistered": True})
    assert [path for path, _ in old.sent("GET") if "members" in path] == []


@pytest.mark.parametrize(
    "words",
    [["claims"], ["import", "--cluster"], ["verify", f"{OURS}/storage.yaml"], ["apply", f"{OURS}/nomad", "--dry-run"]],
    ids=" ".join,
)
def test_command_that_reads_volumes_warns_once(old, capsys, monkeypatch, words):
    """On standard error, before it reads them."""
    monkeypatch.setenv("NOMAD_ADDR", old.address)
    old.reply("GET", "/v1/plugins", 200, [])
    old.reply("GET", GET, 200, STUB)

    cli.main(words)

    told = f"warning: {TOLD}; `nomad-csi explain nomad-erases-secrets` explains it"
    assert capsys.readouterr().err.splitlines().count(told) == 1
    assert "members" in old.requests[0][1]
