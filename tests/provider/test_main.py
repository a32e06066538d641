"""The plugin as a process: it prints its port, serves, and ends quietly."""

import os
import signal
import subprocess
import sys

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import provider_pb2_grpc

from nomad_csi.provider import schema


def test_the_process_serves_on_the_port_it_prints():
    """The first line is the port; an interrupt ends the process silently."""
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    process = subprocess.Popen(
        [sys.executable, "-m", "nomad_csi.provider", "--logtostderr", "127.0.0.1:1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    try:
        port = int(process.stdout.readline())
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            info = provider_pb2_grpc.ResourceProviderStub(channel).GetPluginInfo(empty_pb2.Empty(), timeout=30)
        process.send_signal(signal.SIGINT)
        rest, noise = process.communicate(timeout=30)
    finally:
        process.kill()
        process.communicate()

    assert info.version == schema.version()
    assert (process.returncode, rest, noise) == (0, "", "")
