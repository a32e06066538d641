"""EFS file systems. Source: hashicorp/terraform-provider-aws, ``internal/service/efs/file_system.go``, read 2026-11."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from nomad_csi import errors
from nomad_csi_sandbox.aws.provider import clients, kinds, tags

AVAILABLE_TIMEOUT_S = 30.0
"""How long an object may take to become available; moto's are at once, the real provider waits half an hour."""

POLL_S = 0.2

TRANSITIONS = {
    "transitionToArchive": "TransitionToArchive",
    "transitionToIa": "TransitionToIA",
    "transitionToPrimaryStorageClass": "TransitionToPrimaryStorageClass",
}
"""Pulumi's names of the lifecycle policies and AWS's."""


def await_available(aws: clients.Clients, identity: str, state: Callable[[], str]) -> None:
    """Wait until *state* says ``available``. Raises `errors.AwsError` after 30 s."""
    deadline = time.monotonic() + AVAILABLE_TIMEOUT_S
    while (current := state()) != "available":
        if time.monotonic() > deadline:
            raise errors.AwsError(f"{identity}: still {current} after {AVAILABLE_TIMEOUT_S:.0f} s, expected available")
        aws.pause(POLL_S)


def _file_system(aws: clients.Clients, identity: str) -> dict[str, Any]:
    return dict(aws.efs.describe_file_systems(FileSystemId=identity)["FileSystems"][0])


def _create_file_system(aws: clients.Clients, inputs: kinds.Properties) -> str:
    reply = aws.efs.create_file_system(
        CreationToken=inputs["creationToken"],
        Tags=tags.to_list(inputs),
        **kinds.present(
            AvailabilityZoneName=inputs.get("availabilityZoneName"),
            Encrypted=inputs.get("encrypted"),
            KmsKeyId=inputs.get("kmsKeyId"),
            PerformanceMode=inputs.get("performanceMode"),
            ProvisionedThroughputInMibps=inputs.get("provisionedThroughputInMibps"),
            ThroughputMode=inputs.get("throughputMode"),
        ),
    )
    return str(reply["FileSystemId"])


def _finish_file_system(aws: clients.Clients, identity: str, inputs: Mapping[str, Any]) -> None:
    await_available(aws, identity, lambda: _file_system(aws, identity)["LifeCycleState"])
    if inputs.get("lifecyclePolicies"):
        _put_lifecycle(aws, identity, inputs)


def _put_lifecycle(aws: clients.Clients, identity: str, inputs: Mapping[str, Any]) -> None:
    policies = [
        {TRANSITIONS[name]: value for name, value in policy.items() if value}
        for policy in inputs.get("lifecyclePolicies") or []
    ]
    aws.efs.put_lifecycle_configuration(FileSystemId=identity, LifecyclePolicies=policies)


def _read_file_system(aws: clients.Clients, identity: str) -> kinds.Properties:
    found = _file_system(aws, identity)
    return {
        "arn": found["FileSystemArn"],
        "availabilityZoneId": found.get("AvailabilityZoneId") or "",
        "availabilityZoneName": found.get("AvailabilityZoneName") or "",
        "creationToken": found["CreationToken"],
        "dnsName": dns_name(aws, identity),
        "encrypted": found["Encrypted"],
        "kmsKeyId": found.get("KmsKeyId") or "",
        "lifecyclePolicies": _read_lifecycle(aws, identity),
        "name": found.get("Name") or "",
        "numberOfMountTargets": found["NumberOfMountTargets"],
        "ownerId": found["OwnerId"],
        "performanceMode": found["PerformanceMode"],
        "provisionedThroughputInMibps": found.get("ProvisionedThroughputInMibps") or 0,
        "sizeInBytes": [_size(found["SizeInBytes"])],
        "tagsAll": tags.to_map(found.get("Tags")),
        "throughputMode": found["ThroughputMode"],
    }


def dns_name(aws: clients.Clients, file_system_id: str) -> str:
    """Return the name that clients in any zone mount the file system by."""
    return f"{file_system_id}.efs.{aws.region}.{aws.dns_suffix}"


def _size(size: Mapping[str, Any]) -> dict[str, int]:
    return {"value": size["Value"], "valueInIa": size["ValueInIA"], "valueInStandard": size["ValueInStandard"]}


def _read_lifecycle(aws: clients.Clients, identity: str) -> list[dict[str, str]]:
    names = {aws_name: name for name, aws_name in TRANSITIONS.items()}
    policies = aws.efs.describe_lifecycle_configuration(FileSystemId=identity)["LifecyclePolicies"]
    return [{names[aws_name]: value for aws_name, value in policy.items()} for policy in policies]


def _update_file_system(
    aws: clients.Clients, identity: str, old_inputs: Mapping[str, Any], inputs: Mapping[str, Any]
) -> None:
    """Change throughput (moto 5.2.5 does not implement that and the error says so), lifecycle and tags."""
    live = _read_file_system(aws, identity)
    throughput = ("throughputMode", "provisionedThroughputInMibps")
    wanted = {name: inputs[name] for name in throughput if inputs.get(name) and inputs[name] != live[name]}
    if wanted:
        changes = {name[0].upper() + name[1:]: value for name, value in wanted.items()}
        aws.efs.update_file_system(FileSystemId=identity, **changes)
    if not _lifecycle_is(live["lifecyclePolicies"], inputs.get("lifecyclePolicies")):
        _put_lifecycle(aws, identity, inputs)
    retag(aws, identity, old_inputs, inputs)


def _lifecycle_is(live: list[dict[str, str]], wanted: Any) -> bool:
    return bool(_lifecycle(live) == _lifecycle(wanted))


def _lifecycle(policies: Any) -> Any:
    """Return lifecycle policies without their order; a value that is not known yet stays as it is."""
    if isinstance(policies, str):
        return policies
    return sorted(((name, value) for policy in policies or [] for name, value in policy.items() if value), key=str)


def retag(aws: clients.Clients, identity: str, old_inputs: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
    """Give an EFS object the wanted tags and take away those no longer wanted."""
    dropped = tags.dropped(old_inputs, inputs)
    if dropped:
        aws.efs.untag_resource(ResourceId=identity, TagKeys=dropped)
    wanted = tags.to_list(inputs)
    if wanted:
        aws.efs.tag_resource(ResourceId=identity, Tags=wanted)


def _delete_file_system(aws: clients.Clients, identity: str, _state: kinds.Properties) -> None:
    aws.efs.delete_file_system(FileSystemId=identity)


FILE_SYSTEM = kinds.Kind(
    token="aws:efs/fileSystem:FileSystem",  # noqa: S106  # a type token, no secret
    service="EFS",
    title="EFS file system",
    inputs=frozenset(
        {
            "availabilityZoneName",
            "creationToken",
            "encrypted",
            "kmsKeyId",
            "lifecyclePolicies",
            "performanceMode",
            "provisionedThroughputInMibps",
            "throughputMode",
        }
    ),
    outputs=frozenset(
        {"arn", "availabilityZoneId", "dnsName", "name", "numberOfMountTargets", "ownerId", "sizeInBytes"}
    ),
    fixed=frozenset({"availabilityZoneName", "creationToken", "encrypted", "kmsKeyId", "performanceMode"}),
    filled_in=frozenset({"availabilityZoneName", "encrypted", "kmsKeyId", "performanceMode", "throughputMode"}),
    autonamed="creationToken",
    canonical={"lifecyclePolicies": _lifecycle},
    create=_create_file_system,
    finish=_finish_file_system,
    read=_read_file_system,
    update=_update_file_system,
    delete=_delete_file_system,
)
