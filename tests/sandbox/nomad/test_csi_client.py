"""Nomad's sentences for plugins that cannot be reached."""

import socket

import pytest

from nomad_csi_sandbox.nomad.storage import csi_client


def test_plugin_that_hangs_is_told_in_gos_words(data_dir):
    """The sentence of a real agent for a stopped plugin, by which the product knows it; not that of Python's gRPC."""
    path = f"{data_dir}/csi.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()

        with pytest.raises(csi_client.CsiCallError) as caught, csi_client.connected(path, 0.2) as client:
            client.probe()

    assert str(caught.value) == "rpc error: code = DeadlineExceeded desc = context deadline exceeded"
