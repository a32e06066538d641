"""Made by ``python -m tests.schema`` from what the resources declare: edit that, or resources.py."""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi

from nomad_csi.components.declared_resource import Provider as Provider


class CreatedVolume(pulumi.CustomResource):
    """
    A CSI volume that its plugin makes, through Nomad, for the stack *owner*, whose id is *owner_id*.

    One of that id that differs, or is another owner's, is taken over only when *adopt* is true. When it is
    removed
    or replaced, its storage stays, or goes with all data: *on_destroy* ``keep`` or ``delete``, *deletion* says
    how. While *availability_zone* stays, another topology key replaces nothing.
    """
    owner: pulumi.Output[str]
    """The owning stack, as `project/stack`; its owner record, a Nomad variable, keeps other stacks away."""
    owner_id: pulumi.Output[str]
    """The owning stack's id: `stackId` of its `StackIdentity`. Without it the stack is known by its label."""
    volume_id: pulumi.Output[str]
    """Nomad's id of the volume, unique in its namespace."""
    namespace: pulumi.Output[str]
    """Nomad namespace of the volume; `default` when omitted."""
    capabilities: pulumi.Output[Sequence[Mapping[str, Any]]]
    """Ways in which allocations may use the volume."""
    mount_options: pulumi.Output[Mapping[str, Any]]
    """How the file system is mounted; cannot change while the volume is in use."""
    secrets: pulumi.Output[Mapping[str, Any]]
    """CSI secrets. Sent with every registration, and never shown."""
    name: pulumi.Output[str]
    """
    The readable beginning of the name that the plugin makes the storage by; a nonce follows it. It counts when
    the storage is made; a change later changes nothing. The volume's id when omitted.
    """
    plugin_id: pulumi.Output[str]
    """Id of the CSI plugin that makes and serves the volume; with a controller."""
    required_topologies: pulumi.Output[Sequence[Mapping[str, Any]]]
    """Places where the storage may be, as the clients report them; anywhere when omitted."""
    preferred_topologies: pulumi.Output[Sequence[Mapping[str, Any]]]
    """Those of the required topologies that are tried first, best first."""
    availability_zone: pulumi.Output[str]
    """
    The zone that the program asks for, where the topologies follow from it and from the driver's description.
    While it stays, other topologies replace nothing.
    """
    parameters: pulumi.Output[Mapping[str, Any]]
    """What the driver makes the storage by, such as `type`."""
    capacity_min_bytes: pulumi.Output[float]
    """At least this large; the driver's own size when both are omitted. More makes it grow."""
    capacity_max_bytes: pulumi.Output[float]
    """At most this large. A volume never shrinks: less than it has is refused."""
    clone_id: pulumi.Output[str]
    """External id of the volume to copy. Not together with `snapshotId`."""
    snapshot_id: pulumi.Output[str]
    """Id of the snapshot to begin from. Not together with `cloneId`."""
    on_destroy: pulumi.Output[str]
    """
    What becomes of the storage when this is removed or replaced: `keep` (when omitted), or `delete` with all
    data. What is recorded counts: a change of it is an update of its own.
    """
    deletion: pulumi.Output[Mapping[str, Any]]
    """How the storage is deleted; needed with `onDestroy: delete`."""
    external_id: pulumi.Output[str]
    """The storage provider's id of what the plugin made."""
    capacity_bytes: pulumi.Output[float]
    """How large the plugin made it; 0 where it does not say."""
    context: pulumi.Output[Mapping[str, Any]]
    """`volume_context`, as the plugin answered."""
    topologies: pulumi.Output[Sequence[Mapping[str, Any]]]
    """Places where the volume can be attached, as the plugin answered; empty: anywhere."""
    def __init__(
        self,
        resource_name: str,
        *,
        volume_id: pulumi.Input[str],
        capabilities: pulumi.Input[Sequence[Mapping[str, Any]]],
        plugin_id: pulumi.Input[str],
        owner: pulumi.Input[str] | None = None,
        owner_id: pulumi.Input[str] | None = None,
        namespace: pulumi.Input[str] | None = None,
        mount_options: pulumi.Input[Mapping[str, Any]] | None = None,
        secrets: pulumi.Input[Mapping[str, Any]] | None = None,
        adopt: pulumi.Input[bool] | None = None,
        name: pulumi.Input[str] | None = None,
        required_topologies: pulumi.Input[Sequence[Mapping[str, Any]]] | None = None,
        preferred_topologies: pulumi.Input[Sequence[Mapping[str, Any]]] | None = None,
        availability_zone: pulumi.Input[str] | None = None,
        parameters: pulumi.Input[Mapping[str, Any]] | None = None,
        capacity_min_bytes: pulumi.Input[float] | None = None,
        capacity_max_bytes: pulumi.Input[float] | None = None,
        clone_id: pulumi.Input[str] | None = None,
        snapshot_id: pulumi.Input[str] | None = None,
        on_destroy: pulumi.Input[str] | None = None,
        deletion: pulumi.Input[Mapping[str, Any]] | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None: ...

class PluginHealth(pulumi.CustomResource):
    """The gate: it is there once the plugin is verified healthy. Registrations depend on it."""
    plugin_id: pulumi.Output[str]
    """Id of the CSI plugin."""
    provider: pulumi.Output[str]
    """The name that every instance must report, such as `ebs.csi.aws.com`."""
    version: pulumi.Output[str]
    """The version that every instance must report; any when omitted."""
    namespace: pulumi.Output[str]
    """Nomad namespace of the plugin's jobs; `default` when omitted."""
    controllers: pulumi.Output[float]
    """Controllers that must be healthy; 0 when omitted."""
    monolith: pulumi.Output[bool]
    """Whether each node instance is a controller too; no when omitted."""
    nodes: pulumi.Output[float]
    """Node instances of a service job; one on every eligible client when omitted."""
    constraints: pulumi.Output[Sequence[Mapping[str, Any]]]
    """Conditions that clients must meet to run the plugin; none when omitted."""
    datacenters: pulumi.Output[Sequence[str]]
    """Nomad datacenters of the plugin's jobs, with `*` for any text; all when omitted."""
    node_pool: pulumi.Output[str]
    """Node pool of the plugin's jobs; `default` when omitted."""
    task_driver: pulumi.Output[str]
    """Task driver of the plugin's jobs; `docker` when omitted."""
    client_data_dir: pulumi.Output[str]
    """`data_dir` of the Nomad clients: where the plugin's sockets are."""
    evidence: pulumi.Output[str]
    """`nomad` (default) relies on Nomad's health, `csi` requires the instances' own answers."""
    on_nodes: pulumi.Output[Mapping[str, Any]]
    """
    With `csi`: ask by a job on the clients, which runs once there and is removed. Without it, only sockets that
    the provider's machine sees are asked.
    """
    timeout_s: pulumi.Output[float]
    """Seconds to wait until the plugin is verified; 300 when omitted."""
    stable_s: pulumi.Output[float]
    """Seconds without a restart before it counts; 3 when omitted."""
    min_healthy_percent: pulumi.Output[float]
    """Percentage of node instances that must be healthy; all when omitted."""
    min_healthy_per_zone: pulumi.Output[float]
    """How many node instances must be healthy in each zone; all when omitted."""
    controller_supports: pulumi.Output[Sequence[str]]
    """Capabilities that each controller must report, by Nomad's names, such as `AttachDetach`."""
    node_supports: pulumi.Output[Sequence[str]]
    """Capabilities that each node instance must report, such as `StageVolume`."""
    driver: pulumi.Output[str]
    """Name of the driver in the catalogue, for what explains a failure."""
    jobs: pulumi.Output[Mapping[str, Any]]
    """Ids of the plugin's jobs, each with what changes when the job does: then it is verified again."""
    healthy_controllers: pulumi.Output[float]
    """Healthy controllers."""
    expected_controllers: pulumi.Output[float]
    """Controllers that must be healthy."""
    healthy_nodes: pulumi.Output[float]
    """Clients with a healthy node instance that must have one."""
    expected_nodes: pulumi.Output[float]
    """Clients that must have a node instance."""
    reported_version: pulumi.Output[str]
    """The version that the plugin reported; empty where it reported none."""
    verified_by: pulumi.Output[str]
    """`csi` where every instance answered itself, `nomad` where it is Nomad's status."""
    status: pulumi.Output[str]
    """`healthy`; `partial` where some instances are; else what is wrong, such as `missing`."""
    satisfied: pulumi.Output[bool]
    """Whether that is enough: all, or what minHealthyPercent and minHealthyPerZone ask for."""
    def __init__(
        self,
        resource_name: str,
        *,
        plugin_id: pulumi.Input[str],
        provider: pulumi.Input[str],
        version: pulumi.Input[str] | None = None,
        namespace: pulumi.Input[str] | None = None,
        controllers: pulumi.Input[float] | None = None,
        monolith: pulumi.Input[bool] | None = None,
        nodes: pulumi.Input[float] | None = None,
        constraints: pulumi.Input[Sequence[Mapping[str, Any]]] | None = None,
        datacenters: pulumi.Input[Sequence[str]] | None = None,
        node_pool: pulumi.Input[str] | None = None,
        task_driver: pulumi.Input[str] | None = None,
        client_data_dir: pulumi.Input[str] | None = None,
        evidence: pulumi.Input[str] | None = None,
        on_nodes: pulumi.Input[Mapping[str, Any]] | None = None,
        timeout_s: pulumi.Input[float] | None = None,
        stable_s: pulumi.Input[float] | None = None,
        min_healthy_percent: pulumi.Input[float] | None = None,
        min_healthy_per_zone: pulumi.Input[float] | None = None,
        controller_supports: pulumi.Input[Sequence[str]] | None = None,
        node_supports: pulumi.Input[Sequence[str]] | None = None,
        driver: pulumi.Input[str] | None = None,
        jobs: pulumi.Input[Mapping[str, Any]] | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None: ...

class PluginJob(pulumi.CustomResource):
    """
    A Nomad job that runs one role of a CSI plugin, for the stack *owner*, whose id is *owner_id*.

    The HCL is the document. A job of that id that differs and is not this owner's is taken over only when *adopt*
    is true.
    """
    owner: pulumi.Output[str]
    """The owning stack, as `project/stack`; its owner record, a Nomad variable, keeps other stacks away."""
    owner_id: pulumi.Output[str]
    """The owning stack's id: `stackId` of its `StackIdentity`. Without it the stack is known by its label."""
    job_id: pulumi.Output[str]
    """Id of the job, as in its HCL."""
    namespace: pulumi.Output[str]
    """Nomad namespace of the job, as in its HCL; `default` when omitted."""
    hcl: pulumi.Output[str]
    """The job file (HCL2), without variables."""
    job_modify_index: pulumi.Output[float]
    """Nomad's index of the job's last change."""
    version: pulumi.Output[float]
    """Nomad's version of the job."""
    drift_type: pulumi.Output[str]
    """`None`, or how the running job differs: Nomad's plan type such as `Edited`, or `Stopped`."""
    drift: pulumi.Output[Sequence[str]]
    """What differs in the running job, such as `group plugin > task plugin > config.image`."""
    def __init__(
        self,
        resource_name: str,
        *,
        job_id: pulumi.Input[str],
        hcl: pulumi.Input[str],
        owner: pulumi.Input[str] | None = None,
        owner_id: pulumi.Input[str] | None = None,
        namespace: pulumi.Input[str] | None = None,
        adopt: pulumi.Input[bool] | None = None,
        plugin_jobs: pulumi.Input[Sequence[str]] | None = None,
        replace_for_type: pulumi.Input[bool] | None = None,
        minimum_nomad: pulumi.Input[str] | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None: ...

class RenderedFile(pulumi.CustomResource):
    """
    A rendered file below the provider's ``root``: written at once, and never over a file that is not ours.
    """
    path: pulumi.Output[str]
    """Where the file is, relative to the provider's `root`."""
    content: pulumi.Output[str]
    """The whole text of the file."""
    def __init__(
        self,
        resource_name: str,
        *,
        path: pulumi.Input[str],
        content: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None: ...

class StackIdentity(pulumi.CustomResource):
    """The random id by which a stack owns what it makes; one in each stack, declared by the components."""
    stack: pulumi.Output[str]
    """The stack's label, as `project/stack`; another one gives another id."""
    stack_id: pulumi.Output[str]
    """16 hexadecimal digits, made once."""
    def __init__(
        self,
        resource_name: str,
        *,
        stack: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None: ...

class StorageHold(pulumi.CustomResource):
    """
    Storage that several volumes share, for the stack *owner*, whose id is *owner_id*.

    It is not removed while a volume is registered in the storage *storage_id*, and so the storage, on which it
    depends,
    is not deleted either.
    """
    owner: pulumi.Output[str]
    """The owning stack, as `project/stack`; its owner record, a Nomad variable, keeps other stacks away."""
    owner_id: pulumi.Output[str]
    """The owning stack's id: `stackId` of its `StackIdentity`. Without it the stack is known by its label."""
    storage_id: pulumi.Output[str]
    """Id of the storage, such as `fs-...`."""
    def __init__(
        self,
        resource_name: str,
        *,
        storage_id: pulumi.Input[str],
        owner: pulumi.Input[str] | None = None,
        owner_id: pulumi.Input[str] | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None: ...

class VolumeRegistration(pulumi.CustomResource):
    """
    A CSI volume as Nomad holds it, for the stack *owner*, whose id is *owner_id*.

    Its storage exists already and is never deleted by it. One of that id that differs, or is another owner's, is
    taken over only when *adopt* is true. With *protect*, a change is refused by which the id would stand for
    other data; *storage* is what the program knows of that.
    """
    owner: pulumi.Output[str]
    """The owning stack, as `project/stack`; its owner record, a Nomad variable, keeps other stacks away."""
    owner_id: pulumi.Output[str]
    """The owning stack's id: `stackId` of its `StackIdentity`. Without it the stack is known by its label."""
    volume_id: pulumi.Output[str]
    """Nomad's id of the volume, unique in its namespace."""
    namespace: pulumi.Output[str]
    """Nomad namespace of the volume; `default` when omitted."""
    capabilities: pulumi.Output[Sequence[Mapping[str, Any]]]
    """Ways in which allocations may use the volume."""
    mount_options: pulumi.Output[Mapping[str, Any]]
    """How the file system is mounted; cannot change while the volume is in use."""
    secrets: pulumi.Output[Mapping[str, Any]]
    """CSI secrets. Sent with every registration, and never shown."""
    name: pulumi.Output[str]
    """Shown by Nomad; the volume's id when omitted."""
    external_id: pulumi.Output[str]
    """The storage provider's id, such as `vol-...` or `fs-...::fsap-...`."""
    plugin_id: pulumi.Output[str]
    """Id of the CSI plugin that serves the volume."""
    required_topologies: pulumi.Output[Sequence[Mapping[str, Any]]]
    """Places where the volume can be attached, as the clients report them; anywhere when omitted."""
    parameters: pulumi.Output[Mapping[str, Any]]
    """Passed to the controller plugin when it validates the volume."""
    context: pulumi.Output[Mapping[str, Any]]
    """`volume_context` of every CSI call."""
    protect: pulumi.Output[bool]
    """Refuse every change that would make the volume id refer to other data."""
    storage: pulumi.Output[Mapping[str, Any]]
    """What the program knows of the storage behind the external id; it is not sent to Nomad."""
    controller_required: pulumi.Output[bool]
    """Whether the plugin has a controller that publishes the volume."""
    def __init__(
        self,
        resource_name: str,
        *,
        volume_id: pulumi.Input[str],
        capabilities: pulumi.Input[Sequence[Mapping[str, Any]]],
        external_id: pulumi.Input[str],
        plugin_id: pulumi.Input[str],
        owner: pulumi.Input[str] | None = None,
        owner_id: pulumi.Input[str] | None = None,
        namespace: pulumi.Input[str] | None = None,
        mount_options: pulumi.Input[Mapping[str, Any]] | None = None,
        secrets: pulumi.Input[Mapping[str, Any]] | None = None,
        adopt: pulumi.Input[bool] | None = None,
        name: pulumi.Input[str] | None = None,
        required_topologies: pulumi.Input[Sequence[Mapping[str, Any]]] | None = None,
        parameters: pulumi.Input[Mapping[str, Any]] | None = None,
        context: pulumi.Input[Mapping[str, Any]] | None = None,
        protect: pulumi.Input[bool] | None = None,
        storage: pulumi.Input[Mapping[str, Any]] | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None: ...
