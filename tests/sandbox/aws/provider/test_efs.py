"""EFS file systems through the wire."""

import grpc
import pytest

from nomad_csi_sandbox.aws.provider import rows

TOKEN = "aws:efs/fileSystem:FileSystem"


@pytest.fixture
def file_system(engine, unique):
    made = engine.create(
        TOKEN,
        unique,
        {
            "encrypted": True,
            "lifecyclePolicies": [{"transitionToIa": "AFTER_30_DAYS"}],
            "tags": {"Name": "shared"},
            "throughputMode": "elastic",
        },
    )
    yield made
    engine.delete(made)


def test_file_system_has_the_outputs_of_the_real_provider(file_system, unique):
    """EFS holds what the program says; the creation token is generated from the resource's name."""
    outputs = file_system.outputs

    assert outputs.pop("creationToken").startswith(f"{unique}-")
    assert outputs == {
        "arn": f"arn:aws:elasticfilesystem:us-east-1:123456789012:file-system/{file_system.id}",
        "availabilityZoneId": "",
        "availabilityZoneName": "",
        "dnsName": f"{file_system.id}.efs.us-east-1.amazonaws.com",
        "encrypted": True,
        "kmsKeyId": "",
        "lifecyclePolicies": [{"transitionToIa": "AFTER_30_DAYS"}],
        "name": "shared",
        "numberOfMountTargets": 0,
        "ownerId": "123456789012",
        "performanceMode": "generalPurpose",
        "provisionedThroughputInMibps": 0,
        "region": "us-east-1",
        "sizeInBytes": [{"value": 0, "valueInIa": 0, "valueInStandard": 0}],
        "tags": {"Name": "shared"},
        "tagsAll": {"Name": "shared", "team": "storage"},
        "throughputMode": "elastic",
    }


def test_what_moto_lacks_is_said(engine, file_system):
    """A change that moto cannot make fails in one sentence, not as a page of HTML."""
    with pytest.raises(grpc.RpcError) as refused:
        engine.update(file_system, file_system.program | {"throughputMode": "bursting"})

    assert refused.value.details() == (
        f"updating EFS file system ({file_system.id}): operation error EFS: UpdateFileSystem, https response error "
        "StatusCode: 500; moto, which emulates AWS, failed or does not implement this call"
    )


def test_waiting_ends_at_its_deadline(monkeypatch, engine, unique, by_hand):
    """What never becomes available is an error that says so, and is recorded."""
    monkeypatch.setattr(rows, "TIMEOUT_S", 0.0)
    monkeypatch.setattr(rows.Row, "find", lambda *_: {"LifeCycleState": "creating"})

    with pytest.raises(grpc.RpcError) as failed:
        engine.create(TOKEN, unique, {})

    recorded = engine.init_failure(failed.value)
    by_hand("efs").delete_file_system(FileSystemId=recorded.id)
    assert failed.value.details().endswith(f"{recorded.id}: still creating after 0 s, expected available")
