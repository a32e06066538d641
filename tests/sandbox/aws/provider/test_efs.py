"""EFS file systems through the wire."""

import grpc
import pytest

from nomad_csi_sandbox.aws.provider import rows

TOKEN = "aws:efs/fileSystem:FileSystem"


def test_waiting_ends_at_its_deadline(monkeypatch, engine, unique, by_hand):
    """What never becomes available is an error that says so, and is recorded."""
    monkeypatch.setattr(rows, "TIMEOUT_S", 0.0)
    monkeypatch.setattr(rows.Row, "find", lambda *_: {"LifeCycleState": "creating"})

    with pytest.raises(grpc.RpcError) as failed:
        engine.create(TOKEN, unique, {})

    recorded = engine.init_failure(failed.value)
    by_hand("efs").delete_file_system(FileSystemId=recorded.id)
    assert failed.value.details().endswith(f"{recorded.id}: still creating after 0 s, expected available")
