"""Storage that plugins made is deleted by their controllers, and only where that cannot hurt, or somebody accepts it."""

import shutil
import tempfile
from pathlib import Path

import pytest

from nomad_csi import errors
from nomad_csi.csi import channel, endpoint, services
from nomad_csi.drivers import catalogue
from nomad_csi.volumes import deleters
from nomad_csi_sandbox.csi_plugin import arguments, server
from tests import csi_calls

NAME = "hostpath.csi.k8s.io"
USE = (services.volume_capability(access_mode="single-node-writer", attachment_mode="file-system"),)
KNOWN = catalogue.deletion(NAME)
UNGUARDED = {"accepts_unguarded": True}


@pytest.fixture
def socket():
    """An emulator of csi-driver-host-path; where it listens."""
    folder = Path(tempfile.mkdtemp(prefix="nc"))
    environment = {"NOMAD_CSI_SANDBOX_STORAGE": str(folder / "storage"), "NOMAD_CSI_SANDBOX_ZONE": "us-east-1a"}
    words = ["--driver", "csi-hostpath", f"--endpoint=unix://{folder}/csi.sock", "--nodeid=n1"]
    with server.served(arguments.read(words, environment), environment):
        yield f"{folder}/csi.sock"
    shutil.rmtree(folder)


@pytest.fixture
def way(socket):
    """Write a way through it: ``way(provider="other")``."""
    return lambda **fields: deleters.PluginDeleter(**{"endpoint": socket, "provider": NAME} | fields)


def test_last_look_comes_before_the_order(way, socket):
    """What it raises goes up, and the storage stays."""
    with channel.connect(endpoint.parse(socket)) as connection:
        made = csi_calls.create_volume(connection, "v", *USE, required_bytes=2**20).volume_id

    def refuse():
        raise errors.RefusedError("registered again")

    with pytest.raises(errors.RefusedError, match="registered again"):
        way().delete(made, refuse)

    assert way().observe(made) == "present"


NO_SNAPSHOT = "lacks CREATE_DELETE_SNAPSHOT; without a last snapshot: --skip-final-snapshot, in a spec"
REJECTED = {
    "its storage does not refuse": ({}, KNOWN, None, "does not refuse to be deleted while it is in use: .* --accept ung"),
    "nobody knows the driver": ({}, None, None, "--accept unguarded"),
    "another plugin": (UNGUARDED | {"provider": "other"}, KNOWN, None, f" is plugin {NAME}, and the volume is one of other$"),
    "it deletes nothing": (UNGUARDED, KNOWN, ("CREATE_DELETE_SNAPSHOT",), "lacks CREATE_DELETE_VOLUME$"),
    "it takes no snapshots": (UNGUARDED, KNOWN, ("CREATE_DELETE_VOLUME",), NO_SNAPSHOT),
}  # fmt: skip


@pytest.mark.parametrize(("fields", "known", "rpcs", "words"), REJECTED.values(), ids=REJECTED)
def test_rejects_a_plugin_that_cannot_delete_safely(way, monkeypatch, fields, known, rpcs, words):
    """Before anything is deregistered."""
    monkeypatch.setattr(catalogue, "deletion", lambda _provider: known)
    if rpcs is not None:
        monkeypatch.setattr(services, "controller_get_capabilities", lambda *_, **__: rpcs)

    with pytest.raises(errors.RefusedError, match=words):
        way(**fields).check(with_snapshot=True)


@pytest.mark.parametrize(("fields", "refuses"), [(UNGUARDED, False), ({}, True)], ids=["accepted", "it refuses"])
def test_storage_that_refuses_needs_no_acceptance(way, monkeypatch, fields, refuses):
    """As that of the EBS driver, and of no other in the catalogue."""
    known = {name: catalogue.deletion(driver.provider) for name, driver in catalogue.DRIVERS.items()}
    assert [name for name, found in known.items() if found and found.refuses_in_use] == ["aws-ebs"]
    monkeypatch.setattr(catalogue, "deletion", lambda _: KNOWN.model_copy(update={"refuses_in_use": refuses}))

    way(**fields).check(with_snapshot=True)


def test_plugin_out_of_reach_is_no_answer(way):
    """Not known is not gone."""
    with pytest.raises(errors.CsiError, match="no such socket"):
        way(endpoint="/nowhere/csi.sock").observe("v")
