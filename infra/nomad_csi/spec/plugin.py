"""Spec of a CSI plugin, and of its jobs where they differ from the driver's defaults."""

import re
from typing import Annotated, Any, Literal

import pydantic

from nomad_csi.spec import base, driver

# The jobs.


TaskDriver = Literal["docker", "podman", "raw_exec", "exec"]
CONTAINERS: frozenset[str] = frozenset({"docker", "podman"})
"""Task drivers that run an image."""


class TaskDriverSpec(base.Model):
    """How Nomad runs the plugin's process on the clients."""

    name: TaskDriver = "docker"
    """``docker`` or ``podman``; ``raw_exec`` for clients without them; ``exec`` for controllers only."""

    command: base.Word | None = None
    """The driver's binary: an absolute path, or on the client agent's PATH. Required for ``raw_exec`` and ``exec``."""

    arguments: tuple[base.Text, ...] = ()
    """``raw_exec``, ``exec``: arguments of *command* in front of the driver's arguments."""

    client_data_dir: base.Directory | None = None
    """``data_dir`` of the Nomad clients. Required for ``raw_exec``: no API reports it. Elsewhere only probes use it."""


class ControllerSpec(base.Model):
    """The controller job, where it differs from the plugin."""

    count: base.Count | None = None
    """Number of instances, on distinct clients; absent: the driver's default (EBS: 2, democratic-csi: 1)."""

    resources: base.ResourcesSpec | None = None
    task_driver: TaskDriverSpec | None = None


class NodeSpec(base.Model):
    """The node job, where it differs from the plugin."""

    resources: base.ResourcesSpec | None = None


class MonolithSpec(base.Model):
    """The job of a driver whose process is both controller and node, where it differs from the plugin."""

    job_type: base.JobType | None = None
    """
    ``system`` runs one instance on each eligible client, ``service`` *count* instances; absent: the driver's default.

    Nomad cannot change the type of a job: the job is stopped and replaced, but not while a volume is claimed.
    """

    count: base.Count | None = None
    """Number of instances of a service job; absent: the driver's default."""

    resources: base.ResourcesSpec | None = None


class JobIdsSpec(base.Model):
    """
    Ids of the plugin's jobs, to take over jobs that already run under other names.

    If an id changes, the old job is stopped and purged before the new one starts, but not while a volume is claimed.
    """

    controller: base.JobId | None = None
    """Id of the controller job; absent: ``plugin-PLUGIN_ID-controller``."""

    node: base.JobId | None = None
    """Id of the node job; absent: ``plugin-PLUGIN_ID-nodes``."""

    monolith: base.JobId | None = None
    """Id of the monolith job; absent: ``plugin-PLUGIN_ID-monolith``."""


ConstraintOperator = Literal[
    "=",
    "!=",
    ">",
    ">=",
    "<",
    "<=",
    "regexp",
    "version",
    "semver",
    "set_contains",
    "set_contains_any",
    "is_set",
    "is_not_set",
]


class ConstraintSpec(base.Model):
    """A condition that clients must meet to run the plugin."""

    attribute: base.Word
    """A runtime variable such as ``${attr.cpu.arch}``, ``${meta.storage}`` or ``${node.class}``."""

    operator: ConstraintOperator = "="
    """Nomad's comparison operator."""

    value: base.Text = ""
    """Value to compare with. Leave it out for ``is_set`` and ``is_not_set``."""


class RestartSpec(base.Model):
    """How Nomad restarts a plugin that ends. Nomad never gives up: after *attempts* it waits, then tries again."""

    attempts: Annotated[int, pydantic.Field(ge=1)] = 3
    """Restarts within *interval_s* before Nomad waits."""

    interval_s: base.Count = 300
    """Length of the interval in seconds, at least 5."""

    delay_s: base.Count = 15
    """Seconds between the end of the task and its next start."""


class UpdateSpec(base.Model):
    """How Nomad replaces the instances of a changed job. Absent: Nomad's defaults."""

    max_parallel: Annotated[int, pydantic.Field(ge=1)] = 1
    """Number of instances that are replaced at the same time."""

    min_healthy_time_s: base.Count = 10
    """Seconds for which a new instance must be healthy before the next one is replaced."""

    healthy_deadline_s: base.Count = 300
    """Seconds after which a new instance that is not healthy counts as failed."""

    auto_revert: bool = False
    """Whether Nomad reverts a failed update to the last healthy version."""


class ExtraArgumentsSpec(base.Model):
    """Arguments for the driver beyond those that the catalogue renders."""

    controller: tuple[base.Text, ...] = ()
    """For controllers, after the rendered arguments."""

    node: tuple[base.Text, ...] = ()
    """For node instances."""

    monolith: tuple[base.Text, ...] = ()
    """For monolith instances."""


# Where a plugin's secrets come from.


class VaultSpec(base.Model):
    """A secret in Vault."""

    path: base.Word
    """Path in a version 2 key-value store, such as ``secret/data/democratic-csi``."""

    role: base.Text = ""
    """Vault role; empty: the agent's default."""


class WorkloadIdentitySpec(base.Model):
    """An AWS role that the plugin assumes with the workload identity that Nomad signs for its task (OIDC)."""

    role_arn: base.RoleArn
    """ARN of the role. Its trust policy must name the cluster's OIDC provider."""

    audience: base.Word = "sts.amazonaws.com"
    """Audience of the token, as in the role's trust policy."""


class CredentialsSpec(base.Model):
    """Where the plugin's tasks get their secrets from. Absent: drivers of AWS use the instance role."""

    nomad_variable: base.VariablePath | None = None
    """
    Path of a Nomad variable in the plugin's namespace.

    Without an ACL policy, every job may read ``nomad/jobs``, and each job its own ``nomad/jobs/JOB_ID`` and below.
    """

    vault: VaultSpec | None = None
    workload_identity: WorkloadIdentitySpec | None = None

    @pydantic.model_validator(mode="after")
    def _one_source(self) -> "CredentialsSpec":
        base.exactly_one(self, ("nomad_variable", "vault", "workload_identity"))
        return self


class RegistryCredentialsSpec(base.Model):
    """The secret with the login for the image's registry, in its items ``username`` and ``password``."""

    nomad_variable: base.VariablePath | None = None
    """Path of a Nomad variable in the plugin's namespace."""

    vault: VaultSpec | None = None

    @pydantic.model_validator(mode="after")
    def _one_source(self) -> "RegistryCredentialsSpec":
        base.exactly_one(self, ("nomad_variable", "vault"))
        return self


# The plugin.


CATALOGUE = "(name)"
OWN = "(description)"
"""Tags of the two forms of ``driver``, which appear in the locations of pydantic's errors."""


class IamSpec(base.Model):
    """The IAM role that gets the plugin's AWS permissions. Absent: no policy is created."""

    role_name: base.RoleName
    """Existing instance role of the Nomad clients that may run the controller. Pulumi attaches a policy to it."""

    create_volumes: bool = False
    """Also allow the driver to create, expand, snapshot and delete volumes, as Nomad's ``volume create`` needs."""

    kms_key_arns: tuple[base.KmsKeyArn, ...] = ()
    """Customer keys of volumes that the plugin attaches. Keys of volumes in the same spec are added automatically."""

    volume_ids: tuple[base.EbsVolumeId, ...] = ()
    """EBS volumes created elsewhere that may lack the tag required by the policy. Those in the same spec are added."""


class OnNodesSpec(base.Model):
    """The job with which `pulumi up` probes instances on their clients. It runs once on each, and is then removed."""

    command: base.Word = "nomad-csi"
    """The nomad-csi program, on the clients or in the image: a path, or a name that the client's agent finds."""

    image: base.Word | None = None
    """Docker image with that program; absent: ``raw_exec``, which needs the program on the clients."""

    state_dir: base.Word | None = None
    """The clients' ``state_dir``; absent: ``DATA_DIR/client``, which is detected. Required with *image*."""

    timeout_s: base.Seconds = 60.0
    """Seconds that all clients together may take to answer."""


class VerifySpec(base.Model):
    """When the plugin counts as verified."""

    evidence: Literal["nomad", "csi"] = "nomad"
    """``nomad``: Nomad's health status is enough. ``csi``: the plugin must also answer over its CSI socket."""

    on_nodes: OnNodesSpec | None = None
    """With ``evidence: csi``: probe with a job on the clients, for a machine without their sockets. Absent: no job."""

    timeout_s: base.Seconds = 300.0
    """Seconds to wait for the evidence."""

    stable_s: Annotated[float, pydantic.Field(ge=0, allow_inf_nan=False, strict=False)] = 3.0
    """Seconds for which every instance that counts must stay healthy, without a restart."""

    min_healthy_percent: Annotated[int, pydantic.Field(ge=1, le=100)] | None = None
    """Percentage of node instances that must be healthy; absent: all, or as *min_healthy_per_zone* sets."""

    min_healthy_per_zone: Annotated[int, pydantic.Field(ge=1)] | None = None
    """Node instances that must be healthy in each zone with clients; absent: all, or as the percentage sets."""


def _form(value: Any) -> str:
    return OWN if isinstance(value, dict | driver.DriverSpec) else CATALOGUE


Driver = Annotated[
    Annotated[base.Word, pydantic.Tag(CATALOGUE)] | Annotated[driver.DriverSpec, pydantic.Tag(OWN)],
    pydantic.Discriminator(_form),
]
Registry = Annotated[
    str,
    base.Matching(
        re.compile(r"[a-z0-9.-]+(:\d+)?(/[a-z0-9._-]+)*"),
        "a registry's host, optionally with a path, without a trailing slash",
    ),
]


class PluginSpec(base.Model):
    """One CSI plugin: a driver under the id that volumes name."""

    id: base.PluginId
    driver: Driver
    """Name in the driver catalogue, or the description of a driver that is not in it."""

    aws_region: base.Region | None = None
    """Region of the storage, for drivers of AWS. Not Nomad's region."""

    nomad_region: base.Word | None = None
    """Nomad region of the plugin jobs; absent: the region of the agent. The connection must use the same region."""

    namespace: base.Namespace = "default"
    """Nomad namespace of the plugin jobs. The plugin itself is global."""

    datacenters: Annotated[tuple[base.Word, ...], pydantic.Field(min_length=1)] = ("*",)
    """Nomad datacenters of the plugin jobs; ``*`` is a wildcard."""

    node_pool: base.Word = "default"
    """Nomad node pool of the plugin jobs; ``all`` holds every client."""

    job_ids: JobIdsSpec = JobIdsSpec.model_construct()
    availability_zone: base.Zone | None = None
    """Run the plugin in this zone only, for volumes in that zone: one plugin id per zone. Absent: all zones."""

    constraints: tuple[ConstraintSpec, ...] = ()
    priority: Annotated[int, pydantic.Field(ge=1, le=100)] = 80
    """Job priority. Above Nomad's default of 50, because other jobs cannot run without their plugin."""

    config: dict[base.Word, Any] = pydantic.Field(default_factory=dict)
    """The driver's configuration: its file, or its settings. ``{from_secret: ITEM}`` inserts a secret."""

    credentials: CredentialsSpec | None = None
    iam: IamSpec | None = None
    controller: ControllerSpec = ControllerSpec.model_construct()
    node: NodeSpec = NodeSpec.model_construct()
    monolith: MonolithSpec = MonolithSpec.model_construct()
    task_driver: TaskDriverSpec = TaskDriverSpec.model_construct()
    host_network: bool | None = None
    """Whether containers share the client's network; absent: the driver's default."""

    image: base.Word | None = None
    """
    Container image instead of the catalogue's, for another version of the driver.

    The image's tag is the version; the driver gets the arguments of that version.
    """

    arguments_checked: bool = True
    """
    ``false``: also run an image of a version whose arguments the catalogue does not know.

    It gets the arguments of the catalogue's version, and ``extra_arguments`` may contain any flag.
    """

    image_registry: Registry | None = None
    """Registry to use instead of the image's registry, such as a mirror, with an optional path."""

    image_digest: base.Digest | None = None
    """Digest that the image must have."""

    registry_credentials: RegistryCredentialsSpec | None = None
    extra_arguments: ExtraArgumentsSpec = ExtraArgumentsSpec.model_construct()
    extra_tags: dict[base.Word, base.Text] = pydantic.Field(default_factory=dict)
    """Tags that the driver sets on the storage that it creates."""

    metrics_port: Annotated[int, pydantic.Field(ge=1, le=65_534)] | None = None
    """
    Port of the metrics endpoint of the node instances on their clients; absent: no metrics.

    Controllers use the next port, because a client may run both.
    """

    environment: dict[base.EnvironmentName, base.Text] = pydantic.Field(default_factory=dict)
    """Environment variables of the tasks. They override the driver's. No secrets: the job file contains them."""

    resources: base.ResourcesSpec | None = None
    """Resources of all the plugin's tasks; absent: the driver's default. Those of a role override them."""

    restart: RestartSpec = RestartSpec.model_construct()
    update: UpdateSpec | None = None
    log_verbosity: Annotated[int, pydantic.Field(ge=0, le=10)] = 2
    """klog verbosity (``--v``), for drivers that have it."""

    log_level: base.Word | None = None
    """Log level, for drivers with named levels; absent: the driver's default."""

    health_timeout_s: Annotated[int, pydantic.Field(ge=5, le=3600)] | None = None
    """Seconds that Nomad waits for a first healthy answer before it restarts the task; absent: the driver's default."""

    verify: VerifySpec = VerifySpec.model_construct()
    adopt: bool = False
    """Take over existing plugin jobs with the same ids, even if they differ."""

    @property
    def secret(self) -> CredentialsSpec | None:
        """The credentials, if they are items of a secret."""
        return self.credentials if self.credentials and not self.credentials.workload_identity else None
