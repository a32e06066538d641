"""The script of the smoke test, run on a folder: each of its exit codes."""

import re
import subprocess

import pytest

from nomad_csi.plan import smoke


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Return a function that runs a round on the folder, as the mounts say."""
    monkeypatch.setattr(smoke, "MOUNT", str(tmp_path / "volume"))
    (tmp_path / "volume").mkdir()

    def of(kind, mounts=f"/dev/x {tmp_path / 'volume'} ext4\n"):
        (tmp_path / "mounts").write_text(mounts)
        script = smoke.script(kind, "token").replace("/proc/self/mounts", str(tmp_path / "mounts"))
        return subprocess.run(["sh", "-c", script], check=False, capture_output=True).returncode

    return of


def test_each_exit_code_has_its_reason(run, tmp_path):
    """Written and read back, the file is gone; whatever fails has a meaning."""
    file = tmp_path / "volume" / smoke.file_name("token")

    assert (run("write"), file.stat().st_size) == (0, 2**20)
    assert (run("read"), file.exists()) == (0, False)
    assert (run("write", mounts=""), run("read", mounts=""), run("read")) == (42, 42, 44)
    file.write_text("token\n")
    assert run("read") == 45
    file.unlink()
    file.mkdir()
    assert run("write") == 43
    codes = re.findall(r"exit (\d+)", smoke.script("write", "token") + smoke.script("read", "token"))
    assert set(map(int, codes)) == set(smoke.EXIT_MEANS)


def test_task_driver_is_that_of_most_clients():
    """The best of a tie."""
    clients = [{"docker": True, "exec": False}, {"podman": True, "exec": True}, {"podman": True, "exec": True}]

    assert [smoke.task_driver(clients[:count]) for count in (2, 3)] == ["docker", "podman"]
