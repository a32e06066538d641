"""Ctrl-C while Nomad does not answer."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from nomad_csi import nomad
from tests import deadlines
from tests.faults.conftest import write_volume


@pytest.mark.parametrize("namespaces", [("default",), ("default", "one", "two")])
def test_interrupt_waits_for_no_answer(agent, proxy, register, tmp_path, held, namespaces):
    """However many requests are under way, the command ends; the next run goes on."""
    with nomad.Nomad(nomad.Connection(address=agent.url)) as client:
        for namespace in namespaces:
            client.request("PUT", "/v1/namespace", body={"Name": namespace})
            own = f"fs-0123456789abcdef0:/{namespace}"
            write_volume(tmp_path / f"{namespace}.volume.hcl", "v0", namespace=namespace, external_id=own)
    arrived, may_go = threading.Event(), threading.Event()

    def hang(handler):
        arrived.set()
        may_go.wait(deadlines.PATIENT_S * 2)
        handler.hang_up()

    proxy.fault("PUT", hang, times=99)
    words = [sys.executable, "-m", "nomad_csi", "apply", str(tmp_path), "--yes", "--address", proxy.address]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert arrived.wait(deadlines.PATIENT_S)
        os.kill(running.pid, signal.SIGINT)
        try:
            said = running.communicate(timeout=deadlines.PATIENT_S)
        finally:
            may_go.set()
            running.kill()

    assert (running.returncode, said[1].splitlines()[-1]) == (130, "interrupted; safe to re-run")
    assert held() == {}
    assert register(agent.url, str(tmp_path)).statuses == {"registered"}
