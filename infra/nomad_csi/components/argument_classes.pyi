"""Made by ``python -m tests.schema`` from the models of the spec: edit those, or argument_classes.py."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

import pulumi


class AccessPoint(TypedDict):
    """The folder of the file system that becomes the volume, and the user that owns it."""
    path: pulumi.Input[str]
    """
    Folder of the file system, at most 4 levels deep. EFS creates it if it does not exist. Allowed: a path from /
    of at most 100 characters, at most 4 folders, no . in front, none of $#<>;`|&?{}^*.
    """
    uid: pulumi.Input[int]
    """User id that owns the folder, and used for every access. 0 to 4294967295."""
    gid: pulumi.Input[int]
    """Group id of that user. 0 to 4294967295."""
    permissions: NotRequired[pulumi.Input[str]]
    """
    Permissions of the folder, if EFS creates it. Allowed: octal permissions such as 0755. Default: ``0755``.
    """

class Capability(TypedDict):
    """One way in which allocations may use a volume."""
    access_mode: pulumi.Input[Literal["single-node-reader-only", "single-node-writer", "multi-node-reader-only", "multi-node-single-writer", "multi-node-multi-writer"]]
    """
    Who may read and write, from how many clients. What works depends on the driver. One of single-node-reader-
    only, single-node-writer, multi-node-reader-only, multi-node-single-writer, multi-node-multi-writer.
    """
    attachment_mode: NotRequired[pulumi.Input[Literal["file-system", "block-device"]]]
    """
    How tasks see the volume: a mounted file system, or the raw block device. One of file-system, block-device.
    Default: ``file-system``.
    """

class Clients(TypedDict):
    """Which clients may reach the mount targets (TCP 2049)."""
    cidr_blocks: NotRequired[pulumi.Input[Sequence[pulumi.Input[str]]]]
    """Networks of the Nomad clients."""
    security_group_ids: NotRequired[pulumi.Input[Sequence[pulumi.Input[str]]]]
    """Security groups of the Nomad clients. Allowed: a security group id such as sg-0abc12345."""

class Constraint(TypedDict):
    """A condition that clients must meet to run the plugin."""
    attribute: pulumi.Input[str]
    """A runtime variable such as ``${attr.cpu.arch}``, ``${meta.storage}`` or ``${node.class}``."""
    operator: NotRequired[pulumi.Input[Literal["=", "!=", ">", ">=", "<", "<=", "regexp", "version", "semver", "set_contains", "set_contains_any", "is_set", "is_not_set"]]]
    """
    Nomad's comparison operator. One of =, !=, >, >=, <, <=, regexp, version, semver, set_contains,
    set_contains_any, is_set, is_not_set. Default: ``=``.
    """
    value: NotRequired[pulumi.Input[str]]
    """Value to compare with. Leave it out for ``is_set`` and ``is_not_set``."""

class Controller(TypedDict):
    """The controller job, where it differs from the plugin."""
    count: NotRequired[pulumi.Input[int]]
    """Number of instances, on distinct clients; absent: the driver's default (EBS: 2, democratic-csi: 1)."""
    resources: NotRequired[pulumi.Input[PluginResources]]
    """What Nomad reserves for a plugin task."""
    task_driver: NotRequired[pulumi.Input[TaskDriver]]
    """How Nomad runs the plugin's process on the clients."""

class Credentials(TypedDict):
    """Where the plugin's tasks get their secrets from. Absent: drivers of AWS use the instance role."""
    nomad_variable: NotRequired[pulumi.Input[str]]
    """
    Path of a Nomad variable in the plugin's namespace. Without an ACL policy, every job may read ``nomad/jobs``,
    and each job its own ``nomad/jobs/JOB_ID`` and below. Allowed: a path of letters, digits, '-', '_', '~' and
    '/', such as nomad/jobs/NAME.
    """
    vault: NotRequired[pulumi.Input[Vault]]
    """A secret in Vault."""
    workload_identity: NotRequired[pulumi.Input[WorkloadIdentity]]
    """An AWS role that the plugin assumes with the workload identity that Nomad signs for its task (OIDC)."""

class CsiPluginArgs(TypedDict):
    """A CSI plugin; the fields are those of a plugin in the spec, and the id is the component's name."""
    driver: Any
    """
    Name in the driver catalogue, or the description of a driver that is not in it, as in the spec. No output: it
    decides which jobs there are, and which rules hold.
    """
    aws_region: NotRequired[pulumi.Input[str]]
    """
    Region of the storage, for drivers of AWS. Not Nomad's region. Allowed: an AWS region such as us-east-1.
    """
    nomad_region: NotRequired[pulumi.Input[str]]
    """
    Nomad region of the plugin jobs; absent: the region of the agent. The connection must use the same region.
    """
    namespace: NotRequired[pulumi.Input[str]]
    """
    Nomad namespace of the plugin jobs. The plugin itself is global. Allowed: letters, digits and '-'. Default:
    ``default``.
    """
    datacenters: NotRequired[pulumi.Input[Sequence[pulumi.Input[str]]]]
    """Nomad datacenters of the plugin jobs; ``*`` is a wildcard."""
    node_pool: NotRequired[pulumi.Input[str]]
    """Nomad node pool of the plugin jobs; ``all`` holds every client. Default: ``default``."""
    job_ids: NotRequired[pulumi.Input[JobIds]]
    """
    Ids of the plugin's jobs, to take over jobs that already run under other names. If an id changes, the old job
    is stopped and purged before the new one starts, but not while a volume is claimed.
    """
    availability_zone: NotRequired[pulumi.Input[str]]
    """
    Run the plugin in this zone only, for volumes in that zone: one plugin id per zone. Absent: all zones.
    Allowed: an Availability Zone such as us-east-1a.
    """
    constraints: NotRequired[pulumi.Input[Sequence[pulumi.Input[Constraint]]]]
    """A condition that clients must meet to run the plugin."""
    priority: NotRequired[pulumi.Input[int]]
    """
    Job priority. Above Nomad's default of 50, because other jobs cannot run without their plugin. 1 to 100.
    Default: ``80``.
    """
    config: NotRequired[pulumi.Input[Mapping[str, pulumi.Input[Any]]]]
    """The driver's configuration: its file, or its settings. ``{from_secret: ITEM}`` inserts a secret."""
    credentials: NotRequired[pulumi.Input[Credentials]]
    """Where the plugin's tasks get their secrets from. Absent: drivers of AWS use the instance role."""
    iam: NotRequired[Iam]
    """
    The IAM role that gets the plugin's AWS permissions. Absent: no policy is created. No output: whether it is
    there decides whether there is a policy; its fields may be outputs.
    """
    controller: NotRequired[pulumi.Input[Controller]]
    """The controller job, where it differs from the plugin."""
    node: NotRequired[pulumi.Input[Node]]
    """The node job, where it differs from the plugin."""
    monolith: NotRequired[pulumi.Input[Monolith]]
    """The job of a driver whose process is both controller and node, where it differs from the plugin."""
    task_driver: NotRequired[pulumi.Input[TaskDriver]]
    """How Nomad runs the plugin's process on the clients."""
    host_network: NotRequired[pulumi.Input[bool]]
    """Whether containers share the client's network; absent: the driver's default."""
    image: NotRequired[pulumi.Input[str]]
    """
    Container image instead of the catalogue's, for another version of the driver. The image's tag is the version;
    the driver gets the arguments of that version.
    """
    arguments_checked: NotRequired[pulumi.Input[bool]]
    """
    ``false``: also run an image of a version whose arguments the catalogue does not know. It gets the arguments
    of the catalogue's version, and ``extra_arguments`` may contain any flag. Default: ``true``.
    """
    image_registry: NotRequired[pulumi.Input[str]]
    """
    Registry to use instead of the image's registry, such as a mirror, with an optional path. Allowed: a
    registry's host, optionally with a path, without a trailing slash.
    """
    image_digest: NotRequired[pulumi.Input[str]]
    """Digest that the image must have. Allowed: sha256: and 64 hexadecimal digits."""
    registry_credentials: NotRequired[pulumi.Input[RegistryCredentials]]
    """The secret with the login for the image's registry, in its items ``username`` and ``password``."""
    extra_arguments: NotRequired[pulumi.Input[ExtraArguments]]
    """Arguments for the driver beyond those that the catalogue renders."""
    extra_tags: NotRequired[pulumi.Input[Mapping[str, pulumi.Input[str]]]]
    """Tags that the driver sets on the storage that it creates."""
    metrics_port: NotRequired[pulumi.Input[int]]
    """
    Port of the metrics endpoint of the node instances on their clients; absent: no metrics. Controllers use the
    next port, because a client may run both. 1 to 65534.
    """
    environment: NotRequired[pulumi.Input[Mapping[str, pulumi.Input[str]]]]
    """
    Environment variables of the tasks. They override the driver's. No secrets: the job file contains them.
    """
    resources: NotRequired[pulumi.Input[PluginResources]]
    """Resources of all the plugin's tasks; absent: the driver's default. Those of a role override them."""
    restart: NotRequired[pulumi.Input[Restart]]
    """
    How Nomad restarts a plugin that ends. Nomad never gives up: after *attempts* it waits, then tries again.
    """
    update: NotRequired[pulumi.Input[Update]]
    """How Nomad replaces the instances of a changed job. Absent: Nomad's defaults."""
    log_verbosity: NotRequired[pulumi.Input[int]]
    """klog verbosity (``--v``), for drivers that have it. 0 to 10. Default: ``2``."""
    log_level: NotRequired[pulumi.Input[str]]
    """Log level, for drivers with named levels; absent: the driver's default."""
    health_timeout_s: NotRequired[pulumi.Input[int]]
    """
    Seconds that Nomad waits for a first healthy answer before it restarts the task; absent: the driver's default.
    5 to 3600.
    """
    verify: NotRequired[pulumi.Input[Verify]]
    """When the plugin counts as verified."""
    adopt: NotRequired[pulumi.Input[bool]]
    """Take over existing plugin jobs with the same ids, even if they differ. Default: ``false``."""
    render_to: NotRequired[str]
    """
    Folder, below the provider's root, for the rendered files. Absent: no files are written. No output: whether it
    is there decides whether there are files.
    """
    templates: NotRequired[str]
    """
    Folder with your own templates, which override the built-in ones. No output: they are read when the program
    runs.
    """

class CsiVolumeArgs(TypedDict):
    """A volume that the plugin creates; the fields are those of a volume in the spec."""
    namespace: NotRequired[pulumi.Input[str]]
    """Nomad namespace of the volume. Allowed: letters, digits and '-'. Default: ``default``."""
    name: NotRequired[pulumi.Input[str]]
    """Name that Nomad shows; absent: the id. It cannot be changed after the first registration."""
    plugin_id: pulumi.Input[str]
    """
    The plugin that serves the volume. Pass ``plugin_id`` of a `CsiPlugin`: known once the plugin is healthy.
    """
    capabilities: NotRequired[pulumi.Input[Sequence[pulumi.Input[Capability]]]]
    """Capabilities of the volume; absent: the driver's default one."""
    mount_options: NotRequired[pulumi.Input[MountOptions]]
    """How the file system is mounted."""
    topologies: NotRequired[pulumi.Input[Sequence[pulumi.Input[Mapping[str, pulumi.Input[str]]]]]]
    """
    Segments of each topology in which the volume can be attached, instead of those from the availability zone.
    """
    context: NotRequired[pulumi.Input[Mapping[str, pulumi.Input[str]]]]
    """Volume context: keys and values that Nomad passes to the driver with every call for the volume."""
    parameters: NotRequired[pulumi.Input[Mapping[str, pulumi.Input[str]]]]
    """Parameters: keys and values that Nomad passes to the driver when it creates or validates the volume."""
    secrets: NotRequired[pulumi.Input[Mapping[str, pulumi.Input[str]]]]
    """CSI secrets. They are encrypted in the state and never written to a file."""
    shares_storage: NotRequired[pulumi.Input[bool]]
    """
    Whether another volume id may refer to the same storage, here or elsewhere in the cluster. Only with access
    modes for several nodes. ``false``: two volumes with the same external id are refused. Default: ``false``.
    """
    protect: NotRequired[bool]
    """
    Whether the storage is neither deleted nor replaced, and the volume not pointed at other data. Default:
    ``true``. No output: Pulumi needs it when the program runs, as it does the resource option of that name.
    """
    adopt: NotRequired[pulumi.Input[bool]]
    """
    Take over an existing registration with the same id that differs, or that another stack owns. Default:
    ``false``.
    """
    capacity_min_gib: NotRequired[pulumi.Input[int]]
    """
    Minimum size in GiB (2**30 bytes). Absent, also in bytes: the driver's usual size; some drivers refuse that.
    """
    capacity_min_bytes: NotRequired[pulumi.Input[int]]
    """
    Minimum size in bytes, instead of ``capacity_min_gib``, for sizes that are not whole GiB. 1 to
    9007199254740992.
    """
    capacity_max_gib: NotRequired[pulumi.Input[int]]
    """Maximum size in GiB; absent: the plugin decides."""
    capacity_max_bytes: NotRequired[pulumi.Input[int]]
    """Maximum size in bytes, instead of ``capacity_max_gib``. 1 to 9007199254740992."""
    availability_zone: NotRequired[pulumi.Input[str]]
    """Zone in which to create the volume. Required by drivers whose volumes are bound to a zone."""
    clone_id: NotRequired[pulumi.Input[str]]
    """External id of a volume to copy."""
    snapshot_id: NotRequired[pulumi.Input[str]]
    """External id of a snapshot to start from."""
    on_destroy: NotRequired[pulumi.Input[Literal["keep", "delete"]]]
    """
    Whether the storage is kept, or deleted with all data, when Pulumi removes or replaces the volume. One of
    keep, delete. Default: ``keep``.
    """
    deletion: NotRequired[pulumi.Input[Deletion]]
    """How the storage is deleted. Required with ``on_destroy: delete``."""
    render_to: NotRequired[str]
    """
    Folder, below the provider's root, for the rendered files. Absent: no files are written. No output: whether it
    is there decides whether there are files.
    """
    templates: NotRequired[str]
    """
    Folder with your own templates, which override the built-in ones. No output: they are read when the program
    runs.
    """
    volume_id: NotRequired[pulumi.Input[str]]
    """Nomad's id of the volume. Default: the component's name."""
    driver: Any
    """
    Name in the driver catalogue, or the description of a driver that is not in it. No output: it decides which
    jobs there are, and which rules hold.
    """

class Deletion(TypedDict):
    """How ``on_destroy: delete`` deletes storage that the plugin created."""
    endpoint: NotRequired[pulumi.Input[str]]
    """
    Address of the plugin's controller: a socket's path, ``HOST:PORT`` or ``ssh://USER@HOST/PATH``. ``{alloc_id}``
    and ``{node_name}`` are replaced by those of a healthy controller.
    """
    aws_region: NotRequired[pulumi.Input[str]]
    """
    AWS region of an EBS volume. EC2 says whether it is attached, and deletes it if there is no ``endpoint``.
    Allowed: an AWS region such as us-east-1.
    """
    accept_unguarded: NotRequired[pulumi.Input[bool]]
    """
    Allow deletion by a plugin whose storage does not refuse volumes in use. Do not register the volume meanwhile.
    Default: ``false``.
    """
    skip_final_snapshot: NotRequired[pulumi.Input[bool]]
    """Delete the data without a final snapshot. Default: ``false``."""

class EbsSnapshotsArgs(TypedDict):
    """When snapshots of EBS volumes are taken, and how many are kept; fields as in a schedule of the spec."""
    every_hours: NotRequired[pulumi.Input[int]]
    """Hours between two snapshots. One of 1, 2, 3, 4, 6, 8, 12, 24. Default: ``24``."""
    at: NotRequired[pulumi.Input[str]]
    """
    Time of one snapshot, in UTC. AWS starts within the following hour, or later under load. Allowed: HH:MM in
    UTC, quoted: '03:00'. Default: ``03:00``.
    """
    keep: NotRequired[pulumi.Input[int]]
    """Number of snapshots to keep of each volume; a further one replaces the oldest. EBS only. 1 to 1000."""
    keep_days: NotRequired[pulumi.Input[int]]
    """
    Days after which a snapshot is deleted. Required in a schedule that EFS file systems use. 1 to 36500.
    """
    kms_key_arns: NotRequired[pulumi.Input[Sequence[pulumi.Input[str]]]]
    """Customer keys of the volumes, which the role is allowed to use."""

class EbsVolumeArgs(TypedDict):
    """An EBS volume to create and register; the fields are those of a volume in the spec."""
    namespace: NotRequired[pulumi.Input[str]]
    """Nomad namespace of the volume. Allowed: letters, digits and '-'. Default: ``default``."""
    name: NotRequired[pulumi.Input[str]]
    """Name that Nomad shows; absent: the id. It cannot be changed after the first registration."""
    plugin_id: pulumi.Input[str]
    """
    The plugin that serves the volume. Pass ``plugin_id`` of a `CsiPlugin`: known once the plugin is healthy.
    """
    capabilities: NotRequired[pulumi.Input[Sequence[pulumi.Input[Capability]]]]
    """Capabilities of the volume; absent: the driver's default one."""
    mount_options: NotRequired[pulumi.Input[MountOptions]]
    """How the file system is mounted."""
    topologies: NotRequired[pulumi.Input[Sequence[pulumi.Input[Mapping[str, pulumi.Input[str]]]]]]
    """
    Segments of each topology in which the volume can be attached, instead of those from the availability zone.
    """
    context: NotRequired[pulumi.Input[Mapping[str, pulumi.Input[str]]]]
    """Volume context: keys and values that Nomad passes to the driver with every call for the volume."""
    parameters: NotRequired[pulumi.Input[Mapping[str, pulumi.Input[str]]]]
    """Parameters: keys and values that Nomad passes to the driver when it creates or validates the volume."""
    secrets: NotRequired[pulumi.Input[Mapping[str, pulumi.Input[str]]]]
    """CSI secrets. They are encrypted in the state and never written to a file."""
    shares_storage: NotRequired[pulumi.Input[bool]]
    """
    Whether another volume id may refer to the same storage, here or elsewhere in the cluster. Only with access
    modes for several nodes. ``false``: two volumes with the same external id are refused. Default: ``false``.
    """
    protect: NotRequired[bool]
    """
    Whether the storage is neither deleted nor replaced, and the volume not pointed at other data. Default:
    ``true``. No output: Pulumi needs it when the program runs, as it does the resource option of that name.
    """
    adopt: NotRequired[pulumi.Input[bool]]
    """
    Take over an existing registration with the same id that differs, or that another stack owns. Default:
    ``false``.
    """
    availability_zone: pulumi.Input[str]
    """Only clients in this zone can attach the volume. Allowed: an Availability Zone such as us-east-1a."""
    size_gib: pulumi.Input[int]
    """Size in GiB (2**30 bytes)."""
    volume_type: NotRequired[pulumi.Input[str]]
    """``gp3``, ``gp2``, ``io2``, ``io1``, ``st1``, ``sc1`` or ``standard``. Default: ``gp3``."""
    iops: NotRequired[pulumi.Input[int]]
    """Provisioned I/O operations per second; absent: the baseline of the type."""
    throughput_mib_per_s: NotRequired[pulumi.Input[int]]
    """Provisioned throughput in MiB/s, gp3 only; 125 when absent."""
    encrypted: NotRequired[pulumi.Input[bool]]
    """Whether the storage is encrypted at rest. Default: ``true``."""
    kms_key_arn: NotRequired[pulumi.Input[str]]
    """
    Customer key; absent: the account's default EBS key. Allowed: the full ARN of a KMS key, not of an alias.
    """
    tags: NotRequired[pulumi.Input[Mapping[str, pulumi.Input[str]]]]
    """AWS tags, in addition to those for the volume and its owner."""
    render_to: NotRequired[str]
    """
    Folder, below the provider's root, for the rendered files. Absent: no files are written. No output: whether it
    is there decides whether there are files.
    """
    templates: NotRequired[str]
    """
    Folder with your own templates, which override the built-in ones. No output: they are read when the program
    runs.
    """
    volume_id: NotRequired[pulumi.Input[str]]
    """Nomad's id of the volume. Default: the component's name."""
    snapshots: NotRequired[pulumi.Input[Sequence[pulumi.Input[str]]]]
    """Snapshot schedules of the volume. Pass ``schedule`` of each `EbsSnapshots` of this stack."""

class EfsBackupsArgs(TypedDict):
    """When EFS file systems are backed up, and how long the backups are kept."""
    every_hours: NotRequired[pulumi.Input[int]]
    """Hours between two snapshots. One of 1, 2, 3, 4, 6, 8, 12, 24. Default: ``24``."""
    at: NotRequired[pulumi.Input[str]]
    """
    Time of one snapshot, in UTC. AWS starts within the following hour, or later under load. Allowed: HH:MM in
    UTC, quoted: '03:00'. Default: ``03:00``.
    """
    keep_days: pulumi.Input[int]
    """Days after which a backup is deleted, 1 to 36,500."""
    file_system_arns: pulumi.Input[Sequence[pulumi.Input[str]]]
    """File systems to back up, at most 500: ``file_system_arn`` of each `EfsVolume`."""
    kms_key_arn: NotRequired[pulumi.Input[str]]
    """Customer key of the vault. Default: the account's key for AWS Backup."""
    protect: NotRequired[bool]
    """
    Whether Pulumi refuses to delete the vault, which AWS also refuses while backups are in it. Default: ``true``.
    No output: Pulumi needs it when the program runs, as it does the resource option of that name.
    """

class EfsFileSystemArgs(TypedDict):
    """An EFS file system that several volumes share; the fields are those of a file system in the spec."""
    mount_targets: Sequence[MountTarget]
    """
    One for each zone whose clients mount the volumes. No output: their number decides how many there are; the
    fields of each may be outputs.
    """
    clients: pulumi.Input[Clients]
    """Which clients may reach the mount targets (TCP 2049)."""
    performance_mode: NotRequired[pulumi.Input[Literal["generalPurpose", "maxIO"]]]
    """
    EFS performance mode. It cannot be changed after the file system is created. One of generalPurpose, maxIO.
    Default: ``generalPurpose``.
    """
    throughput_mode: NotRequired[pulumi.Input[Literal["bursting", "elastic"]]]
    """
    ``elastic`` is billed by the data read and written; ``bursting`` throughput grows with the data stored.
    Default: ``bursting``.
    """
    encrypted: NotRequired[pulumi.Input[bool]]
    """Whether the storage is encrypted at rest. Default: ``true``."""
    kms_key_arn: NotRequired[pulumi.Input[str]]
    """
    Customer key; absent: the account's default EFS key. Allowed: the full ARN of a KMS key, not of an alias.
    """
    tags: NotRequired[pulumi.Input[Mapping[str, pulumi.Input[str]]]]
    """AWS tags, in addition to those for the volume or file system and its owner."""
    iam: NotRequired[FileSystemIam]
    """
    Who may mount the file system; its volumes need the mount flag ``iam``. Absent: no permissions are granted. No
    output: whether it is there decides whether there is a policy; its fields may be outputs.
    """
    protect: NotRequired[bool]
    """
    Whether Pulumi refuses to delete or replace it. Default: ``true``. No output: Pulumi needs it when the program
    runs, as it does the resource option of that name.
    """

class EfsIam(TypedDict):
    """Who may mount a file system whose volume has the mount flag ``iam``."""
    role_name: pulumi.Input[str]
    """
    Existing instance role of the Nomad clients. Pulumi attaches a policy to it that allows mounting this volume.
    Allowed: the name of an IAM role, not its ARN.
    """
    required: NotRequired[bool]
    """
    ``true``: a file system policy refuses every mount of the file system without ``iam``, even from outside of
    Nomad. ``false``: no such policy exists; every client that reaches a mount target may mount, as is usual in
    EFS. Default: ``false``. No output: it decides whether there is a file system policy.
    """

class EfsVolumeArgs(TypedDict):
    """
    An EFS volume to create and register; the fields are those of a volume in the spec.

    With ``mount_targets`` and ``clients`` its file system is created; with ``file_system_id`` it exists already.
    """
    namespace: NotRequired[pulumi.Input[str]]
    """Nomad namespace of the volume. Allowed: letters, digits and '-'. Default: ``default``."""
    name: NotRequired[pulumi.Input[str]]
    """Name that Nomad shows; absent: the id. It cannot be changed after the first registration."""
    plugin_id: pulumi.Input[str]
    """
    The plugin that serves the volume. Pass ``plugin_id`` of a `CsiPlugin`: known once the plugin is healthy.
    """
    capabilities: NotRequired[pulumi.Input[Sequence[pulumi.Input[Capability]]]]
    """Capabilities of the volume; absent: the driver's default one."""
    mount_options: NotRequired[pulumi.Input[MountOptions]]
    """How the file system is mounted."""
    topologies: NotRequired[pulumi.Input[Sequence[pulumi.Input[Mapping[str, pulumi.Input[str]]]]]]
    """
    Segments of each topology in which the volume can be attached, instead of those from the availability zone.
    """
    context: NotRequired[pulumi.Input[Mapping[str, pulumi.Input[str]]]]
    """Volume context: keys and values that Nomad passes to the driver with every call for the volume."""
    parameters: NotRequired[pulumi.Input[Mapping[str, pulumi.Input[str]]]]
    """Parameters: keys and values that Nomad passes to the driver when it creates or validates the volume."""
    secrets: NotRequired[pulumi.Input[Mapping[str, pulumi.Input[str]]]]
    """CSI secrets. They are encrypted in the state and never written to a file."""
    shares_storage: NotRequired[pulumi.Input[bool]]
    """
    Whether another volume id may refer to the same storage, here or elsewhere in the cluster. Only with access
    modes for several nodes. ``false``: two volumes with the same external id are refused. Default: ``false``.
    """
    protect: NotRequired[bool]
    """
    Whether the storage is neither deleted nor replaced, and the volume not pointed at other data. Default:
    ``true``. No output: Pulumi needs it when the program runs, as it does the resource option of that name.
    """
    adopt: NotRequired[pulumi.Input[bool]]
    """
    Take over an existing registration with the same id that differs, or that another stack owns. Default:
    ``false``.
    """
    mount_targets: NotRequired[Sequence[MountTarget]]
    """
    Where the file system can be mounted from: one per Availability Zone. No output: their number decides how many
    there are; the fields of each may be outputs.
    """
    clients: NotRequired[pulumi.Input[Clients]]
    """Which clients may reach the mount targets (TCP 2049)."""
    performance_mode: NotRequired[pulumi.Input[Literal["generalPurpose", "maxIO"]]]
    """
    EFS performance mode. It cannot be changed after the file system is created. One of generalPurpose, maxIO.
    Default: ``generalPurpose``.
    """
    throughput_mode: NotRequired[pulumi.Input[Literal["bursting", "elastic"]]]
    """
    ``elastic`` is billed by the data read and written; ``bursting`` throughput grows with the data stored.
    Default: ``bursting``.
    """
    encrypted: NotRequired[pulumi.Input[bool]]
    """Whether the storage is encrypted at rest. Default: ``true``."""
    kms_key_arn: NotRequired[pulumi.Input[str]]
    """
    Customer key; absent: the account's default EFS key. Allowed: the full ARN of a KMS key, not of an alias.
    """
    tags: NotRequired[pulumi.Input[Mapping[str, pulumi.Input[str]]]]
    """AWS tags, in addition to those for the volume or file system and its owner."""
    file_system_id: NotRequired[pulumi.Input[str]]
    """File system of the access point: ``file_system_id`` of an `EfsFileSystem`, or one created elsewhere."""
    iam: NotRequired[EfsIam]
    """
    Who may mount the volume; needs the mount flag ``iam``. Absent: no permissions are granted. No output: whether
    it is there decides whether there is a policy; its fields may be outputs.
    """
    access_point: NotRequired[AccessPoint]
    """
    Absent: the volume is the root of the file system. Required if the file system is not this volume's own. No
    output: whether it is there decides whether there is an access point; its fields may be outputs.
    """
    render_to: NotRequired[str]
    """
    Folder, below the provider's root, for the rendered files. Absent: no files are written. No output: whether it
    is there decides whether there are files.
    """
    templates: NotRequired[str]
    """
    Folder with your own templates, which override the built-in ones. No output: they are read when the program
    runs.
    """
    volume_id: NotRequired[pulumi.Input[str]]
    """Nomad's id of the volume. Default: the component's name."""

class ExistingVolumeArgs(TypedDict):
    """A volume that is only registered; the fields are those of a volume in the spec."""
    namespace: NotRequired[pulumi.Input[str]]
    """Nomad namespace of the volume. Allowed: letters, digits and '-'. Default: ``default``."""
    name: NotRequired[pulumi.Input[str]]
    """Name that Nomad shows; absent: the id. It cannot be changed after the first registration."""
    plugin_id: pulumi.Input[str]
    """
    The plugin that serves the volume. Pass ``plugin_id`` of a `CsiPlugin`: known once the plugin is healthy.
    """
    capabilities: NotRequired[pulumi.Input[Sequence[pulumi.Input[Capability]]]]
    """Capabilities of the volume; absent: the driver's default one."""
    mount_options: NotRequired[pulumi.Input[MountOptions]]
    """How the file system is mounted."""
    topologies: NotRequired[pulumi.Input[Sequence[pulumi.Input[Mapping[str, pulumi.Input[str]]]]]]
    """
    Segments of each topology in which the volume can be attached, instead of those from the availability zone.
    """
    context: NotRequired[pulumi.Input[Mapping[str, pulumi.Input[str]]]]
    """Volume context: keys and values that Nomad passes to the driver with every call for the volume."""
    parameters: NotRequired[pulumi.Input[Mapping[str, pulumi.Input[str]]]]
    """Parameters: keys and values that Nomad passes to the driver when it creates or validates the volume."""
    secrets: NotRequired[pulumi.Input[Mapping[str, pulumi.Input[str]]]]
    """CSI secrets. They are encrypted in the state and never written to a file."""
    shares_storage: NotRequired[pulumi.Input[bool]]
    """
    Whether another volume id may refer to the same storage, here or elsewhere in the cluster. Only with access
    modes for several nodes. ``false``: two volumes with the same external id are refused. Default: ``false``.
    """
    protect: NotRequired[bool]
    """
    Whether the storage is neither deleted nor replaced, and the volume not pointed at other data. Default:
    ``true``. No output: Pulumi needs it when the program runs, as it does the resource option of that name.
    """
    adopt: NotRequired[pulumi.Input[bool]]
    """
    Take over an existing registration with the same id that differs, or that another stack owns. Default:
    ``false``.
    """
    external_id: pulumi.Input[str]
    """The storage provider's id of the storage, such as ``vol-0123456789abcdef0``."""
    availability_zone: NotRequired[pulumi.Input[str]]
    """Zone of an EBS volume or GCE disk, or region of a DigitalOcean volume. Required for these."""
    render_to: NotRequired[str]
    """
    Folder, below the provider's root, for the rendered files. Absent: no files are written. No output: whether it
    is there decides whether there are files.
    """
    templates: NotRequired[str]
    """
    Folder with your own templates, which override the built-in ones. No output: they are read when the program
    runs.
    """
    volume_id: NotRequired[pulumi.Input[str]]
    """Nomad's id of the volume. Default: the component's name."""
    driver: str
    """Name in the driver catalogue. No output: it decides which jobs there are, and which rules hold."""

class ExtraArguments(TypedDict):
    """Arguments for the driver beyond those that the catalogue renders."""
    controller: NotRequired[pulumi.Input[Sequence[pulumi.Input[str]]]]
    """For controllers, after the rendered arguments."""
    node: NotRequired[pulumi.Input[Sequence[pulumi.Input[str]]]]
    """For node instances."""
    monolith: NotRequired[pulumi.Input[Sequence[pulumi.Input[str]]]]
    """For monolith instances."""

class FileSystemIam(TypedDict):
    """
    Who may mount a file system that several volumes share, through any of its access points, with ``iam``.
    """
    role_name: pulumi.Input[str]
    """
    Existing instance role of the Nomad clients. Pulumi attaches a policy to it that allows mounting this volume.
    Allowed: the name of an IAM role, not its ARN.
    """
    required: NotRequired[bool]
    """
    ``true``: a file system policy refuses every mount of the file system without ``iam``, even from outside of
    Nomad. ``false``: no such policy exists; every client that reaches a mount target may mount, as is usual in
    EFS. Default: ``false``. No output: it decides whether there is a file system policy.
    """
    root_access: NotRequired[pulumi.Input[bool]]
    """Whether the user of an access point may be root (``uid`` or ``gid`` 0). Default: ``false``."""

class Iam(TypedDict):
    """The IAM role that gets the plugin's AWS permissions. Absent: no policy is created."""
    role_name: pulumi.Input[str]
    """
    Existing instance role of the Nomad clients that may run the controller. Pulumi attaches a policy to it.
    Allowed: the name of an IAM role, not its ARN.
    """
    create_volumes: NotRequired[pulumi.Input[bool]]
    """
    Also allow the driver to create, expand, snapshot and delete volumes, as Nomad's ``volume create`` needs.
    Default: ``false``.
    """
    kms_key_arns: NotRequired[pulumi.Input[Sequence[pulumi.Input[str]]]]
    """
    Customer keys of volumes that the plugin attaches. Keys of volumes in the same spec are added automatically.
    Allowed: the full ARN of a KMS key, not of an alias.
    """
    volume_ids: NotRequired[pulumi.Input[Sequence[pulumi.Input[str]]]]
    """
    EBS volumes created elsewhere that may lack the tag required by the policy. Those in the same spec are added.
    Allowed: an EBS volume id such as vol-0123456789abcdef0.
    """

class JobIds(TypedDict):
    """
    Ids of the plugin's jobs, to take over jobs that already run under other names.

    If an id changes, the old job is stopped and purged before the new one starts, but not while a volume is
    claimed.
    """
    controller: NotRequired[pulumi.Input[str]]
    """
    Id of the controller job; absent: ``plugin-PLUGIN_ID-controller``. Allowed: up to 128 letters, digits, '.',
    '_' and '-', the first a letter or digit.
    """
    node: NotRequired[pulumi.Input[str]]
    """
    Id of the node job; absent: ``plugin-PLUGIN_ID-nodes``. Allowed: up to 128 letters, digits, '.', '_' and '-',
    the first a letter or digit.
    """
    monolith: NotRequired[pulumi.Input[str]]
    """
    Id of the monolith job; absent: ``plugin-PLUGIN_ID-monolith``. Allowed: up to 128 letters, digits, '.', '_'
    and '-', the first a letter or digit.
    """

class Monolith(TypedDict):
    """The job of a driver whose process is both controller and node, where it differs from the plugin."""
    job_type: NotRequired[pulumi.Input[Literal["service", "system"]]]
    """
    ``system`` runs one instance on each eligible client, ``service`` *count* instances; absent: the driver's
    default. Nomad cannot change the type of a job: the job is stopped and replaced, but not while a volume is
    claimed.
    """
    count: NotRequired[pulumi.Input[int]]
    """Number of instances of a service job; absent: the driver's default."""
    resources: NotRequired[pulumi.Input[PluginResources]]
    """What Nomad reserves for a plugin task."""

class MountOptions(TypedDict):
    """How the file system is mounted."""
    fs_type: NotRequired[pulumi.Input[str]]
    """File system; empty: the driver's default."""
    mount_flags: NotRequired[pulumi.Input[Sequence[pulumi.Input[str]]]]
    """
    Mount options, such as ``noatime``. Options encrypted in the stack's config are never written to a file.
    """

class MountTarget(TypedDict):
    """Where the file system can be mounted from: one per Availability Zone."""
    availability_zone: pulumi.Input[str]
    """Zone of the mount target. Allowed: an Availability Zone such as us-east-1a."""
    subnet_id: NotRequired[pulumi.Input[str]]
    """
    Subnet of the mount target; the default subnet of the zone when absent. Allowed: a subnet id such as
    subnet-0abc12345.
    """

class Node(TypedDict):
    """The node job, where it differs from the plugin."""
    resources: NotRequired[pulumi.Input[PluginResources]]
    """What Nomad reserves for a plugin task."""

class PluginResources(TypedDict):
    """What Nomad reserves for a plugin task."""
    cpu_mhz: NotRequired[pulumi.Input[int]]
    """Share of the processor, in Nomad's MHz. Default: ``100``."""
    memory_mib: NotRequired[pulumi.Input[int]]
    """Memory in MiB (2**20 bytes). A task that uses more is killed. Default: ``256``."""
    memory_max_mib: NotRequired[pulumi.Input[int]]
    """Memory limit in MiB where the scheduler allows oversubscription; absent: *memory_mib* is the limit."""

class RegistryCredentials(TypedDict):
    """The secret with the login for the image's registry, in its items ``username`` and ``password``."""
    nomad_variable: NotRequired[pulumi.Input[str]]
    """
    Path of a Nomad variable in the plugin's namespace. Allowed: a path of letters, digits, '-', '_', '~' and '/',
    such as nomad/jobs/NAME.
    """
    vault: NotRequired[pulumi.Input[Vault]]
    """A secret in Vault."""

class Restart(TypedDict):
    """
    How Nomad restarts a plugin that ends. Nomad never gives up: after *attempts* it waits, then tries again.
    """
    attempts: NotRequired[pulumi.Input[int]]
    """Restarts within *interval_s* before Nomad waits. Default: ``3``."""
    interval_s: NotRequired[pulumi.Input[int]]
    """Length of the interval in seconds, at least 5. Default: ``300``."""
    delay_s: NotRequired[pulumi.Input[int]]
    """Seconds between the end of the task and its next start. Default: ``15``."""

class TaskDriver(TypedDict):
    """How Nomad runs the plugin's process on the clients."""
    name: NotRequired[pulumi.Input[Literal["docker", "podman", "raw_exec", "exec"]]]
    """
    ``docker`` or ``podman``; ``raw_exec`` for clients without them; ``exec`` for controllers only. Default:
    ``docker``.
    """
    command: NotRequired[pulumi.Input[str]]
    """
    The driver's binary: an absolute path, or on the client agent's PATH. Required for ``raw_exec`` and ``exec``.
    """
    arguments: NotRequired[pulumi.Input[Sequence[pulumi.Input[str]]]]
    """``raw_exec``, ``exec``: arguments of *command* in front of the driver's arguments."""
    client_data_dir: NotRequired[pulumi.Input[str]]
    """
    ``data_dir`` of the Nomad clients. Required for ``raw_exec``: no API reports it. Elsewhere only probes use it.
    Allowed: an absolute path of at most 40 characters.
    """

class Update(TypedDict):
    """How Nomad replaces the instances of a changed job. Absent: Nomad's defaults."""
    max_parallel: NotRequired[pulumi.Input[int]]
    """Number of instances that are replaced at the same time. Default: ``1``."""
    min_healthy_time_s: NotRequired[pulumi.Input[int]]
    """Seconds for which a new instance must be healthy before the next one is replaced. Default: ``10``."""
    healthy_deadline_s: NotRequired[pulumi.Input[int]]
    """Seconds after which a new instance that is not healthy counts as failed. Default: ``300``."""
    auto_revert: NotRequired[pulumi.Input[bool]]
    """Whether Nomad reverts a failed update to the last healthy version. Default: ``false``."""

class Vault(TypedDict):
    """A secret in Vault."""
    path: pulumi.Input[str]
    """Path in a version 2 key-value store, such as ``secret/data/democratic-csi``."""
    role: NotRequired[pulumi.Input[str]]
    """Vault role; empty: the agent's default."""

class Verify(TypedDict):
    """When the plugin counts as verified."""
    evidence: NotRequired[pulumi.Input[Literal["nomad", "csi"]]]
    """
    ``nomad``: Nomad's health status is enough. ``csi``: the plugin must also answer over its CSI socket. Default:
    ``nomad``.
    """
    on_nodes: NotRequired[pulumi.Input[VerifyOnNodes]]
    """
    With ``evidence: csi``: probe with a job on the clients, for a machine without their sockets. Absent: no job.
    """
    timeout_s: NotRequired[pulumi.Input[float]]
    """Seconds to wait for the evidence. Default: ``300.0``."""
    stable_s: NotRequired[pulumi.Input[float]]
    """Seconds for which every instance that counts must stay healthy, without a restart. Default: ``3.0``."""
    min_healthy_percent: NotRequired[pulumi.Input[int]]
    """
    Percentage of node instances that must be healthy; absent: all, or as *min_healthy_per_zone* sets. 1 to 100.
    """
    min_healthy_per_zone: NotRequired[pulumi.Input[int]]
    """
    Node instances that must be healthy in each zone with clients; absent: all, or as the percentage sets.
    """

class VerifyOnNodes(TypedDict):
    """
    The job with which `pulumi up` probes instances on their clients. It runs once on each, and is then removed.
    """
    command: NotRequired[pulumi.Input[str]]
    """
    The nomad-csi program, on the clients or in the image: a path, or a name that the client's agent finds.
    Default: ``nomad-csi``.
    """
    image: NotRequired[pulumi.Input[str]]
    """Docker image with that program; absent: ``raw_exec``, which needs the program on the clients."""
    state_dir: NotRequired[pulumi.Input[str]]
    """The clients' ``state_dir``; absent: ``DATA_DIR/client``, which is detected. Required with *image*."""
    timeout_s: NotRequired[pulumi.Input[float]]
    """Seconds that all clients together may take to answer. Default: ``60.0``."""

class WorkloadIdentity(TypedDict):
    """An AWS role that the plugin assumes with the workload identity that Nomad signs for its task (OIDC)."""
    role_arn: pulumi.Input[str]
    """
    ARN of the role. Its trust policy must name the cluster's OIDC provider. Allowed: the ARN of an IAM role such
    as arn:aws:iam::123456789012:role/nomad-csi.
    """
    audience: NotRequired[pulumi.Input[str]]
    """Audience of the token, as in the role's trust policy. Default: ``sts.amazonaws.com``."""
