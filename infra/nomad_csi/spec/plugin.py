"""A CSI plugin, as an operator writes it."""

import re
from typing import Annotated, Any, Literal

import pydantic

from nomad_csi.spec import base, driver, plugin_jobs
from nomad_csi.spec import credentials as sources

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


class OnNodesSpec(base.Model):
    """The job by which `pulumi up` asks instances on their own clients; it runs once there and is removed."""

    command: base.Word = "nomad-csi"
    """The program, on the clients or in the image: a path, or a name that the client's agent finds."""

    image: base.Word | None = None
    """Image with that program, for Docker; absent: ``raw_exec``, which needs it installed on the clients."""

    state_dir: base.Word | None = None
    """The clients' ``state_dir``; absent: ``DATA_DIR/client``, found by itself. Required with *image*."""

    timeout_s: base.Seconds = 60.0
    """How long all clients together may take to answer."""


class VerifySpec(base.Model):
    """When the plugin counts as verified."""

    evidence: Literal["nomad", "csi"] = "nomad"
    """``nomad`` believes Nomad's health; ``csi`` wants the plugin's own answers over its socket."""

    on_nodes: OnNodesSpec | None = None
    """With ``evidence: csi``: ask by a job on the clients, for a machine that sees no sockets. Absent: no job."""

    timeout_s: base.Seconds = 300.0
    """How long to wait for the evidence."""

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

    job_ids: plugin_jobs.JobIdsSpec = plugin_jobs.JobIdsSpec()
    availability_zone: base.Zone | None = None
    """Run in this zone only, and serve only its volumes: for one plugin id for each zone. Absent: all zones."""

    constraints: tuple[plugin_jobs.ConstraintSpec, ...] = ()
    priority: Annotated[int, pydantic.Field(ge=1, le=100)] = 80
    """Above the 50 of other jobs: consumers cannot run without their plugin."""

    config: dict[base.Word, Any] = pydantic.Field(default_factory=dict)
    """The driver's own configuration: its file, or its settings. ``{from_secret: ITEM}`` stands for a secret."""

    credentials: sources.CredentialsSpec | None = None
    iam: IamSpec | None = None
    controller: plugin_jobs.ControllerSpec = plugin_jobs.ControllerSpec()
    node: plugin_jobs.NodeSpec = plugin_jobs.NodeSpec()
    monolith: plugin_jobs.MonolithSpec = plugin_jobs.MonolithSpec()
    task_driver: plugin_jobs.TaskDriverSpec = plugin_jobs.TaskDriverSpec()
    host_network: bool | None = None
    """Whether containers share the client's network; the driver's choice when absent."""

    image: base.Word | None = None
    """
    Container image in place of the catalogue's, for another version.

    Its tag says which one: the arguments are those that the driver takes in that version.
    """

    arguments_checked: bool = True
    """
    ``false``: also run an image of a version whose arguments the catalogue does not know.

    It gets those of the catalogue's version, and any flag may stand in ``extra_arguments``.
    """

    image_registry: Registry | None = None
    """Registry, with a path where it has one, in place of the image's own: a mirror."""

    image_digest: base.Digest | None = None
    """Digest that the image must have."""

    registry_credentials: sources.RegistryCredentialsSpec | None = None
    extra_arguments: plugin_jobs.ExtraArgumentsSpec = plugin_jobs.ExtraArgumentsSpec()
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

    restart: plugin_jobs.RestartSpec = plugin_jobs.RestartSpec()
    update: plugin_jobs.UpdateSpec | None = None
    log_verbosity: Annotated[int, pydantic.Field(ge=0, le=10)] = 2
    """klog verbosity (``--v``), for drivers that have it."""

    log_level: base.Word | None = None
    """Log level, for drivers that take a word; the driver's usual when absent."""

    health_timeout_s: Annotated[int, pydantic.Field(ge=5, le=3600)] | None = None
    """How long Nomad waits for the first healthy answer before it restarts the task. The driver's default else."""

    verify: VerifySpec = VerifySpec()
    adopt: bool = False
    """Take over plugin jobs of the same ids that exist and differ."""
