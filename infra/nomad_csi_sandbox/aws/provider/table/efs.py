"""
EFS: file systems, their policies, mount targets and access points.

Source: hashicorp/terraform-provider-aws, ``internal/service/efs``, read 2026-11.
"""

from nomad_csi_sandbox.aws.provider import clients, forms, refusals
from nomad_csi_sandbox.aws.provider.rows import Properties, Row, Tagging, Values, call

FILE_SYSTEM_ARN = "arn:{partition}:elasticfilesystem:{region}:{account}:file-system/{fileSystemId}"
LIFECYCLE = forms.Nested(names={"transitionToIa": "TransitionToIA"})
NESTED = forms.Nested().form()
TAGS = Tagging(
    tag=call("tag_resource", ResourceId="$id", Tags="$tags"),
    untag=call("untag_resource", ResourceId="$id", TagKeys="$dropped"),
)


def _lifecycle(aws: clients.Clients, identity: str, _found: Values) -> Properties:
    policies = aws.efs.describe_lifecycle_configuration(FileSystemId=identity)["LifecyclePolicies"]
    return {"lifecyclePolicies": LIFECYCLE.to_pulumi(policies)}


def _put_lifecycle(aws: clients.Clients, identity: str, values: Values) -> None:
    policies = values.get("lifecyclePolicies") or []
    aws.efs.put_lifecycle_configuration(FileSystemId=identity, LifecyclePolicies=policies)


def _groups(aws: clients.Clients, identity: str, _found: Values) -> Properties:
    found = aws.efs.describe_mount_target_security_groups(MountTargetId=identity)
    return {"securityGroups": found.get("SecurityGroups") or []}  # moto leaves the key out where there is none


def _put_groups(aws: clients.Clients, identity: str, values: Values) -> None:
    groups = values.get("securityGroups") or []
    aws.efs.modify_mount_target_security_groups(MountTargetId=identity, SecurityGroups=groups)


ROWS = (
    Row(
        token="aws:efs/fileSystem:FileSystem",
        title="EFS file system",
        inputs=(
            "availabilityZoneName? creationToken encrypted? kmsKeyId? lifecyclePolicies performanceMode? "
            "provisionedThroughputInMibps throughputMode?"
        ),
        outputs="arn availabilityZoneId dnsName name numberOfMountTargets ownerId sizeInBytes",
        create=call("create_file_system", ProvisionedThroughputInMibps="$provisionedThroughputInMibps"),
        identity="FileSystemId",
        state="LifeCycleState",
        settings={"lifecyclePolicies": _put_lifecycle},
        changes={
            # moto 5.2.5 does not implement it, and the error says so
            "provisionedThroughputInMibps throughputMode": call(
                "update_file_system",
                FileSystemId="$id",
                ProvisionedThroughputInMibps="$provisionedThroughputInMibps",
            )
        },
        read=call("describe_file_systems", FileSystemId="$id"),
        found="FileSystems[0]",
        names={
            "arn": "FileSystemArn",
            "provisionedThroughputInMibps": "ProvisionedThroughputInMibps || `0`",
            "sizeInBytes": "[SizeInBytes][].{value: Value, valueInIa: ValueInIA, valueInStandard: ValueInStandard}",
        },
        empty="availabilityZoneId availabilityZoneName kmsKeyId name",
        derived={"dnsName": "{id}.efs.{region}.{suffix}"},
        more=_lifecycle,
        delete=(call("delete_file_system", FileSystemId="$id"),),
        autonamed="creationToken",
        forms={"lifecyclePolicies": LIFECYCLE.form(forms.SET.meaning)},
        tagging=TAGS,
    ),
    Row(
        token="aws:efs/fileSystemPolicy:FileSystemPolicy",
        title="EFS File System Policy",
        inputs="fileSystemId! policy!",
        create=call("put_file_system_policy"),
        identity="{fileSystemId}",
        changes={"policy": call("put_file_system_policy", FileSystemId="$id")},
        read=call("describe_file_system_policy", FileSystemId="$id"),
        forms={"policy": forms.DOCUMENT},
        delete=(call("delete_file_system_policy", FileSystemId="$id"),),
    ),
    Row(
        token="aws:efs/mountTarget:MountTarget",
        title="EFS Mount Target",
        inputs="fileSystemId! ipAddress? securityGroups? subnetId!",
        outputs=(
            "availabilityZoneId availabilityZoneName dnsName fileSystemArn mountTargetDnsName networkInterfaceId "
            "ownerId"
        ),
        create=call("create_mount_target"),
        identity="MountTargetId",
        state="LifeCycleState",
        changes={"securityGroups": _put_groups},
        read=call("describe_mount_targets", MountTargetId="$id"),
        found="MountTargets[0]",
        derived={
            "dnsName": "{fileSystemId}.efs.{region}.{suffix}",
            "fileSystemArn": FILE_SYSTEM_ARN,
            "mountTargetDnsName": "{availabilityZoneName}.{fileSystemId}.efs.{region}.{suffix}",
        },
        more=_groups,
        forms={"securityGroups": forms.SET},
        delete=(call("delete_mount_target", MountTargetId="$id"),),
        delete_before_replace=True,
    ),
    Row(
        token="aws:efs/accessPoint:AccessPoint",
        title="EFS Access Point",
        inputs="fileSystemId! posixUser rootDirectory?",
        outputs="arn fileSystemArn ownerId",
        refuse=refusals.unknown_file_system,
        create=call("create_access_point"),
        identity="AccessPointId",
        state="LifeCycleState",
        read=call("describe_access_points", AccessPointId="$id"),
        found="AccessPoints[0]",
        names={"arn": "AccessPointArn"},
        derived={"fileSystemArn": FILE_SYSTEM_ARN},
        forms={"posixUser": NESTED, "rootDirectory": NESTED},
        delete=(call("delete_access_point", AccessPointId="$id"),),
        tagging=TAGS,
    ),
)
