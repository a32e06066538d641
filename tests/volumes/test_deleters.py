"""Storage that plugins made is deleted by their controllers, and only where that cannot hurt, or somebody accepts it."""

import os
import shutil
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from nomad_csi import errors
from nomad_csi.aws import deletion as aws_deletion
from nomad_csi.csi import capability, channel, controller, endpoint
from nomad_csi.drivers import catalogue
from nomad_csi.volumes import deleters, volume_snapshots
from nomad_csi_sandbox.csi_plugin import arguments, server
from tests import csi_calls

NAME = "hostpath.csi.k8s.io"
USE = (capability.VolumeCapability(access_mode="single-node-writer", attachment_mode="file-system"),)


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
def connection(socket):
    """A channel to it."""
    with channel.connect(endpoint.parse(socket)) as made:
        yield made


@pytest.fixture
def made(connection):
    """The id of a volume that it made."""
    wanted = csi_calls.NewVolume(name="v", capabilities=USE, required_bytes=2**20)
    return csi_calls.create_volume(connection, wanted, timeout_s=60).volume_id


@pytest.fixture
def way(socket):
    """Write a way through it: ``way(provider="other")``."""
    return lambda **fields: deleters.PluginDeleter(**{"endpoint": socket, "provider": NAME} | fields)


def looked():
    """Look, and find nothing against it."""


def timeouts(wait_s=5.0):
    """Wait so long for a snapshot."""
    return volume_snapshots.SnapshotTimeouts(wait_s=wait_s, cancelled=threading.Event(), tell=lambda _line: None)


def test_last_look_comes_before_the_order(way, made):
    """What it raises goes up, and the storage stays."""

    def refuse():
        raise errors.RefusedError("registered again")

    with pytest.raises(errors.RefusedError, match="registered again"):
        way().delete(made, refuse)

    assert way().observe(made) == "present"


def test_rejects_a_plugin_whose_storage_does_not_refuse(way):
    """Unless somebody accepts that."""
    with pytest.raises(errors.RefusedError, match=r"does not refuse to be deleted while it is in use: .* --accept ung"):
        way().check(with_snapshot=False)

    way(accepts_unguarded=True).check(with_snapshot=False)


def test_storage_that_refuses_needs_no_acceptance(way, monkeypatch):
    """As that of the EBS driver, and of no other in the catalogue."""
    refusing = catalogue.deletion(NAME).model_copy(update={"refuses_in_use": True})
    monkeypatch.setattr(catalogue, "deletion", lambda _provider: refusing)

    way().check(with_snapshot=True)

    monkeypatch.undo()
    known = {name: catalogue.deletion(driver.provider) for name, driver in catalogue.DRIVERS.items()}
    assert [name for name, found in known.items() if found and found.refuses_in_use] == ["aws-ebs"]


def test_storage_of_a_driver_that_nobody_knows_needs_acceptance(way, monkeypatch):
    """The catalogue does not have it, so nothing says that its storage refuses."""
    monkeypatch.setattr(catalogue, "deletion", lambda _provider: None)

    with pytest.raises(errors.RefusedError, match="--accept unguarded"):
        way().check(with_snapshot=False)


def test_rejects_another_plugin(way, socket):
    """The wrong socket."""
    with pytest.raises(errors.RefusedError, match=f"^{socket} is plugin {NAME}, and the volume is one of other$"):
        way(provider="other").check(with_snapshot=False)


@pytest.mark.parametrize(
    ("rpcs", "with_snapshot", "words"),
    [
        (("CREATE_DELETE_SNAPSHOT",), True, "lacks CREATE_DELETE_VOLUME$"),
        (
            ("CREATE_DELETE_VOLUME",),
            True,
            "lacks CREATE_DELETE_SNAPSHOT; without a last snapshot: --skip-final-snapshot, in a spec",
        ),
    ],
)
def test_rejects_a_plugin_that_cannot(way, monkeypatch, rpcs, with_snapshot, words):
    """Before anything is deregistered."""
    found = rpcs
    monkeypatch.setattr(controller, "controller_get_capabilities", lambda *_, **__: found)

    with pytest.raises(errors.RefusedError, match=words):
        way(accepts_unguarded=True).check(with_snapshot=with_snapshot)


def test_plugin_out_of_reach_is_no_answer(way):
    """Not known is not gone."""
    with pytest.raises(errors.CsiError, match="no such socket"):
        way(endpoint="/nowhere/csi.sock").observe("v")


def test_plugin_behind_ssh_is_reached_and_named_as_written(way, made, socket, monkeypatch, tmp_path):
    """Each call has a connection of its own, which ends with it; an error names the endpoint as it was written."""
    program = tmp_path / "ssh"
    emulator = Path(__file__).parents[1] / "csi/fake_ssh.py"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{emulator}" "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("SSH_FAKE_LOG", str(tmp_path / "calls"))
    far = way(endpoint=f"ssh://client-1{socket}", accepts_unguarded=True)

    far.check(with_snapshot=False)
    was_there = far.observe(made)
    far.delete(made, looked)

    assert (was_there, far.observe(made)) == ("present", "absent")
    with pytest.raises(errors.CsiError, match=f"^ssh://client-1{socket}.gone: "):
        way(endpoint=f"ssh://client-1{socket}.gone").observe(made)


def test_last_snapshot_comes_after_those_that_are_not_completed(monkeypatch):
    """EC2 completes snapshots of a volume in their order; nothing is deleted while one of them reads the volume."""
    done = []
    monkeypatch.setattr(aws_deletion, "pending_snapshot", lambda *_: ("snap-a", "snap-b"))
    monkeypatch.setattr(aws_deletion, "create_snapshot", lambda *_: done.append("create") or "snap-c")
    monkeypatch.setattr(aws_deletion, "wait_for_snapshot", lambda snapshot_id, *_, **__: done.append(snapshot_id))

    made = deleters.AwsDeleter(aws_region="us-east-1").snapshot("vol-0123456789abcdef0", {}, timeouts())

    assert (done, made.snapshot_id) == (["snap-a", "snap-b", "create", "snap-c"], "snap-c")
