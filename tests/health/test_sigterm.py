"""SIGTERM, as a CI runner or a service manager sends it, ends a command that has a job in the cluster as Ctrl-C does."""

import os
import signal
import subprocess
import sys
import time

import pytest

from nomad_csi.nomad import volumes
from nomad_csi_sandbox.nomad.tasks import task_templates
from tests import deadlines

CLI = (sys.executable, "-m", "nomad_csi")
SAID = {
    signal.SIGTERM: (143, "ended by SIGTERM; safe to re-run"),
    signal.SIGINT: (130, "interrupted; safe to re-run"),
}


def jobs_of(cluster, prefix):
    found = cluster.client.request("GET", "/v1/jobs").data
    return [job["ID"] for job in found if job["ID"].startswith(prefix)]


def ended(cluster, words, prefix, numbers):
    """Run the command *words* until its job is there, send the signals *numbers*; return its exit code and last line."""
    environment = os.environ | {"NOMAD_ADDR": cluster.server.url, "NOMAD_CSI_SANDBOX": "nomad:emulator"}
    before = jobs_of(cluster, prefix)
    command = subprocess.Popen([*CLI, *words], env=environment, stderr=subprocess.PIPE, text=True)
    with command as running:
        deadline = time.monotonic() + deadlines.PATIENT_S
        while jobs_of(cluster, prefix) == before:
            assert running.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        for number in numbers:
            running.send_signal(number)
        said = running.communicate(timeout=deadlines.PATIENT_S)[1]
    return running.returncode, said.splitlines()[-1]


@pytest.mark.parametrize("number", SAID)
def test_probe_on_nodes_takes_its_job_along(cluster, tmp_path, number):
    """The job is purged before the command ends, which may not have been told yet that it is there."""
    slow = tmp_path / "slow.sh"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)

    found = ended(cluster, ["csi", "probe", "--on-nodes", "well", "--command", str(slow)], "nomad-csi-probe", [number])

    assert found == SAID[number]
    assert jobs_of(cluster, "nomad-csi-probe") == []


def test_second_sigterm_does_not_end_the_removal(cluster, tmp_path):
    """Neither does one that follows an interrupt, as some runners send them: the first one counts."""
    slow = tmp_path / "slow.sh"
    slow.write_text("#!/bin/sh\ntrap '' INT TERM\nsleep 2\n")
    slow.chmod(0o755)
    words = ["csi", "probe", "--on-nodes", "well", "--command", str(slow)]

    found = ended(cluster, words, "nomad-csi-probe", [signal.SIGTERM, signal.SIGTERM])

    assert found == SAID[signal.SIGTERM]
    assert jobs_of(cluster, "nomad-csi-probe") == []


def test_smoke_takes_its_job_along(cluster, monkeypatch):
    """Its task is still being prepared, and holds the volume; afterwards that is free."""
    monkeypatch.setattr(task_templates, "write_all", _held_up)

    found = ended(cluster, ["smoke", "default/tried"], "nomad-csi-smoke", [signal.SIGTERM])

    assert found == SAID[signal.SIGTERM]
    assert jobs_of(cluster, "nomad-csi-smoke") == []
    deadline = time.monotonic() + deadlines.PATIENT_S
    while volumes.get(cluster.client, "default", "tried").claims:  # freed a moment after its allocation ended
        assert time.monotonic() < deadline
        time.sleep(0.02)


PREPARE = task_templates.write_all


def _held_up(place, known, stopping, record):
    """Prepare a task once it is told to stop."""
    stopping.wait(deadlines.PATIENT_S)
    return PREPARE(place, known, stopping, record)
