"""The components of EFS: a volume, with a file system of its own or in another one; and a file system for several."""

import json
from collections.abc import Sequence
from typing import Any

import pulumi
import pulumi_aws as aws

from nomad_csi.components import arguments, aws_resources, identity, program, volume
from nomad_csi.components.argument_classes import EfsFileSystemArgs, EfsIam, EfsVolumeArgs, FileSystemIam, MountTarget
from nomad_csi.plan import iam as policies
from nomad_csi.plan import replacement, volumes
from nomad_csi.spec import model as spec

NFS_PORT = 2049


class EfsFileSystem(program.Component):
    """An encrypted EFS file system with its mount targets, for volumes that each are an access point of it."""

    file_system_id: pulumi.Output[str]
    """``fs-...``. Pass it to each `EfsVolume` in it."""
    file_system_arn: pulumi.Output[str]
    """ARN of the file system. Pass it to an `EfsBackups` for backups on a schedule."""

    def __init__(self, name: str, args: EfsFileSystemArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Declare the file system *name*."""
        super().__init__("nomad-csi:index:EfsFileSystem", name, {}, opts)
        efs = arguments.file_system(name, args, EfsFileSystemArgs)
        protect = True if efs.protect is None else efs.protect
        file_system = _file_system(self, name, efs, name, args, protect=protect)
        targets = _mount_targets(self, name, file_system, efs, args)
        self.storage: Sequence[pulumi.Resource] = [file_system, *targets]
        self.file_system_id = file_system.id
        self.file_system_arn = file_system.arn
        root = [policies.ROOT_ACCESS] if efs.iam and efs.iam.root_access else []
        point = pulumi.Output.from_input(policies.ANY_ACCESS_POINT)
        actions = sorted([*policies.ANY_ACTIONS, *root])
        granted = _grant(self, name, file_system.id, file_system.arn, point, actions, args.get("iam"))
        self.storage = [*self.storage, *granted]
        self.register_outputs({"fileSystemId": self.file_system_id, "fileSystemArn": self.file_system_arn})


class EfsVolume(program.Component):
    """A volume of EFS: an access point, or a whole file system with its mount targets, registered with Nomad."""

    external_id: pulumi.Output[str]
    """``fs-...::fsap-...``, or ``fs-...`` without an access point."""
    file_system_arn: pulumi.Output[str]
    """ARN of the file system. Pass it to an `EfsBackups` for backups on a schedule."""
    registration_id: pulumi.Output[str]
    """``namespace/volume_id``, known once the volume is registered."""

    def __init__(self, name: str, args: EfsVolumeArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Declare the volume *name*, which is also its id unless ``volume_id`` says otherwise."""
        super().__init__("nomad-csi:index:EfsVolume", name, {}, opts)
        plan = volume.planned(name, args, EfsVolumeArgs, "aws-efs", efs=spec.EfsSpec)
        efs = plan.source
        assert isinstance(efs, spec.EfsSpec)  # noqa: S101  # planned with an efs part
        made: list[pulumi.Resource] = []
        if efs.makes_file_system:
            file_system = _file_system(self, name, efs, plan.key, args, protect=plan.protect)
            made = [file_system, *_mount_targets(self, name, file_system, efs, args)]
            system_id: pulumi.Input[str] = file_system.id
        else:
            system_id = arguments.checked("file_system_id", args["file_system_id"])
        point = _access_point(self, name, system_id, efs, protect=plan.protect)
        self.storage: Sequence[pulumi.Resource] = [*made, *([point] if point else [])]
        self.file_system_arn = file_system.arn if efs.makes_file_system else _one(point).file_system_arn
        ids = pulumi.Output.all(system_id, point.id if point else None)
        self.external_id = ids.apply(lambda known: volumes.efs_external_id(*known))
        folder = efs.access_point.path if efs.access_point else None
        location = pulumi.Output.from_input(system_id).apply(lambda known: volumes.efs_location(known, folder))
        actions = policies.efs_actions(efs, plan.registration.mount_options.mount_flags)
        arn = point.arn if point else None
        granted = _grant(self, name, system_id, self.file_system_arn, arn, actions, args.get("iam"))
        is_part = not efs.makes_file_system
        registration = volume.register(
            self,
            name,
            plan,
            args,
            self.external_id,
            [*self.storage, *granted],
            location=location,
            is_part=is_part,
            after=_dependencies(opts) if is_part else (),
        )
        self.registration_id = registration.id
        self.register_outputs(
            {
                "externalId": self.external_id,
                "fileSystemArn": self.file_system_arn,
                "registrationId": self.registration_id,
            }
        )


def _one(point: aws.efs.AccessPoint | None) -> aws.efs.AccessPoint:
    assert point is not None  # noqa: S101  # the spec wants one in a file system that is not the volume's own
    return point


def _dependencies(opts: pulumi.ResourceOptions | None) -> Sequence[pulumi.Resource]:
    """Return what the component depends on: its children do not by themselves."""
    given = opts.depends_on if opts else None
    return [item for item in given if isinstance(item, pulumi.Resource)] if isinstance(given, Sequence) else ()


def _file_system(  # called by our own components only
    component: pulumi.ComponentResource,
    name: str,
    efs: spec.EfsSettings,
    key: str,
    args: Any,
    *,
    protect: bool,
) -> aws.efs.FileSystem:
    return aws.efs.FileSystem(
        name,
        creation_token=identity.stack_id(component).apply(lambda stack: volumes.creation_token(stack, key)),
        encrypted=efs.encrypted,
        kms_key_id=arguments.checked("kms_key_arn", args.get("kms_key_arn")),
        performance_mode=efs.performance_mode,
        throughput_mode=efs.throughput_mode,
        tags=aws_resources.tagged(component, efs.tags, identity.stack_id(component)),
        opts=pulumi.ResourceOptions(
            parent=component, protect=protect, ignore_changes=replacement.ignored(replacement.FILE_SYSTEM)
        ),
    )


def _mount_targets(
    component: pulumi.ComponentResource, name: str, file_system: aws.efs.FileSystem, efs: spec.EfsSettings, args: Any
) -> list[aws.efs.MountTarget]:
    child = pulumi.ResourceOptions(parent=component)
    subnets = [_subnet(target, component) for target in args["mount_targets"]]
    clients = args["clients"]
    subject = "volume" if isinstance(efs, spec.EfsSpec) else "file system"
    # Rules are wanted inside the group, not beside it: then a group that Nomad clients depend on changes as one.
    group = aws.ec2.SecurityGroup(
        name,
        description=f"NFS from the Nomad clients to the EFS {subject} {name}",
        vpc_id=subnets[0].vpc_id,
        ingress=[
            {
                "protocol": "tcp",
                "from_port": NFS_PORT,
                "to_port": NFS_PORT,
                "cidr_blocks": [arguments.checked("cidr_blocks", block) for block in clients.get("cidr_blocks", ())],
                "security_groups": [
                    arguments.checked("security_group_ids", group) for group in clients.get("security_group_ids", ())
                ],
            }
        ],
        tags=dict(efs.tags),
        opts=child,
    )
    return [
        aws.efs.MountTarget(
            f"{name}-{target.availability_zone}",
            file_system_id=file_system.id,
            subnet_id=subnet.id,
            security_groups=[group.id],
            opts=child,
        )
        for target, subnet in zip(efs.mount_targets, subnets, strict=True)
    ]


def _access_point(
    component: pulumi.ComponentResource,
    name: str,
    file_system_id: pulumi.Input[str],
    efs: spec.EfsSpec,
    *,
    protect: bool,
) -> aws.efs.AccessPoint | None:
    point = efs.access_point
    if point is None:
        return None
    owner = {"owner_uid": point.uid, "owner_gid": point.gid, "permissions": point.permissions}
    return aws.efs.AccessPoint(
        name,
        file_system_id=file_system_id,
        posix_user={"uid": point.uid, "gid": point.gid},
        root_directory={"path": point.path, "creation_info": owner},
        tags=aws_resources.tagged(component, efs.tags, identity.stack_id(component)),
        opts=pulumi.ResourceOptions(parent=component, protect=protect),
    )


def _grant(  # noqa: PLR0917  # called by our own components only
    component: pulumi.ComponentResource,
    name: str,
    file_system_id: pulumi.Input[str],
    file_system_arn: pulumi.Output[str],
    point_arn: pulumi.Output[str] | None,
    actions: Sequence[str],
    iam: EfsIam | FileSystemIam | None,
) -> list[pulumi.Resource]:
    """Let the role of the clients mount what the component makes, and refuse everyone else where that is wanted."""
    if iam is None:
        return []
    child = pulumi.ResourceOptions(parent=component)
    arns = pulumi.Output.all(file_system_arn, point_arn)
    subject = "volume" if isinstance(component, EfsVolume) else "file system"
    policy = aws.iam.Policy(
        name,
        description=f"What clients may do that mount the EFS {subject} {name} with iam",
        policy=arns.apply(lambda known: json.dumps(policies.efs_policy(known[0], known[1], actions), indent=2)),
        opts=child,
    )
    role = arguments.checked("role_name", iam["role_name"])
    attached = aws_resources.attach(name, role=role, policy_arn=policy.arn, opts=child)
    if not iam.get("required"):
        return [attached]
    # Last, so that the clients of this volume are let in before everyone else is kept out.
    others = aws.efs.FileSystemPolicy(
        name,
        file_system_id=file_system_id,
        policy=arns.apply(
            lambda known: json.dumps(policies.efs_file_system_policy(known[0], known[1], actions), indent=2)
        ),
        opts=pulumi.ResourceOptions(parent=component, depends_on=[attached]),
    )
    return [attached, others]


def _subnet(target: MountTarget, parent: pulumi.Resource) -> pulumi.Output[aws.ec2.GetSubnetResult]:
    """Return the subnet of *target*: the one that is named, else the default one of its zone."""
    options = pulumi.InvokeOutputOptions(parent=parent)
    if (subnet_id := target.get("subnet_id")) is not None:
        return aws.ec2.get_subnet_output(id=arguments.checked("subnet_id", subnet_id), opts=options)
    zone = target["availability_zone"]
    return aws.ec2.get_subnet_output(availability_zone=zone, default_for_az=True, opts=options)
