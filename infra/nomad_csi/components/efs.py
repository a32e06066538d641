"""The components of EFS: a volume, with a file system of its own or in another one; and a file system for several."""

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import pulumi
import pulumi_aws as aws

from nomad_csi.components import (
    arguments,
    identity,
    lifting,
    program,
    recorded,
    resources,
    scope,
    volume,
)
from nomad_csi.components.argument_classes import EfsFileSystemArgs, EfsVolumeArgs
from nomad_csi.plan import iam as policies
from nomad_csi.plan import model, recorded_storage, volumes
from nomad_csi.spec import model as spec

NFS_PORT = 2049

_NO_ARN = "arn:aws:elasticfilesystem:::file-system/"
"""Instead of the ARN of a file system where the mocks of a unit test return none."""

PlanT = TypeVar("PlanT")


class EfsFileSystem(program.Component):
    """An encrypted EFS file system with its mount targets, for volumes that each are an access point of it."""

    file_system_id: pulumi.Output[str]
    """``fs-...``. Pass it to each `EfsVolume` in it."""
    file_system_arn: pulumi.Output[str]
    """ARN of the file system. Pass it to an `EfsBackups` for backups on a schedule."""
    dns_name: pulumi.Output[str]
    """Name of the file system in DNS."""
    mount_target_ids: pulumi.Output[Mapping[str, str]]
    """Id of the mount target in each zone."""
    security_group_id: pulumi.Output[str]
    """Security group of the mount targets."""

    def __init__(self, name: str, args: EfsFileSystemArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Declare the file system *name*."""
        super().__init__("nomad-csi:index:EfsFileSystem", name, {}, opts)
        plan = arguments.file_system(self, name, args, EfsFileSystemArgs)
        settings = _Settings(plan, lambda system: system, name)
        file_system = settings.file_system(self, name, protect=args.get("protect", True))
        group, targets = settings.mount_targets(self, name, file_system, args["mount_targets"])
        self.storage: Sequence[pulumi.Resource] = [file_system, *targets]
        actions = plan.part(
            lambda system: policies.efs_actions(as_root=bool(system.iam and system.iam.root_access)), "iam.root_access"
        )
        grant = _Grant(file_system.id, file_system.arn, policies.ANY_ACCESS_POINT, actions)
        role = plan.part(lambda system: system.iam.role_name if system.iam else "", "iam.role_name")
        self.storage = [*self.storage, *grant.declare(self, name, role, args.get("iam"))]
        hold = resources.StorageHold(
            name,
            storage_id=file_system.id,
            owner=program.owner(),
            owner_id=identity.stack_id(self),
            opts=self.child(depends_on=list(self.storage), protect=args.get("protect", True)),
        )
        self.finish(
            file_system_id=hold.storage_id,
            file_system_arn=file_system.arn,
            dns_name=file_system.dns_name,
            mount_target_ids=_by_zone(targets),
            security_group_id=group.id,
        )
        scope.scope().name_output(self.file_system_id, name)


def _by_zone(targets: Sequence[aws.efs.MountTarget]) -> pulumi.Output[Mapping[str, str]]:
    known = pulumi.Output.all(*[pulumi.Output.all(each.availability_zone_name, each.id) for each in targets])
    return known.apply(lambda pairs: {zone: identity for zone, identity in pairs if zone})


class EfsVolume(volume.Volume):
    """A volume of EFS: an access point, or a whole file system with its mount targets, registered with Nomad."""

    external_id: pulumi.Output[str]
    """``fs-...::fsap-...``, or ``fs-...`` without an access point."""
    file_system_arn: pulumi.Output[str]
    """ARN of the file system. Pass it to an `EfsBackups` for backups on a schedule."""
    file_system_id: pulumi.Output[str]
    """``fs-...``."""
    access_point_id: pulumi.Output[str]
    """``fsap-...``; empty without an access point."""
    access_point_arn: pulumi.Output[str]
    """ARN of the access point; empty without one."""
    dns_name: pulumi.Output[str]
    """Name of the file system in DNS; empty where it is not the volume's own."""
    mount_target_ids: pulumi.Output[Mapping[str, str]]
    """Id of the mount target in each zone; none where the file system is not the volume's own."""
    security_group_id: pulumi.Output[str]
    """Security group of the mount targets; empty where the file system is not the volume's own."""

    def __init__(self, name: str, args: EfsVolumeArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Declare the volume *name*, which is also its id unless ``volume_id`` says otherwise."""
        super().__init__("nomad-csi:index:EfsVolume", name, {}, opts)
        plan = arguments.volume_plan(self, name, args, EfsVolumeArgs, "aws-efs", efs=spec.EfsSpec)
        parts: list[pulumi.Resource] = []
        network: dict[str, Any] = {"dns_name": "", "mount_target_ids": {}, "security_group_id": ""}
        is_part = args.get("file_system_id") is not None
        if is_part:
            system_id = plan.gate(arguments.checked("file_system_id", args["file_system_id"], f"EfsVolume {name}"))
        else:
            settings = _Settings(plan, _efs, volume.key(plan))
            file_system = settings.file_system(self, name, protect=volume.protects(args))
            group, targets = settings.mount_targets(self, name, file_system, args["mount_targets"])
            parts, system_id = [file_system, *targets], file_system.id
            network = {
                "dns_name": file_system.dns_name,
                "mount_target_ids": _by_zone(targets),
                "security_group_id": group.id,
            }
        point = _access_point(self, name, system_id, plan, args)
        self.storage: Sequence[pulumi.Resource] = [*parts, *([point] if point else [])]
        if is_part:
            assert point is not None  # noqa: S101  # the spec wants one in a file system that is not the volume's own
            file_system_arn = point.file_system_arn
        else:
            file_system_arn = file_system.arn
        ids = pulumi.Output.all(system_id, point.id if point else None)
        external_id = ids.apply(lambda known: volumes.efs_external_id(*known))
        path = plan.part(lambda planned: point.path if (point := _efs(planned).access_point) else None, "access_point")
        location = pulumi.Output.all(system_id, path).apply(lambda known: volumes.efs_location(*known))
        actions = plan.part(
            lambda plan: policies.volume_actions(_efs(plan), plan.registration.mount_options.mount_flags),
            "access_point",
            "mount_options",
        )
        grant = _Grant(system_id, file_system_arn, point.arn if point else None, actions)
        role = plan.part(lambda planned: iam.role_name if (iam := _efs(planned).iam) else "", "iam.role_name")
        granted = grant.declare(self, name, role, args.get("iam"))
        plugin_id = arguments.plugin_id(self, name, args)
        registration = volume.register(
            self,
            name,
            plan,
            args,
            external_id,
            [*self.storage, *granted],
            plugin_id=plugin_id,
            location=location,
            is_part=is_part,
        )
        self.finish(
            **volume.outputs(plan, args, registration.id, external_id, external_id=external_id, plugin_id=plugin_id),
            # What is in a file system of the volume's own is removed before the volume, and that before its storage.
            file_system_id=pulumi.Output.all(system_id, registration.id).apply(lambda known: known[0]),
            file_system_arn=file_system_arn,
            access_point_id=point.id if point else "",
            access_point_arn=point.arn if point else "",
            **network,
        )


@dataclasses.dataclass(frozen=True)
class _Settings(Generic[PlanT]):
    """The settings of a file system in a plan."""

    plan: lifting.Lifted[PlanT]
    read: Callable[[PlanT], spec.EfsSettings]
    key: pulumi.Input[str]
    """What the file system is made for: a volume's key, or its own name."""

    def value(self, get: Callable[[spec.EfsSettings], Any], *names: str) -> lifting.Later[Any]:
        """Return a value that depends on the arguments *names*."""
        return self.plan.part(lambda planned: get(self.read(planned)), *names)

    def file_system(self, component: program.Component, name: str, *, protect: bool) -> aws.efs.FileSystem:
        """Declare the file system."""
        known = pulumi.Output.all(identity.stack_id(component), self.key)
        return aws.efs.FileSystem(
            name,
            creation_token=known.apply(lambda both: volumes.creation_token(*both)),
            encrypted=recorded.guarded(
                self.value(lambda efs: efs.encrypted, "encrypted"),
                recorded_storage.FILE_SYSTEM,
                component,
                name,
                self.plan,
                self.read,
                is_protected=protect,
            ),
            kms_key_id=self.value(lambda efs: efs.kms_key_arn, "kms_key_arn"),
            performance_mode=self.value(lambda efs: str(efs.performance_mode), "performance_mode"),
            throughput_mode=self.value(lambda efs: str(efs.throughput_mode), "throughput_mode"),
            tags=identity.tagged(component, self.tags(), identity.stack_id(component)),
            opts=component.child(
                protect=protect, ignore_changes=list(recorded_storage.IGNORED[recorded_storage.FILE_SYSTEM])
            ),
        )

    def tags(self) -> lifting.Later[dict[str, str]]:
        """Return the tags of what is made."""
        return self.value(lambda efs: dict(efs.tags), "tags", "volume_id", "namespace")

    def mount_targets(
        self,
        component: program.Component,
        name: str,
        file_system: aws.efs.FileSystem,
        targets: Sequence[Mapping[str, Any]],
    ) -> tuple[aws.ec2.SecurityGroup, list[aws.efs.MountTarget]]:
        """Declare the security group that lets the clients reach the mount targets, and these."""
        child = component.child()
        subnets = [self._subnet(index, target, component) for index, target in enumerate(targets)]
        subject = "volume" if isinstance(component, EfsVolume) else "file system"
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
                    "cidr_blocks": self.value(lambda efs: list(efs.clients.cidr_blocks), "clients.cidr_blocks"),
                    "security_groups": self.value(
                        lambda efs: list(efs.clients.security_group_ids), "clients.security_group_ids"
                    ),
                }
            ],
            tags=self.tags(),
            opts=child,
        )
        return group, [
            aws.efs.MountTarget(
                # By its number where the zone is an output.
                f"{name}-{index if lifting.is_output(zone := target['availability_zone']) else zone}",
                file_system_id=file_system.id,
                subnet_id=subnet.id,
                security_groups=[group.id],
                opts=child,
            )
            for index, (target, subnet) in enumerate(zip(targets, subnets, strict=True))
        ]

    def _subnet(
        self, index: int, target: Mapping[str, Any], parent: pulumi.Resource
    ) -> pulumi.Output[aws.ec2.GetSubnetResult]:
        """Return the subnet of *target*: the one that is named, else the default one of its zone."""
        options = pulumi.InvokeOutputOptions(parent=parent)
        if target.get("subnet_id") is not None:
            subnet_id = self.value(lambda efs: efs.mount_targets[index].subnet_id, "mount_targets")
            return aws.ec2.get_subnet_output(id=subnet_id, opts=options)
        zone = self.value(lambda efs: efs.mount_targets[index].availability_zone, "mount_targets")
        return aws.ec2.get_subnet_output(availability_zone=zone, default_for_az=True, opts=options)


def _access_point(
    component: program.Component,
    name: str,
    file_system_id: pulumi.Input[str],
    plan: volume.Plan,
    args: EfsVolumeArgs,
) -> aws.efs.AccessPoint | None:
    if args.get("access_point") is None:
        return None

    def value(get: Callable[[spec.AccessPointSpec], Any]) -> lifting.Later[Any]:
        return plan.part(lambda planned: get(_point(planned)), "access_point")

    is_protected = volume.protects(args)
    kind, uid = recorded_storage.ACCESS_POINT, value(lambda point: point.uid)
    return aws.efs.AccessPoint(
        name,
        file_system_id=file_system_id,
        posix_user={
            "uid": recorded.guarded(uid, kind, component, name, plan, _efs, is_protected=is_protected),
            "gid": value(lambda point: point.gid),
        },
        root_directory={
            "path": value(lambda point: point.path),
            "creation_info": {
                "owner_uid": value(lambda point: point.uid),
                "owner_gid": value(lambda point: point.gid),
                "permissions": value(lambda point: point.permissions),
            },
        },
        tags=identity.tagged(
            component,
            plan.part(lambda planned: dict(_efs(planned).tags), "tags", "volume_id", "namespace"),
            identity.stack_id(component),
        ),
        opts=component.child(protect=is_protected),
    )


def _efs(plan: model.VolumePlan) -> spec.EfsSpec:
    return volume.source(plan, spec.EfsSpec)


def _point(plan: model.VolumePlan) -> spec.AccessPointSpec:
    point = _efs(plan).access_point
    assert point is not None  # noqa: S101  # checked before
    return point


@dataclasses.dataclass(frozen=True)
class _Grant:
    """What the role of the clients may do with a file system."""

    file_system_id: pulumi.Input[str]
    file_system_arn: pulumi.Output[str]
    point_arn: pulumi.Input[str] | None
    actions: pulumi.Input[Sequence[str]]

    def declare(
        self,
        component: program.Component,
        name: str,
        role: pulumi.Input[str],
        iam: Mapping[str, Any] | None,
    ) -> list[pulumi.Resource]:
        """Let *role* mount what the component makes, and refuse everyone else where that is wanted."""
        if iam is None:
            return []
        child = component.child()
        subject = "volume" if isinstance(component, EfsVolume) else "file system"
        policy = aws.iam.Policy(
            name,
            description=f"What clients may do that mount the EFS {subject} {name} with iam",
            policy=self._document(policies.efs_policy),
            opts=child,
        )
        attached = identity.attach(name, role=role, policy_arn=policy.arn, opts=child)
        if not iam.get("required"):
            return [attached]
        # Last, so that the clients of this volume are let in before everyone else is kept out.
        others = aws.efs.FileSystemPolicy(
            name,
            file_system_id=self.file_system_id,
            policy=self._document(policies.efs_file_system_policy),
            opts=component.child(depends_on=[attached]),
        )
        return [attached, others]

    def _document(self, make: Callable[[str, str | None, Sequence[str]], Mapping[str, Any]]) -> pulumi.Output[str]:
        known = pulumi.Output.all(self.file_system_arn, self.point_arn, self.actions)
        return known.apply(lambda values: json.dumps(make(values[0] or _NO_ARN, *values[1:]), indent=2))
