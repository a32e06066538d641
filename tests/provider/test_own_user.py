"""The plugin's process serves its own user alone: whoever else calls it would act with the operator's token."""

import os
import subprocess
import sys
import time

import grpc
import pytest
from google.protobuf import empty_pb2
from pulumi.runtime.proto import provider_pb2_grpc

from tests import intruder

AFTER_S = 1.0


@pytest.fixture
def port():
    """The port of a plugin's process, as an engine starts it."""
    command = [sys.executable, "-m", "nomad_csi.provider", "127.0.0.1:1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        yield int(process.stdout.readline())
        process.terminate()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can start a process of another user")
def test_other_users_get_nothing(port):
    """Given nobody, who speaks the engine's protocol; its own user gets an answer."""
    with intruder.running() as other:
        other.attack(port)
        time.sleep(AFTER_S)
        found = other.end()
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        own = provider_pb2_grpc.ResourceProviderStub(channel).GetPluginInfo(empty_pb2.Empty(), timeout=60)

    assert {way: got for (_, way), (_, got) in found.items() if got} == {}
    assert found[port, "grpc"][0] > 0
    assert own.version
