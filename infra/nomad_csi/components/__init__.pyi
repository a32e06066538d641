"""Made by ``python -m tests.schema`` from the components: edit these."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict, overload

import pulumi


from nomad_csi.components.argument_classes import AccessPoint, Capability, Clients, Constraint, Controller, Credentials, Deletion, EfsIam, ExtraArguments, FileSystemIam, Iam, JobIds, Monolith, MountOptions, MountTarget, Node, PluginResources, RegistryCredentials, Restart, TaskDriver, Update, Vault, Verify, VerifyOnNodes, WorkloadIdentity
from nomad_csi.components.argument_classes import (
    CsiPluginArgs as CsiPluginArgs,
    CsiVolumeArgs as CsiVolumeArgs,
    EbsSnapshotsArgs as EbsSnapshotsArgs,
    EbsVolumeArgs as EbsVolumeArgs,
    EfsBackupsArgs as EfsBackupsArgs,
    EfsFileSystemArgs as EfsFileSystemArgs,
    EfsVolumeArgs as EfsVolumeArgs,
    ExistingVolumeArgs as ExistingVolumeArgs,
)
from nomad_csi.components.resources import (
    CreatedVolume as CreatedVolume,
    PluginJob as PluginJob,
    Provider as Provider,
    VolumeRegistration as VolumeRegistration,
)

__all__ = ["COMPONENTS", "CreatedVolume", "CsiPlugin", "CsiPluginArgs", "CsiVolume", "CsiVolumeArgs", "EbsSnapshots", "EbsSnapshotsArgs", "EbsVolume", "EbsVolumeArgs", "EfsBackups", "EfsBackupsArgs", "EfsFileSystem", "EfsFileSystemArgs", "EfsVolume", "EfsVolumeArgs", "ExistingVolume", "ExistingVolumeArgs", "PluginJob", "Provider", "VolumeRegistration"]

COMPONENTS: tuple[type[pulumi.ComponentResource], ...]

class VolumeBlock(TypedDict):
    """The ``volume`` block of a job's group. Names are those of the block."""
    type: str
    """``csi``."""
    source: str
    """Nomad's id of the volume."""
    access_mode: str
    """The first of the volume's capabilities."""
    attachment_mode: str
    """The first of the volume's capabilities."""
    read_only: bool
    """Whether the access mode is one for readers."""

class VolumeMount(TypedDict):
    """The ``volume_mount`` block of a task. Names are those of the block."""
    volume: str
    """Name of the ``volume`` block."""
    destination: str
    """
    ``/NAME``, or ``/dev/NAME`` for a block device. Choose another one where the task wants it elsewhere.
    """
    read_only: bool
    """As in the ``volume`` block."""

class Claim(TypedDict):
    """How a job uses a volume."""
    namespace: str
    """Namespace of the volume; the job must be in the same."""
    name: str
    """Name of the ``volume`` block."""
    volume: VolumeBlock
    """The ``volume`` block of the job's group."""
    volume_mount: VolumeMount
    """The ``volume_mount`` block of each task that uses the volume."""

class CsiPlugin(pulumi.ComponentResource):
    """A CSI plugin: IAM policy, plugin jobs, and the proof that every instance is healthy."""
    plugin_id: pulumi.Output[str]
    """The plugin's id, known once it is verified healthy: volumes that use it are registered after that."""
    job_ids: pulumi.Output[Sequence[str]]
    """Ids of the plugin jobs."""
    job_hcl: pulumi.Output[Mapping[str, str]]
    """The job file of each role: ``controller``, ``node`` or ``monolith``."""
    iam_policy_arn: pulumi.Output[str]
    """ARN of the policy for the role in ``iam``; empty without one."""
    iam_policy: pulumi.Output[str]
    """That policy, as JSON; empty without one."""
    version: pulumi.Output[str]
    """Version that the plugin reported when it was verified last."""
    healthy_controllers: pulumi.Output[int]
    """Healthy controllers, when the plugin was verified last."""
    expected_controllers: pulumi.Output[int]
    """Controllers that must be healthy."""
    healthy_nodes: pulumi.Output[int]
    """Clients with a healthy node instance, when the plugin was verified last."""
    expected_nodes: pulumi.Output[int]
    """Clients that must have a node instance."""
    @overload
    def __init__(self, resource_name: str, args: CsiPluginArgs, opts: pulumi.ResourceOptions | None = None) -> None: ...
    @overload
    def __init__(
        self,
        resource_name: str,
        *,
        driver: Any,
        aws_region: pulumi.Input[str] | None = None,
        nomad_region: pulumi.Input[str] | None = None,
        namespace: pulumi.Input[str] | None = None,
        datacenters: pulumi.Input[Sequence[pulumi.Input[str]]] | None = None,
        node_pool: pulumi.Input[str] | None = None,
        job_ids: pulumi.Input[JobIds] | None = None,
        availability_zone: pulumi.Input[str] | None = None,
        constraints: pulumi.Input[Sequence[pulumi.Input[Constraint]]] | None = None,
        priority: pulumi.Input[int] | None = None,
        config: pulumi.Input[Mapping[str, pulumi.Input[Any]]] | None = None,
        credentials: pulumi.Input[Credentials] | None = None,
        iam: Iam | None = None,
        controller: pulumi.Input[Controller] | None = None,
        node: pulumi.Input[Node] | None = None,
        monolith: pulumi.Input[Monolith] | None = None,
        task_driver: pulumi.Input[TaskDriver] | None = None,
        host_network: pulumi.Input[bool] | None = None,
        image: pulumi.Input[str] | None = None,
        arguments_checked: pulumi.Input[bool] | None = None,
        image_registry: pulumi.Input[str] | None = None,
        image_digest: pulumi.Input[str] | None = None,
        registry_credentials: pulumi.Input[RegistryCredentials] | None = None,
        extra_arguments: pulumi.Input[ExtraArguments] | None = None,
        extra_tags: pulumi.Input[Mapping[str, pulumi.Input[str]]] | None = None,
        metrics_port: pulumi.Input[int] | None = None,
        environment: pulumi.Input[Mapping[str, pulumi.Input[str]]] | None = None,
        resources: pulumi.Input[PluginResources] | None = None,
        restart: pulumi.Input[Restart] | None = None,
        update: pulumi.Input[Update] | None = None,
        log_verbosity: pulumi.Input[int] | None = None,
        log_level: pulumi.Input[str] | None = None,
        health_timeout_s: pulumi.Input[int] | None = None,
        verify: pulumi.Input[Verify] | None = None,
        adopt: pulumi.Input[bool] | None = None,
        render_to: str | None = None,
        templates: str | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None: ...

class CsiVolume(pulumi.ComponentResource):
    """
    A volume that its plugin creates through Nomad. Data is kept on removal unless ``on_destroy`` is ``delete``.
    """
    external_id: pulumi.Output[str]
    """The id that the plugin gave it."""
    registration_id: pulumi.Output[str]
    """
    ``namespace/volume_id``, known once the volume is registered: what depends on it can claim the volume.
    """
    volume_id: pulumi.Output[str]
    """Nomad's id of the volume."""
    namespace: pulumi.Output[str]
    """Nomad namespace of the volume."""
    volume_hcl: pulumi.Output[str]
    """The volume file, as ``nomad volume register`` or ``create`` reads it; secrets are only named."""
    claim: pulumi.Output[Claim]
    """The blocks of a job that uses the volume, known once the volume is registered."""
    capacity_bytes: pulumi.Output[int]
    """How large the plugin made it; 0 where it does not say."""
    context: pulumi.Output[Mapping[str, str]]
    """The volume context, as the plugin answered."""
    topologies: pulumi.Output[Sequence[Mapping[str, Mapping[str, str]]]]
    """Places where the volume can be attached, each with its ``segments``; none: anywhere."""
    @overload
    def __init__(self, resource_name: str, args: CsiVolumeArgs, opts: pulumi.ResourceOptions | None = None) -> None: ...
    @overload
    def __init__(
        self,
        resource_name: str,
        *,
        plugin_id: pulumi.Input[str],
        driver: Any,
        namespace: pulumi.Input[str] | None = None,
        name: pulumi.Input[str] | None = None,
        capabilities: pulumi.Input[Sequence[pulumi.Input[Capability]]] | None = None,
        mount_options: pulumi.Input[MountOptions] | None = None,
        topologies: pulumi.Input[Sequence[pulumi.Input[Mapping[str, pulumi.Input[str]]]]] | None = None,
        context: pulumi.Input[Mapping[str, pulumi.Input[str]]] | None = None,
        parameters: pulumi.Input[Mapping[str, pulumi.Input[str]]] | None = None,
        secrets: pulumi.Input[Mapping[str, pulumi.Input[str]]] | None = None,
        shares_storage: pulumi.Input[bool] | None = None,
        protect: bool | None = None,
        adopt: pulumi.Input[bool] | None = None,
        capacity_min_gib: pulumi.Input[int] | None = None,
        capacity_min_bytes: pulumi.Input[int] | None = None,
        capacity_max_gib: pulumi.Input[int] | None = None,
        capacity_max_bytes: pulumi.Input[int] | None = None,
        availability_zone: pulumi.Input[str] | None = None,
        clone_id: pulumi.Input[str] | None = None,
        snapshot_id: pulumi.Input[str] | None = None,
        on_destroy: pulumi.Input[Literal["keep", "delete"]] | None = None,
        deletion: pulumi.Input[Deletion] | None = None,
        render_to: str | None = None,
        templates: str | None = None,
        volume_id: pulumi.Input[str] | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None: ...

class EbsSnapshots(pulumi.ComponentResource):
    """
    Snapshots of EBS volumes on a schedule: a policy of Data Lifecycle Manager and the role it works under.
    """
    schedule: pulumi.Output[str]
    """Name of the schedule. Pass it to each `EbsVolume` in ``snapshots``."""
    policy_id: pulumi.Output[str]
    """Id of the lifecycle policy."""
    policy_arn: pulumi.Output[str]
    """ARN of the lifecycle policy."""
    role_arn: pulumi.Output[str]
    """ARN of the role that the policy works under."""
    @overload
    def __init__(self, resource_name: str, args: EbsSnapshotsArgs, opts: pulumi.ResourceOptions | None = None) -> None: ...
    @overload
    def __init__(
        self,
        resource_name: str,
        *,
        every_hours: pulumi.Input[int] | None = None,
        at: pulumi.Input[str] | None = None,
        keep: pulumi.Input[int] | None = None,
        keep_days: pulumi.Input[int] | None = None,
        kms_key_arns: pulumi.Input[Sequence[pulumi.Input[str]]] | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None: ...

class EbsVolume(pulumi.ComponentResource):
    """An encrypted EBS volume, registered with Nomad and pinned to its zone."""
    external_id: pulumi.Output[str]
    """The ``vol-`` id, which Nomad calls the external id."""
    registration_id: pulumi.Output[str]
    """
    ``namespace/volume_id``, known once the volume is registered: what depends on it can claim the volume.
    """
    volume_id: pulumi.Output[str]
    """Nomad's id of the volume."""
    namespace: pulumi.Output[str]
    """Nomad namespace of the volume."""
    volume_hcl: pulumi.Output[str]
    """The volume file, as ``nomad volume register`` or ``create`` reads it; secrets are only named."""
    claim: pulumi.Output[Claim]
    """The blocks of a job that uses the volume, known once the volume is registered."""
    arn: pulumi.Output[str]
    """ARN of the EBS volume."""
    availability_zone: pulumi.Output[str]
    """Zone of the EBS volume."""
    size_gib: pulumi.Output[int]
    """Size of the EBS volume in GiB."""
    kms_key_arn: pulumi.Output[str]
    """ARN of the key that encrypts it; empty where it is not encrypted."""
    @overload
    def __init__(self, resource_name: str, args: EbsVolumeArgs, opts: pulumi.ResourceOptions | None = None) -> None: ...
    @overload
    def __init__(
        self,
        resource_name: str,
        *,
        plugin_id: pulumi.Input[str],
        availability_zone: pulumi.Input[str],
        size_gib: pulumi.Input[int],
        namespace: pulumi.Input[str] | None = None,
        name: pulumi.Input[str] | None = None,
        capabilities: pulumi.Input[Sequence[pulumi.Input[Capability]]] | None = None,
        mount_options: pulumi.Input[MountOptions] | None = None,
        topologies: pulumi.Input[Sequence[pulumi.Input[Mapping[str, pulumi.Input[str]]]]] | None = None,
        context: pulumi.Input[Mapping[str, pulumi.Input[str]]] | None = None,
        parameters: pulumi.Input[Mapping[str, pulumi.Input[str]]] | None = None,
        secrets: pulumi.Input[Mapping[str, pulumi.Input[str]]] | None = None,
        shares_storage: pulumi.Input[bool] | None = None,
        protect: bool | None = None,
        adopt: pulumi.Input[bool] | None = None,
        volume_type: pulumi.Input[str] | None = None,
        iops: pulumi.Input[int] | None = None,
        throughput_mib_per_s: pulumi.Input[int] | None = None,
        encrypted: pulumi.Input[bool] | None = None,
        kms_key_arn: pulumi.Input[str] | None = None,
        tags: pulumi.Input[Mapping[str, pulumi.Input[str]]] | None = None,
        render_to: str | None = None,
        templates: str | None = None,
        volume_id: pulumi.Input[str] | None = None,
        snapshots: pulumi.Input[Sequence[pulumi.Input[str]]] | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None: ...

class EfsBackups(pulumi.ComponentResource):
    """
    Copies of EFS file systems on a schedule: a plan of AWS Backup, its vault, and the role it works under.
    """
    plan_id: pulumi.Output[str]
    """Id of the backup plan."""
    plan_arn: pulumi.Output[str]
    """ARN of the backup plan."""
    vault_name: pulumi.Output[str]
    """Name of the vault that holds the copies."""
    vault_arn: pulumi.Output[str]
    """ARN of the vault."""
    role_arn: pulumi.Output[str]
    """ARN of the role that the plan works under."""
    @overload
    def __init__(self, resource_name: str, args: EfsBackupsArgs, opts: pulumi.ResourceOptions | None = None) -> None: ...
    @overload
    def __init__(
        self,
        resource_name: str,
        *,
        keep_days: pulumi.Input[int],
        file_system_arns: pulumi.Input[Sequence[pulumi.Input[str]]],
        every_hours: pulumi.Input[int] | None = None,
        at: pulumi.Input[str] | None = None,
        kms_key_arn: pulumi.Input[str] | None = None,
        protect: bool | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None: ...

class EfsFileSystem(pulumi.ComponentResource):
    """
    An encrypted EFS file system with its mount targets, for volumes that each are an access point of it.
    """
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
    @overload
    def __init__(self, resource_name: str, args: EfsFileSystemArgs, opts: pulumi.ResourceOptions | None = None) -> None: ...
    @overload
    def __init__(
        self,
        resource_name: str,
        *,
        mount_targets: Sequence[MountTarget],
        clients: pulumi.Input[Clients],
        performance_mode: pulumi.Input[Literal["generalPurpose", "maxIO"]] | None = None,
        throughput_mode: pulumi.Input[Literal["bursting", "elastic"]] | None = None,
        encrypted: pulumi.Input[bool] | None = None,
        kms_key_arn: pulumi.Input[str] | None = None,
        tags: pulumi.Input[Mapping[str, pulumi.Input[str]]] | None = None,
        iam: FileSystemIam | None = None,
        protect: bool | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None: ...

class EfsVolume(pulumi.ComponentResource):
    """
    A volume of EFS: an access point, or a whole file system with its mount targets, registered with Nomad.
    """
    external_id: pulumi.Output[str]
    """``fs-...::fsap-...``, or ``fs-...`` without an access point."""
    registration_id: pulumi.Output[str]
    """
    ``namespace/volume_id``, known once the volume is registered: what depends on it can claim the volume.
    """
    volume_id: pulumi.Output[str]
    """Nomad's id of the volume."""
    namespace: pulumi.Output[str]
    """Nomad namespace of the volume."""
    volume_hcl: pulumi.Output[str]
    """The volume file, as ``nomad volume register`` or ``create`` reads it; secrets are only named."""
    claim: pulumi.Output[Claim]
    """The blocks of a job that uses the volume, known once the volume is registered."""
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
    @overload
    def __init__(self, resource_name: str, args: EfsVolumeArgs, opts: pulumi.ResourceOptions | None = None) -> None: ...
    @overload
    def __init__(
        self,
        resource_name: str,
        *,
        plugin_id: pulumi.Input[str],
        namespace: pulumi.Input[str] | None = None,
        name: pulumi.Input[str] | None = None,
        capabilities: pulumi.Input[Sequence[pulumi.Input[Capability]]] | None = None,
        mount_options: pulumi.Input[MountOptions] | None = None,
        topologies: pulumi.Input[Sequence[pulumi.Input[Mapping[str, pulumi.Input[str]]]]] | None = None,
        context: pulumi.Input[Mapping[str, pulumi.Input[str]]] | None = None,
        parameters: pulumi.Input[Mapping[str, pulumi.Input[str]]] | None = None,
        secrets: pulumi.Input[Mapping[str, pulumi.Input[str]]] | None = None,
        shares_storage: pulumi.Input[bool] | None = None,
        protect: bool | None = None,
        adopt: pulumi.Input[bool] | None = None,
        mount_targets: Sequence[MountTarget] | None = None,
        clients: pulumi.Input[Clients] | None = None,
        performance_mode: pulumi.Input[Literal["generalPurpose", "maxIO"]] | None = None,
        throughput_mode: pulumi.Input[Literal["bursting", "elastic"]] | None = None,
        encrypted: pulumi.Input[bool] | None = None,
        kms_key_arn: pulumi.Input[str] | None = None,
        tags: pulumi.Input[Mapping[str, pulumi.Input[str]]] | None = None,
        file_system_id: pulumi.Input[str] | None = None,
        iam: EfsIam | None = None,
        access_point: AccessPoint | None = None,
        render_to: str | None = None,
        templates: str | None = None,
        volume_id: pulumi.Input[str] | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None: ...

class ExistingVolume(pulumi.ComponentResource):
    """Storage that exists already, registered with Nomad. It is never deleted."""
    external_id: pulumi.Output[str]
    """As given."""
    registration_id: pulumi.Output[str]
    """
    ``namespace/volume_id``, known once the volume is registered: what depends on it can claim the volume.
    """
    volume_id: pulumi.Output[str]
    """Nomad's id of the volume."""
    namespace: pulumi.Output[str]
    """Nomad namespace of the volume."""
    volume_hcl: pulumi.Output[str]
    """The volume file, as ``nomad volume register`` or ``create`` reads it; secrets are only named."""
    claim: pulumi.Output[Claim]
    """The blocks of a job that uses the volume, known once the volume is registered."""
    @overload
    def __init__(self, resource_name: str, args: ExistingVolumeArgs, opts: pulumi.ResourceOptions | None = None) -> None: ...
    @overload
    def __init__(
        self,
        resource_name: str,
        *,
        plugin_id: pulumi.Input[str],
        external_id: pulumi.Input[str],
        driver: str,
        namespace: pulumi.Input[str] | None = None,
        name: pulumi.Input[str] | None = None,
        capabilities: pulumi.Input[Sequence[pulumi.Input[Capability]]] | None = None,
        mount_options: pulumi.Input[MountOptions] | None = None,
        topologies: pulumi.Input[Sequence[pulumi.Input[Mapping[str, pulumi.Input[str]]]]] | None = None,
        context: pulumi.Input[Mapping[str, pulumi.Input[str]]] | None = None,
        parameters: pulumi.Input[Mapping[str, pulumi.Input[str]]] | None = None,
        secrets: pulumi.Input[Mapping[str, pulumi.Input[str]]] | None = None,
        shares_storage: pulumi.Input[bool] | None = None,
        protect: bool | None = None,
        adopt: pulumi.Input[bool] | None = None,
        availability_zone: pulumi.Input[str] | None = None,
        render_to: str | None = None,
        templates: str | None = None,
        volume_id: pulumi.Input[str] | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None: ...
