"""A CSI plugin, as an operator writes it."""

import re
from typing import Annotated, Any, Literal

import pydantic

from nomad_csi.spec import base, driver

CATALOGUE = "(name)"
OWN = "(description)"
"""Tags of the two forms of ``driver``, which stand in the places of pydantic's errors."""


class IamSpec(base.Model):
    """Whom the plugin's AWS permissions are given to."""

    role_name: base.RoleName
    """The instance role of the Nomad clients that may run the controller. It exists; a policy is attached to it."""

    create_volumes: bool = False
    """Also allow the driver to create, expand, snapshot and delete volumes, as Nomad's ``volume create`` needs."""

    kms_key_arns: tuple[base.KmsKeyArn, ...] = ()
    """Customer keys of volumes that are not in this spec. Keys of volumes in the spec are added by themselves."""

    volume_ids: tuple[base.EbsVolumeId, ...] = ()
    """EBS volumes made elsewhere, which may lack the tag that the policy asks for. Those in the spec are added."""


class TaskDriverSpec(base.Model):
    """How the plugin's process is run on the clients."""

    name: Literal["docker", "podman", "raw_exec", "exec"] = "docker"
    """``docker`` or ``podman``; ``raw_exec`` for clients without them; ``exec`` for controllers only."""

    command: base.Word | None = None
    """``raw_exec``, ``exec``: the driver's binary, absolute or on the client agent's PATH. Required there."""

    arguments: tuple[base.Text, ...] = ()
    """``raw_exec``, ``exec``: arguments of *command* that stand before the driver's own."""

    client_data_dir: base.Directory | None = None
    """``data_dir`` of the Nomad clients. Required for ``raw_exec``: no API tells it. Elsewhere only probes use it."""


class ControllerSpec(base.Model):
    """The controller job, where it differs from the plugin."""

    count: base.Count | None = None
    """Instances, on distinct clients; the driver's usual number when absent (EBS: 2, democratic-csi: 1)."""

    resources: base.ResourcesSpec | None = None
    task_driver: TaskDriverSpec | None = None


class NodeSpec(base.Model):
    """The node job, where it differs from the plugin."""

    resources: base.ResourcesSpec | None = None


class MonolithSpec(base.Model):
    """The job of a driver whose process is controller and node in one, where it differs from the plugin."""

    count: base.Count | None = None
    """Instances, where the driver runs as a service job; the driver's usual number when absent."""

    resources: base.ResourcesSpec | None = None


class ConstraintSpec(base.Model):
    """On which clients the plugin may run."""

    attribute: base.Word
    """A runtime variable such as ``${attr.cpu.arch}``, ``${meta.storage}`` or ``${node.class}``."""

    operator: Literal[
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
    ] = "="
    """How to compare, in Nomad's words."""

    value: base.Text = ""
    """What to compare with. None for ``is_set`` and ``is_not_set``."""


class VaultSpec(base.Model):
    """A secret in Vault."""

    path: base.Word
    """Such as ``secret/data/democratic-csi``, of a version 2 key-value store."""

    role: base.Text = ""
    """Vault role; empty: the agent's default."""


class WorkloadIdentitySpec(base.Model):
    """An AWS role that the plugin takes on with the identity that Nomad signs for its task (OIDC)."""

    role_arn: base.RoleArn
    """Its trust policy names the cluster's OIDC provider."""

    audience: base.Word = "sts.amazonaws.com"
    """Whom the token is for, as the role's trust policy says."""


class CredentialsSpec(base.Model):
    """Where the plugin's tasks get their secrets from. Absent: the instance role, for drivers of AWS."""

    nomad_variable: base.VariablePath | None = None
    """
    Path of a Nomad variable in the plugin's namespace.

    Without an ACL policy every job may read ``nomad/jobs``, and a job of its own what is below ``nomad/jobs/JOB_ID``.
    """

    vault: VaultSpec | None = None
    workload_identity: WorkloadIdentitySpec | None = None

    @pydantic.model_validator(mode="after")
    def _one_source(self) -> "CredentialsSpec":
        base.exactly_one(self, ("nomad_variable", "vault", "workload_identity"))
        return self


class RegistryCredentialsSpec(base.Model):
    """Where user name and password for the image's registry come from: the items ``username`` and ``password``."""

    nomad_variable: base.VariablePath | None = None
    vault: VaultSpec | None = None

    @pydantic.model_validator(mode="after")
    def _one_source(self) -> "RegistryCredentialsSpec":
        base.exactly_one(self, ("nomad_variable", "vault"))
        return self


class RestartSpec(base.Model):
    """How a plugin that ends is started again. It is never given up: after *attempts* Nomad waits and goes on."""

    attempts: Annotated[int, pydantic.Field(ge=1)] = 3
    """How often within *interval_s*."""

    interval_s: base.Count = 300
    """The interval, at least 5 s."""

    delay_s: base.Count = 15
    """Between an end and the next start."""


class UpdateSpec(base.Model):
    """How a changed job replaces its instances. Absent: as Nomad does by itself."""

    max_parallel: Annotated[int, pydantic.Field(ge=1)] = 1
    """Instances that are replaced at the same time."""

    min_healthy_time_s: base.Count = 10
    """How long a new one must be healthy before the next is replaced."""

    healthy_deadline_s: base.Count = 300
    """When a new one that is not healthy counts as failed."""

    auto_revert: bool = False
    """Whether Nomad goes back to the last version that was healthy."""


class ExtraArgumentsSpec(base.Model):
    """Arguments for the driver beyond those that the catalogue renders."""

    controller: tuple[base.Text, ...] = ()
    """For controllers, behind the rendered ones."""

    node: tuple[base.Text, ...] = ()
    """For node instances."""

    monolith: tuple[base.Text, ...] = ()
    """For instances that are both."""


class VerifySpec(base.Model):
    """When the plugin counts as proven."""

    proof: Literal["nomad", "csi"] = "nomad"
    """``nomad`` believes Nomad's health; ``csi`` wants the plugin's own answers over its socket."""

    timeout_s: base.Seconds = 300.0
    """How long to wait for the proof."""

    stable_s: Annotated[float, pydantic.Field(ge=0, allow_inf_nan=False, strict=False)] = 3.0
    """How long every instance that counts must stay healthy, without a restart."""

    min_healthy_percent: Annotated[int, pydantic.Field(ge=1, le=100)] | None = None
    """How many of 100 node instances must be healthy; absent: all, or what *min_healthy_per_zone* says."""

    min_healthy_per_zone: Annotated[int, pydantic.Field(ge=1)] | None = None
    """How many node instances must be healthy in each zone with clients; absent: all, or as the percentage says."""


def _form(value: Any) -> str:
    return OWN if isinstance(value, dict | driver.DriverSpec) else CATALOGUE


Driver = Annotated[
    Annotated[base.Word, pydantic.Tag(CATALOGUE)] | Annotated[driver.DriverSpec, pydantic.Tag(OWN)],
    pydantic.Discriminator(_form),
]
Registry = Annotated[
    str,
    base.matching(
        re.compile(r"[a-z0-9.-]+(:\d+)?(/[a-z0-9._-]+)*"),
        "a registry's host, with a path where it has one, no slash behind",
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
    """Nomad region of the plugin jobs; the agent's own when absent. The connection must ask the same one."""

    namespace: base.Namespace = "default"
    """Nomad namespace of the plugin jobs. The plugin itself is global."""

    datacenters: Annotated[tuple[base.Word, ...], pydantic.Field(min_length=1)] = ("*",)
    """Nomad datacenters of the plugin jobs; ``*`` stands for any text."""

    node_pool: base.Word = "default"
    """Nomad node pool of the plugin jobs; ``all`` holds every client."""

    availability_zone: base.Zone | None = None
    """Run in this zone only, and serve only its volumes: for one plugin id for each zone. Absent: all zones."""

    constraints: tuple[ConstraintSpec, ...] = ()
    priority: Annotated[int, pydantic.Field(ge=1, le=100)] = 80
    """Above the 50 of other jobs: consumers cannot run without their plugin."""

    config: dict[base.Word, Any] = pydantic.Field(default_factory=dict)
    """The driver's own configuration: its file, or its settings. ``{from_secret: ITEM}`` stands for a secret."""

    credentials: CredentialsSpec | None = None
    iam: IamSpec | None = None
    controller: ControllerSpec = ControllerSpec()
    node: NodeSpec = NodeSpec()
    monolith: MonolithSpec = MonolithSpec()
    task_driver: TaskDriverSpec = TaskDriverSpec()
    host_network: bool | None = None
    """Whether containers share the client's network; the driver's choice when absent."""

    image: base.Word | None = None
    """Container image in place of the catalogue's, for another version."""

    image_registry: Registry | None = None
    """Registry, with a path where it has one, in place of the image's own: a mirror."""

    image_digest: base.Digest | None = None
    """Digest that the image must have."""

    registry_credentials: RegistryCredentialsSpec | None = None
    extra_arguments: ExtraArgumentsSpec = ExtraArgumentsSpec()
    extra_tags: dict[base.Word, base.Text] = pydantic.Field(default_factory=dict)
    """Tags that the driver puts on what it makes."""

    metrics_port: Annotated[int, pydantic.Field(ge=1, le=65_534)] | None = None
    """
    Port of the metrics endpoint on the clients of its node instances; absent: none.

    Its controllers have the next port, because a client may run both.
    """

    environment: dict[base.EnvironmentName, base.Text] = pydantic.Field(default_factory=dict)
    """Variables of its tasks, in place of the driver's own too. No secrets: they stand in the job file."""

    resources: base.ResourcesSpec | None = None
    """For all its tasks; the driver's usual when absent. A role's own go first."""

    restart: RestartSpec = RestartSpec()
    update: UpdateSpec | None = None
    log_verbosity: Annotated[int, pydantic.Field(ge=0, le=10)] = 2
    """klog verbosity (``--v``), for drivers that have it."""

    log_level: base.Word | None = None
    """Log level, for drivers that take a word; the driver's usual when absent."""

    health_timeout_s: Annotated[int, pydantic.Field(ge=5, le=3600)] | None = None
    """How long Nomad waits for the first healthy answer before it restarts the task. The driver's default else."""

    verify: VerifySpec = VerifySpec()
    adopt: bool = False
    """Take over plugin jobs of the same ids that exist and differ."""
