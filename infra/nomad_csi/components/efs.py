"""The component of an EFS file system."""

import json
from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

import pulumi
import pulumi_aws as aws

from nomad_csi.components import arguments, attachment, cluster, identity, program, volume
from nomad_csi.plan import iam as policies
from nomad_csi.plan import replacement, volumes
from nomad_csi.spec import model as spec

NFS_PORT = 2049


class MountTarget(TypedDict):
    """Where the file system can be mounted from."""

    availability_zone: str
    """Zone name; at most one mount target in each zone."""
    subnet_id: NotRequired[pulumi.Input[str]]
    """Subnet of the mount target. Default: the default subnet of the zone."""


class Clients(TypedDict):
    """Who may reach the mount targets (TCP 2049); at least one of the two."""

    cidr_blocks: NotRequired[Sequence[pulumi.Input[str]]]
    """Networks of the Nomad clients."""
    security_group_ids: NotRequired[Sequence[pulumi.Input[str]]]
    """Security groups of the Nomad clients."""


class AccessPoint(TypedDict):
    """The folder of the file system that the volume is, and the user that owns it."""

    path: str
    """Absolute path of at most 4 folders; made when it does not exist."""
    uid: int
    """POSIX user id."""
    gid: int
    """POSIX group id."""
    permissions: NotRequired[str]
    """Octal permissions. Default: ``0755``."""


class EfsIam(TypedDict):
    """Who may mount a file system whose volume has the mount flag ``iam``."""

    role_name: pulumi.Input[str]
    """The instance role of the Nomad clients. A policy that lets it mount this volume is attached to it."""
    required: NotRequired[bool]
    """Whether everyone who mounts the file system without ``iam`` is refused, also elsewhere. Default: false."""


class EfsVolumeArgs(volume.VolumeArgs):
    """An EFS file system to be made and registered; the fields are those of a volume in the spec."""

    mount_targets: Sequence[MountTarget]
    """One for each zone whose clients shall mount the volume."""
    clients: Clients
    """Who may reach the mount targets."""
    iam: NotRequired[EfsIam]
    """Whom permission to mount is given to. Needs the mount flag ``iam``. Absent: nobody."""
    access_point: NotRequired[AccessPoint]
    """Absent: the volume is the root of the file system."""
    performance_mode: NotRequired[str]
    """``generalPurpose`` (default) or ``maxIO``."""
    throughput_mode: NotRequired[str]
    """``bursting`` (default) or ``elastic``."""
    encrypted: NotRequired[bool]
    """Default: true."""
    kms_key_arn: NotRequired[pulumi.Input[str]]
    """Customer key. Default: the account's EFS key."""
    tags: NotRequired[Mapping[str, str]]
    """Tags beside those of this package."""


class EfsVolume(program.Component):
    """An encrypted EFS file system with its mount targets and access point, registered with Nomad."""

    external_id: pulumi.Output[str]
    """``fs-...::fsap-...``, or ``fs-...`` without an access point."""
    file_system_arn: pulumi.Output[str]
    """ARN of the file system. Pass it to an `EfsBackups`, and copies are made on a schedule."""
    registration_id: pulumi.Output[str]
    """``namespace/volume_id``, known once the volume is registered."""

    def __init__(self, name: str, args: EfsVolumeArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Declare the volume *name*, which is also its id unless ``volume_id`` says otherwise."""
        super().__init__("nomad-csi:index:EfsVolume", name, {}, opts)
        document = volume.document(args, "efs", spec.EfsSpec)
        volume_id = args.get("volume_id") or name
        plan = arguments.volume_plan("EfsVolume", volume_id, args, EfsVolumeArgs, "aws-efs", document)
        efs = plan.source
        assert isinstance(efs, spec.EfsSpec)  # noqa: S101  # the document above has an efs part
        file_system = self._file_system(name, efs, plan.key, args, protect=plan.protect)
        targets = self._mount_targets(name, file_system, efs, args)
        point = self._access_point(name, file_system, efs, protect=plan.protect)
        self.storage: Sequence[pulumi.Resource] = [file_system, *targets, *([point] if point else [])]
        self.file_system_arn = file_system.arn
        ids = pulumi.Output.all(file_system.id, point.id if point else None)
        self.external_id = ids.apply(lambda known: volumes.efs_external_id(*known))
        folder = efs.access_point.path if efs.access_point else None
        location = file_system.id.apply(lambda known: volumes.efs_location(known, folder))
        actions = policies.efs_actions(efs, plan.registration.mount_options.mount_flags)
        needs = [*self.storage, *self._grant(name, file_system, point, actions, args.get("iam"))]
        made = volume.register(self, name, plan, args, self.external_id, needs, location=location)
        self.registration_id = made.id
        self.register_outputs(
            {
                "externalId": self.external_id,
                "fileSystemArn": self.file_system_arn,
                "registrationId": self.registration_id,
            }
        )

    def _file_system(
        self, name: str, efs: spec.EfsSpec, key: str, args: EfsVolumeArgs, *, protect: bool
    ) -> aws.efs.FileSystem:
        return aws.efs.FileSystem(
            name,
            creation_token=identity.stack_id(self).apply(lambda stack: volumes.creation_token(stack, key)),
            encrypted=efs.encrypted,
            kms_key_id=arguments.checked("kms_key_arn", args.get("kms_key_arn")),
            performance_mode=efs.performance_mode,
            throughput_mode=efs.throughput_mode,
            tags=cluster.tagged(self, efs.tags, identity.stack_id(self)),
            opts=pulumi.ResourceOptions(
                parent=self, protect=protect, ignore_changes=replacement.ignored(replacement.FILE_SYSTEM)
            ),
        )

    def _mount_targets(
        self, name: str, file_system: aws.efs.FileSystem, efs: spec.EfsSpec, args: EfsVolumeArgs
    ) -> list[aws.efs.MountTarget]:
        child = pulumi.ResourceOptions(parent=self)
        subnets = [_subnet(target, self) for target in args["mount_targets"]]
        clients = args["clients"]
        # Rules are wanted inside the group, not beside it: then a group that Nomad clients depend on changes as one.
        group = aws.ec2.SecurityGroup(
            name,
            description=f"NFS from the Nomad clients to the EFS volume {name}",
            vpc_id=subnets[0].vpc_id,
            ingress=[
                {
                    "protocol": "tcp",
                    "from_port": NFS_PORT,
                    "to_port": NFS_PORT,
                    "cidr_blocks": [
                        arguments.checked("cidr_blocks", block) for block in clients.get("cidr_blocks", ())
                    ],
                    "security_groups": [
                        arguments.checked("security_group_ids", group)
                        for group in clients.get("security_group_ids", ())
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
        self, name: str, file_system: aws.efs.FileSystem, efs: spec.EfsSpec, *, protect: bool
    ) -> aws.efs.AccessPoint | None:
        point = efs.access_point
        if point is None:
            return None
        owner = {"owner_uid": point.uid, "owner_gid": point.gid, "permissions": point.permissions}
        return aws.efs.AccessPoint(
            name,
            file_system_id=file_system.id,
            posix_user={"uid": point.uid, "gid": point.gid},
            root_directory={"path": point.path, "creation_info": owner},
            tags=cluster.tagged(self, efs.tags, identity.stack_id(self)),
            opts=pulumi.ResourceOptions(parent=self, protect=protect),
        )

    def _grant(
        self,
        name: str,
        file_system: aws.efs.FileSystem,
        point: aws.efs.AccessPoint | None,
        actions: Sequence[str],
        iam: EfsIam | None,
    ) -> list[pulumi.Resource]:
        """Let the role of the clients mount the volume, and refuse everyone else where that is wanted."""
        if iam is None:
            return []
        child = pulumi.ResourceOptions(parent=self)
        arns = pulumi.Output.all(file_system.arn, point.arn if point else None)
        policy = aws.iam.Policy(
            name,
            description=f"What clients may do that mount the EFS volume {name} with iam",
            policy=arns.apply(lambda known: json.dumps(policies.efs_policy(known[0], known[1], actions), indent=2)),
            opts=child,
        )
        role = arguments.checked("role_name", iam["role_name"])
        attached = attachment.attach(name, role=role, policy_arn=policy.arn, opts=child)
        if not iam.get("required"):
            return [attached]
        # Last, so that the clients of this volume are let in before everyone else is kept out.
        others = aws.efs.FileSystemPolicy(
            name,
            file_system_id=file_system.id,
            policy=arns.apply(
                lambda known: json.dumps(policies.efs_file_system_policy(known[0], known[1], actions), indent=2)
            ),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[attached]),
        )
        return [attached, others]


def _subnet(target: MountTarget, parent: pulumi.Resource) -> pulumi.Output[aws.ec2.GetSubnetResult]:
    """Return the subnet of *target*: the one that is named, else the default one of its zone."""
    options = pulumi.InvokeOutputOptions(parent=parent)
    if (subnet_id := target.get("subnet_id")) is not None:
        return aws.ec2.get_subnet_output(id=arguments.checked("subnet_id", subnet_id), opts=options)
    zone = target["availability_zone"]
    return aws.ec2.get_subnet_output(availability_zone=zone, default_for_az=True, opts=options)
