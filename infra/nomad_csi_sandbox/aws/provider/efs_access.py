"""
EFS mount targets and access points.

Source: hashicorp/terraform-provider-aws, ``internal/service/efs`` (2026-11).
"""

import uuid
from collections.abc import Mapping
from typing import Any

from nomad_csi_sandbox.aws.provider import clients, efs, kinds, refusals, tags


def _mount_target(aws: clients.Clients, identity: str) -> dict[str, Any]:
    return dict(aws.efs.describe_mount_targets(MountTargetId=identity)["MountTargets"][0])


def _access_point(aws: clients.Clients, identity: str) -> dict[str, Any]:
    return dict(aws.efs.describe_access_points(AccessPointId=identity)["AccessPoints"][0])


def _create_mount_target(aws: clients.Clients, inputs: kinds.Properties) -> str:
    reply = aws.efs.create_mount_target(
        FileSystemId=inputs["fileSystemId"],
        SubnetId=inputs["subnetId"],
        **kinds.present(IpAddress=inputs.get("ipAddress"), SecurityGroups=inputs.get("securityGroups")),
    )
    return str(reply["MountTargetId"])


def _finish_mount_target(aws: clients.Clients, identity: str, _inputs: Mapping[str, Any]) -> None:
    efs.await_available(aws, identity, lambda: _mount_target(aws, identity)["LifeCycleState"])


def _read_mount_target(aws: clients.Clients, identity: str) -> kinds.Properties:
    found = _mount_target(aws, identity)
    file_system_id = found["FileSystemId"]
    dns_name = efs.dns_name(aws, file_system_id)
    groups = aws.efs.describe_mount_target_security_groups(MountTargetId=identity)
    return {
        "availabilityZoneId": found["AvailabilityZoneId"],
        "availabilityZoneName": found["AvailabilityZoneName"],
        "dnsName": dns_name,
        "fileSystemArn": aws.arn("elasticfilesystem", f"file-system/{file_system_id}"),
        "fileSystemId": file_system_id,
        "ipAddress": found["IpAddress"],
        "mountTargetDnsName": f"{found['AvailabilityZoneName']}.{dns_name}",
        "networkInterfaceId": found["NetworkInterfaceId"],
        "ownerId": found["OwnerId"],
        "securityGroups": groups.get("SecurityGroups") or [],  # moto leaves the key out where there is none
        "subnetId": found["SubnetId"],
    }


def _update_mount_target(
    aws: clients.Clients, identity: str, _old_inputs: Mapping[str, Any], inputs: Mapping[str, Any]
) -> None:
    aws.efs.modify_mount_target_security_groups(
        MountTargetId=identity, SecurityGroups=inputs.get("securityGroups") or []
    )


def _delete_mount_target(aws: clients.Clients, identity: str, _state: kinds.Properties) -> None:
    aws.efs.delete_mount_target(MountTargetId=identity)


def _create_access_point(aws: clients.Clients, inputs: kinds.Properties) -> str:
    refusals.unknown_file_system(aws, inputs["fileSystemId"])
    reply = aws.efs.create_access_point(
        ClientToken=str(uuid.uuid4()),
        FileSystemId=inputs["fileSystemId"],
        Tags=tags.to_list(inputs),
        **kinds.present(PosixUser=_to_aws(inputs.get("posixUser")), RootDirectory=_to_aws(inputs.get("rootDirectory"))),
    )
    return str(reply["AccessPointId"])


def _to_aws(value: Any) -> Any:
    """Return ``{"ownerUid": 1}`` as ``{"OwnerUid": 1}``, at every depth, without empty parts."""
    if not isinstance(value, Mapping):
        return value
    return {name[0].upper() + name[1:]: _to_aws(part) for name, part in value.items() if not kinds.is_empty(part)}


def _from_aws(value: Any) -> Any:
    """Return ``{"OwnerUid": 1}`` as ``{"ownerUid": 1}``, at every depth."""
    if not isinstance(value, Mapping):
        return value
    return {name[0].lower() + name[1:]: _from_aws(part) for name, part in value.items()}


def _read_access_point(aws: clients.Clients, identity: str) -> kinds.Properties:
    found = _access_point(aws, identity)
    return {
        "arn": found["AccessPointArn"],
        "fileSystemArn": aws.arn("elasticfilesystem", f"file-system/{found['FileSystemId']}"),
        "fileSystemId": found["FileSystemId"],
        "ownerId": found["OwnerId"],
        "posixUser": _from_aws(found.get("PosixUser")),
        "rootDirectory": _from_aws(found.get("RootDirectory")),
        "tagsAll": tags.to_map(found.get("Tags")),
    }


def _finish_access_point(aws: clients.Clients, identity: str, _inputs: Mapping[str, Any]) -> None:
    efs.await_available(aws, identity, lambda: _access_point(aws, identity)["LifeCycleState"])


def _delete_access_point(aws: clients.Clients, identity: str, _state: kinds.Properties) -> None:
    aws.efs.delete_access_point(AccessPointId=identity)


MOUNT_TARGET = kinds.Kind(
    token="aws:efs/mountTarget:MountTarget",  # noqa: S106  # a type token, no secret
    service="EFS",
    title="EFS Mount Target",
    inputs=frozenset({"fileSystemId", "ipAddress", "securityGroups", "subnetId"}),
    outputs=frozenset(
        {
            "availabilityZoneId",
            "availabilityZoneName",
            "dnsName",
            "fileSystemArn",
            "mountTargetDnsName",
            "networkInterfaceId",
            "ownerId",
        }
    ),
    required=frozenset({"fileSystemId", "subnetId"}),
    fixed=frozenset({"fileSystemId", "ipAddress", "subnetId"}),
    filled_in=frozenset({"ipAddress", "securityGroups"}),
    delete_before_replace=True,
    canonical={"securityGroups": kinds.as_set},
    has_tags=False,
    create=_create_mount_target,
    finish=_finish_mount_target,
    read=_read_mount_target,
    update=_update_mount_target,
    delete=_delete_mount_target,
)

ACCESS_POINT = kinds.Kind(
    token="aws:efs/accessPoint:AccessPoint",  # noqa: S106  # a type token, no secret
    service="EFS",
    title="EFS Access Point",
    inputs=frozenset({"fileSystemId", "posixUser", "rootDirectory"}),
    outputs=frozenset({"arn", "fileSystemArn", "ownerId"}),
    required=frozenset({"fileSystemId"}),
    fixed=frozenset({"fileSystemId", "posixUser", "rootDirectory"}),
    filled_in=frozenset({"rootDirectory"}),
    create=_create_access_point,
    finish=_finish_access_point,
    read=_read_access_point,
    update=efs.retag,
    delete=_delete_access_point,
)
