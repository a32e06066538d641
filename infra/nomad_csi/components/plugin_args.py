"""The arguments of the component `CsiPlugin`: the fields of a plugin in the spec."""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import pulumi


class Iam(TypedDict):
    """The IAM role that gets the plugin's AWS permissions."""

    role_name: pulumi.Input[str]
    """The instance role of the Nomad clients that may run the controller."""
    create_volumes: NotRequired[bool]
    """Also allow the driver to create, expand, snapshot and delete volumes. Default: false."""
    kms_key_arns: NotRequired[Sequence[str]]
    """Customer keys of the encrypted volumes that this plugin attaches."""
    volume_ids: NotRequired[Sequence[str]]
    """Volumes created elsewhere, which may lack the tag that the policy requires."""


class TaskDriver(TypedDict):
    """How Nomad runs the plugin's process on the clients."""

    name: NotRequired[str]
    """``docker`` (default), ``podman``, ``raw_exec``; ``exec`` for controllers only."""
    command: NotRequired[str]
    """``raw_exec``, ``exec``: the driver's binary."""
    arguments: NotRequired[Sequence[str]]
    """``raw_exec``, ``exec``: arguments before the driver's own."""
    client_data_dir: NotRequired[str]
    """``data_dir`` of the Nomad clients; required for ``raw_exec``."""


class PluginResources(TypedDict):
    """What Nomad reserves for each plugin task."""

    cpu_mhz: NotRequired[int]
    """Default: 100."""
    memory_mib: NotRequired[int]
    """Default: 256."""
    memory_max_mib: NotRequired[int]
    """Memory limit where the scheduler allows oversubscription. Default: ``memory_mib``."""


class JobIds(TypedDict):
    """Ids of the plugin's jobs, to take over jobs that already run under other names."""

    controller: NotRequired[str]
    """Default: ``plugin-PLUGIN_ID-controller``."""
    node: NotRequired[str]
    """Default: ``plugin-PLUGIN_ID-nodes``."""
    monolith: NotRequired[str]
    """Default: ``plugin-PLUGIN_ID-monolith``."""


class Controller(TypedDict):
    """The controller job, where it differs from the plugin."""

    count: NotRequired[int]
    """Instances, on distinct clients. Default: the driver's usual number."""
    resources: NotRequired[PluginResources]
    """What Nomad reserves for each."""
    task_driver: NotRequired[TaskDriver]
    """How Nomad runs its process."""


class Node(TypedDict):
    """The node job, where it differs from the plugin."""

    resources: NotRequired[PluginResources]
    """What Nomad reserves for each."""


class Monolith(TypedDict):
    """The job of a driver whose process is both controller and node, where it differs from the plugin."""

    job_type: NotRequired[str]
    """``system`` or ``service``. Default: the driver's usual, ``system`` for those of the catalogue."""
    count: NotRequired[int]
    """Instances of a service job. Default: the driver's usual number."""
    resources: NotRequired[PluginResources]
    """What Nomad reserves for each."""


class Constraint(TypedDict):
    """A condition that clients must meet to run the plugin."""

    attribute: str
    """Such as ``${attr.cpu.arch}`` or ``${meta.storage}``."""
    operator: NotRequired[str]
    """Default: ``=``."""
    value: NotRequired[str]
    """What to compare with."""


class Vault(TypedDict):
    """A secret in Vault."""

    path: str
    """Such as ``secret/data/democratic-csi``."""
    role: NotRequired[str]
    """Default: the agent's."""


class WorkloadIdentity(TypedDict):
    """An AWS role that the plugin assumes with the identity that Nomad signs for its task."""

    role_arn: str
    """Its trust policy names the cluster's OIDC provider."""
    audience: NotRequired[str]
    """Default: ``sts.amazonaws.com``."""


class Credentials(TypedDict):
    """Where the plugin's tasks get their secrets from: one of the three."""

    nomad_variable: NotRequired[str]
    """Path of a Nomad variable."""
    vault: NotRequired[Vault]
    """A secret in Vault."""
    workload_identity: NotRequired[WorkloadIdentity]
    """An AWS role."""


class RegistryCredentials(TypedDict):
    """Where ``username`` and ``password`` for the image's registry come from: one of the two."""

    nomad_variable: NotRequired[str]
    """Path of a Nomad variable."""
    vault: NotRequired[Vault]
    """A secret in Vault."""


class Restart(TypedDict):
    """How Nomad restarts a plugin that ends; it never gives up."""

    attempts: NotRequired[int]
    """Default: 3."""
    interval_s: NotRequired[int]
    """Default: 300."""
    delay_s: NotRequired[int]
    """Default: 15."""


class Update(TypedDict):
    """How Nomad replaces the instances of a changed job."""

    max_parallel: NotRequired[int]
    """Default: 1."""
    min_healthy_time_s: NotRequired[int]
    """Default: 10."""
    healthy_deadline_s: NotRequired[int]
    """Default: 300."""
    auto_revert: NotRequired[bool]
    """Default: false."""


class ExtraArguments(TypedDict):
    """Arguments for the driver beyond those of the catalogue."""

    controller: NotRequired[Sequence[str]]
    """For the controller, such as ``--extra-tags=team=data``."""
    node: NotRequired[Sequence[str]]
    """For the node plugin."""
    monolith: NotRequired[Sequence[str]]
    """For a process that is both controller and node."""


class VerifyOnNodes(TypedDict):
    """The job by which instances are asked on their own clients; it runs once there and is removed."""

    command: NotRequired[str]
    """The program, on the clients or in the image. Default: ``nomad-csi``."""
    image: NotRequired[str]
    """Image with that program, for Docker. Default: ``raw_exec``, which needs it installed on the clients."""
    state_dir: NotRequired[str]
    """The clients' ``state_dir``; required with an image. Default: ``DATA_DIR/client``."""
    timeout_s: NotRequired[float]
    """Seconds that all clients together may take to answer. Default: 60."""


class Verify(TypedDict):
    """When the plugin counts as verified."""

    evidence: NotRequired[str]
    """``nomad`` (default) relies on Nomad's health, ``csi`` requires the plugin's own answers."""
    on_nodes: NotRequired[VerifyOnNodes]
    """With ``csi``: ask by a job on the clients. Default: no job, only sockets that this machine sees."""
    timeout_s: NotRequired[float]
    """Seconds to wait. Default: 300."""
    stable_s: NotRequired[float]
    """Seconds that every counted instance must stay healthy. Default: 3."""
    min_healthy_percent: NotRequired[int]
    """Percentage of node instances that must be healthy. Default: all."""
    min_healthy_per_zone: NotRequired[int]
    """How many node instances must be healthy in each zone. Default: all."""


class CsiPluginArgs(TypedDict):
    """A CSI plugin; the fields are those of a plugin in the spec, and the id is the component's name."""

    driver: Any
    """Name in the driver catalogue, or the description of a driver that is not in it, as in the spec."""
    aws_region: NotRequired[str]
    """Region of the storage, such as ``us-east-1``; required by drivers of AWS."""
    nomad_region: NotRequired[str]
    """Nomad region of the jobs. Default: the region of the agent."""
    namespace: NotRequired[str]
    """Nomad namespace of the jobs. Default: ``default``."""
    datacenters: NotRequired[Sequence[str]]
    """Nomad datacenters. Default: all."""
    node_pool: NotRequired[str]
    """Nomad node pool. Default: ``default``."""
    job_ids: NotRequired[JobIds]
    """Ids of the jobs, to take over jobs that already run under other names."""
    availability_zone: NotRequired[str]
    """Run the plugin in this zone only: one plugin id per zone. Default: all zones."""
    constraints: NotRequired[Sequence[Constraint]]
    """Conditions that clients must meet to run the plugin."""
    priority: NotRequired[int]
    """Job priority. Default: 80."""
    config: NotRequired[Mapping[str, Any]]
    """The driver's configuration. ``{from_secret: ITEM}`` inserts a secret."""
    credentials: NotRequired[Credentials]
    """Where its secrets come from. Default: drivers of AWS use the instance role."""
    iam: NotRequired[Iam]
    """The role that gets the plugin's AWS permissions. Absent: no policy is created."""
    controller: NotRequired[Controller]
    """The controller job."""
    node: NotRequired[Node]
    """The node job."""
    monolith: NotRequired[Monolith]
    """The job of a driver whose process is both controller and node."""
    task_driver: NotRequired[TaskDriver]
    """How Nomad runs the process. Default: ``docker``."""
    host_network: NotRequired[bool]
    """Whether containers share the client's network. Default: the driver's default."""
    image: NotRequired[str]
    """Container image in place of the catalogue's, with the arguments of the version in its tag."""
    arguments_checked: NotRequired[bool]
    """``False``: also run an image of a version whose arguments are not known. Default: ``True``."""
    image_registry: NotRequired[str]
    """Registry to use in place of the image's registry, such as a mirror."""
    image_digest: NotRequired[str]
    """Digest that the image must have."""
    registry_credentials: NotRequired[RegistryCredentials]
    """The secret with the login for the image's registry."""
    extra_arguments: NotRequired[ExtraArguments]
    """Arguments beyond those of the catalogue."""
    extra_tags: NotRequired[Mapping[str, str]]
    """Tags that the driver sets on the storage that it creates."""
    metrics_port: NotRequired[int]
    """Port of the driver's metrics on each client. Default: none."""
    environment: NotRequired[Mapping[str, str]]
    """Environment variables of the tasks. No secrets: the job file contains them."""
    resources: NotRequired[PluginResources]
    """What Nomad reserves."""
    restart: NotRequired[Restart]
    """How Nomad restarts a plugin that ends."""
    update: NotRequired[Update]
    """How Nomad replaces the instances of a changed job. Default: Nomad's defaults."""
    log_verbosity: NotRequired[int]
    """klog verbosity, for drivers that have it. Default: 2."""
    log_level: NotRequired[str]
    """Log level, for drivers with named levels."""
    health_timeout_s: NotRequired[int]
    """Seconds that Nomad waits for a first healthy answer. Default: the driver's."""
    verify: NotRequired[Verify]
    """When the plugin counts as verified."""
    adopt: NotRequired[bool]
    """Take over jobs of the same ids that differ. Default: false."""
    render_to: NotRequired[str]
    """Folder, below the provider's root, for the job files. Absent: no files are written."""
    templates: NotRequired[str]
    """Folder with your own templates, which override the built-in ones."""
