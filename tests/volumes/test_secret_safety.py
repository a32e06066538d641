"""Servers that erase the secrets of a volume that is read: nothing is read there that has some."""

import pytest

from nomad_csi import cli, errors
from nomad_csi.plan import registration
from nomad_csi.pulumi_state import stack_cli
from nomad_csi.volumes import apply_volumes as applied
from nomad_csi.volumes import created_volume, secret_safety, volume_registration

VOLUME = volume_registration.VolumeRegistrationResource()
KINDS = [VOLUME, created_volume.CreatedVolumeResource()]
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
DOCUMENT = registration.VolumeRegistration(
    volume_id="mysql",
    name="mysql",
    external_id="pool/mysql",
    plugin_id="nfs",
    capabilities=(registration.Capability(access_mode="single-node-writer", attachment_mode="file-system"),),
    secrets={"password": CANARY},
)
TOLD = (
    "reading a volume can erase its secrets in Nomad (server-0 with 1.10.6): upgrade Nomad's servers to 1.11.1 or 1.10.7 "
    "or 1.8.19, or later"
)


def members(*versions):
    """Return what a Nomad answers of its servers."""
    return {
        "ServerRegion": "global",
        "Members": [
            {"Name": f"server-{number}", "Status": "alive", "Tags": {"build": version, "region": "global"}}
            for number, version in enumerate(versions)
        ],
    }


@pytest.fixture
def old(scripted):
    """A Nomad whose server erases, and that has the volume."""
    scripted.reply("GET", "/v1/agent/members", 200, members("1.10.6", "1.10.7"))
    scripted.reply("GET", LIST, 200, [STUB])
    return scripted


def reads(script):
    """Return how often the volume was read."""
    return sum(path.startswith("/v1/volume/") for path, _ in script.sent("GET"))


@pytest.mark.parametrize(("version", "told"), [("1.10.6", TOLD), ("1.10.7", ""), ("2.0.5", ""), ("mine", "")])
def test_servers_are_asked_once(context, scripted, version, told):
    """Those that are fixed erase nothing."""
    scripted.reply("GET", "/v1/agent/members", 200, members(version))

    assert [secret_safety.risk(context.connect()) for _ in range(2)] == [told] * 2
    assert len(scripted.requests) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_refresh_reads_no_volume_with_secrets(context, old, heard, kind):
    """What is recorded stays, and why is said."""
    assert kind.read(context, IDENTITY, NEWS, NEWS) == (NEWS, NEWS)

    assert heard["warn"] == [f"volume {IDENTITY} was not compared: it has secrets, and {TOLD}"]
    assert reads(old) == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", ["create", "update"])
def test_registered_volume_with_secrets_is_not_compared(context, old, kind, step):
    """Refused before it is read; nothing is sent."""
    with pytest.raises(errors.RefusedError) as caught:
        kind.create(context, NEWS) if step == "create" else kind.update(context, IDENTITY, NEWS, NEWS)

    assert str(caught.value) == (
        f"volume {IDENTITY} has secrets, and {TOLD}; nothing was read or changed: until then, `nomad volume register` "
        "sends it unread"
    )
    assert (reads(old), old.sent("PUT")) == (0, [])


def test_volume_without_secrets_is_compared_as_ever(context, old):
    """None are erased; the servers are not even asked."""
    news = {name: value for name, value in NEWS.items() if name != "secrets"}
    old.reply("GET", GET, 404, "volume not found")

    assert VOLUME.read(context, IDENTITY, news, news) == (news, news | {"deregistered": True})
    assert [path for path, _ in old.sent("GET") if "members" in path] == []


def test_volume_with_secrets_is_refused_unread(context, old):
    """Nothing is read but a list."""
    [outcome] = applied.apply(context.connect(), applied.of_files([DOCUMENT]))

    assert (outcome.status, outcome.reason) == (
        "refused",
        f"volume default/mysql has secrets, and {TOLD}; nothing was read or changed: until then, `nomad volume register` "
        "sends it unread",
    )
    assert [path for path, _ in old.sent("GET") if path.startswith(GET)] == []


@pytest.mark.parametrize(
    "words",
    [["claims"], ["import", "--cluster"], ["import", "--for-pulumi", "x.json"], ["smoke", "default/mysql"]],
    ids=" ".join,
)
def test_command_that_reads_volumes_warns_once(old, capsys, monkeypatch, words):
    """On standard error, before it reads them."""
    monkeypatch.setenv("NOMAD_ADDR", old.address)
    monkeypatch.setattr(stack_cli.PulumiStack, "preview", lambda _: ({"resources": []}, []))
    old.reply("GET", "/v1/plugins", 200, [])
    old.reply("GET", GET, 200, STUB)

    cli.main(words)

    told = f"warning: {TOLD}; `nomad-csi explain nomad-erases-secrets` says more"
    assert capsys.readouterr().err.splitlines().count(told) == 1
    assert "members" in old.requests[0][1]
