"""The plugin as a process: it prints its port, serves, and ends quietly."""

import os
import signal
import subprocess
import sys
from unittest import mock

import grpc
import pytest
from google.protobuf import empty_pb2
from pulumi.runtime.proto import provider_pb2_grpc

from nomad_csi.provider import __main__ as process
from nomad_csi.provider import about, serving
from tests import deadlines


def test_the_process_serves_on_the_port_it_prints():
    """The first line is the port; an interrupt ends the process silently."""
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    started = subprocess.Popen(
        [sys.executable, "-m", "nomad_csi.provider", "--logtostderr", "127.0.0.1:1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    try:
        port = int(started.stdout.readline())
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            info = provider_pb2_grpc.ResourceProviderStub(channel).GetPluginInfo(
                empty_pb2.Empty(), timeout=deadlines.PATIENT_S
            )
        started.send_signal(signal.SIGINT)
        rest, noise = started.communicate(timeout=deadlines.PATIENT_S)
    finally:
        started.kill()
        started.communicate()

    assert info.version == about.version()
    assert (started.returncode, rest, noise) == (0, "", "")


@pytest.mark.parametrize(
    ("failure", "said"), [(OSError(98, "Address already in use"), "Address already in use"), (None, "")]
)
def test_what_keeps_it_from_starting_is_one_line(monkeypatch, failure, said):
    """The engine shows it, and nothing was served."""
    served = mock.Mock(side_effect=failure)
    monkeypatch.setattr(serving, "serve", served)

    if said:
        with pytest.raises(SystemExit) as ended:
            process.main()
        assert ended.value.code == f"error: the provider nomad-csi cannot start: {said}"
    else:
        process.main()
    assert served.called
