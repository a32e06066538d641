"""The arguments of the component `CsiPlugin`: the fields of a plugin in the spec."""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import pulumi


class Iam(TypedDict):
    """Whom the plugin's AWS permissions are given to."""

    role_name: pulumi.Input[str]
    """The instance role of the Nomad clients that may run the controller."""
    create_volumes: NotRequired[bool]
    """Also allow the driver to create, expand, snapshot and delete volumes. Default: false."""
    kms_key_arns: NotRequired[Sequence[str]]
    """Customer keys of the encrypted volumes that this plugin attaches."""
    volume_ids: NotRequired[Sequence[str]]
    """Volumes made elsewhere, which may lack the tag that the policy asks for."""


class TaskDriver(TypedDict):
    """How the plugin's process is run on the clients."""

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
    """How much it may take where the client has it. Default: no more."""


class JobIds(TypedDict):
    """Ids of the plugin's jobs: for jobs that run already under other names."""

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
    """How its process is run."""


class Node(TypedDict):
    """The node job, where it differs from the plugin."""

    resources: NotRequired[PluginResources]
    """What Nomad reserves for each."""


class Monolith(TypedDict):
    """The job of a driver that is controller and node in one, where it differs from the plugin."""

    job_type: NotRequired[str]
    """``system`` or ``service``. Default: the driver's usual, ``system`` for those of the catalogue."""
    count: NotRequired[int]
    """Instances of a service job. Default: the driver's usual number."""
    resources: NotRequired[PluginResources]
    """What Nomad reserves for each."""


class Constraint(TypedDict):
    """On which clients the plugin may run."""

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
    """An AWS role that the plugin takes on with the identity that Nomad signs for its task."""

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
    """How a plugin that ends is started again; it is never given up."""

    attempts: NotRequired[int]
    """Default: 3."""
    interval_s: NotRequired[int]
    """Default: 300."""
    delay_s: NotRequired[int]
    """Default: 15."""


class Update(TypedDict):
    """How a changed job replaces its instances."""

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
    """For a process that is both."""


class VerifyOnNodes(TypedDict):
    """The job by which instances are asked on their own clients; it runs once there and is removed."""

    command: NotRequired[str]
    """The program, on the clients or in the image. Default: ``nomad-csi``."""
    image: NotRequired[str]
    """Image with that program, for Docker. Default: ``raw_exec``, which needs it installed on the clients."""
    state_dir: NotRequired[str]
    """The clients' ``state_dir``; required with an image. Default: ``DATA_DIR/client``."""
    timeout_s: NotRequired[float]
    """How long all clients together may take to answer. Default: 60."""


class Verify(TypedDict):
    """When the plugin counts as verified."""

    evidence: NotRequired[str]
    """``nomad`` (default) believes Nomad's health, ``csi`` wants the plugin's own answers."""
    on_nodes: NotRequired[VerifyOnNodes]
    """With ``csi``: ask by a job on the clients. Default: no job, only sockets that this machine sees."""
    timeout_s: NotRequired[float]
    """How long to wait. Default: 300."""
    stable_s: NotRequired[float]
    """How long every instance that counts must stay healthy. Default: 3."""
    min_healthy_percent: NotRequired[int]
    """How many of 100 node instances must be healthy. Default: all."""
    min_healthy_per_zone: NotRequired[int]
    """How many node instances must be healthy in each zone. Default: all."""


class CsiPluginArgs(TypedDict):
    """A CSI plugin; the fields are those of a plugin in the spec, and the id is the component's name."""

    driver: Any
    """Name in the driver catalogue, or the description of a driver that is not in it, as in the spec."""
    aws_region: NotRequired[str]
    """Region of the storage, such as ``us-east-1``; required by drivers of AWS."""
    nomad_region: NotRequired[str]
    """Nomad region of the jobs. Default: the agent's own."""
    namespace: NotRequired[str]
    """Nomad namespace of the jobs. Default: ``default``."""
    datacenters: NotRequired[Sequence[str]]
    """Nomad datacenters. Default: all."""
    node_pool: NotRequired[str]
    """Nomad node pool. Default: ``default``."""
    job_ids: NotRequired[JobIds]
    """Ids of the jobs, for jobs that run already under other names."""
    availability_zone: NotRequired[str]
    """Run in this zone only, for one plugin id for each zone. Default: everywhere."""
    constraints: NotRequired[Sequence[Constraint]]
    """On which clients it may run."""
    priority: NotRequired[int]
    """Job priority. Default: 80."""
    config: NotRequired[Mapping[str, Any]]
    """The driver's own configuration. ``{from_secret: ITEM}`` stands for a secret."""
    credentials: NotRequired[Credentials]
    """Where its secrets come from. Default: the instance role, for drivers of AWS."""
    iam: NotRequired[Iam]
    """Absent: no policy is made."""
    controller: NotRequired[Controller]
    """The controller job."""
    node: NotRequired[Node]
    """The node job."""
    monolith: NotRequired[Monolith]
    """The job of a driver that is both."""
    task_driver: NotRequired[TaskDriver]
    """How the process is run. Default: ``docker``."""
    host_network: NotRequired[bool]
    """Whether containers share the client's network. Default: the driver's choice."""
    image: NotRequired[str]
    """Container image in place of the catalogue's, with the arguments of the version that its tag says."""
    arguments_checked: NotRequired[bool]
    """``False``: also run an image of a version whose arguments are not known. Default: ``True``."""
    image_registry: NotRequired[str]
    """Registry in place of the image's own: a mirror."""
    image_digest: NotRequired[str]
    """Digest that the image must have."""
    registry_credentials: NotRequired[RegistryCredentials]
    """User name and password for the registry."""
    extra_arguments: NotRequired[ExtraArguments]
    """Arguments beyond those of the catalogue."""
    extra_tags: NotRequired[Mapping[str, str]]
    """Tags that the driver puts on what it makes."""
    metrics_port: NotRequired[int]
    """Port of the driver's metrics on each client. Default: none."""
    environment: NotRequired[Mapping[str, str]]
    """Environment of the plugin's tasks. It stands in the job file: not for secrets."""
    resources: NotRequired[PluginResources]
    """What Nomad reserves."""
    restart: NotRequired[Restart]
    """How a plugin that ends is started again."""
    update: NotRequired[Update]
    """How a changed job replaces its instances. Default: as Nomad does by itself."""
    log_verbosity: NotRequired[int]
    """klog verbosity, for drivers that have it. Default: 2."""
    log_level: NotRequired[str]
    """Log level, for drivers that take a word."""
    health_timeout_s: NotRequired[int]
    """How long Nomad waits for the first healthy answer. Default: the driver's."""
    verify: NotRequired[Verify]
    """When the plugin counts as verified."""
    adopt: NotRequired[bool]
    """Take over jobs of the same ids that differ. Default: false."""
    render_to: NotRequired[str]
    """Folder, below the provider's root, for the job files. Absent: none are written."""
    templates: NotRequired[str]
    """Folder with templates of one's own, which go before ours."""
