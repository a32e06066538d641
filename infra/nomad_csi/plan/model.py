"""What the plan is made of: documents that components, templates and verification read. Plain data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from nomad_csi.drivers.model import RoleName
from nomad_csi.plan import probe_job
from nomad_csi.plan.registration import VolumeRegistration
from nomad_csi.spec import plugin_jobs, volume


@dataclass(frozen=True, kw_only=True)
class Constraint:
    """On which clients a job may run."""

    attribute: str
    """A runtime variable such as ``${attr.cpu.arch}``."""

    operator: str
    value: str


@dataclass(frozen=True, kw_only=True)
class SecretTemplate:
    """A file in the task's secrets directory that Nomad fills in on the client. What stands here is no secret."""

    file_name: str
    data: str
    """Text with the expressions of Nomad's ``template`` block."""

    is_environment: bool = False
    """Whether its lines become the task's environment."""


@dataclass(frozen=True, kw_only=True)
class PluginJob:
    """A Nomad job that runs one role of a CSI plugin."""

    job_id: str
    region: str = ""
    """Nomad region; empty: the agent's own."""

    namespace: str
    role: RoleName
    plugin_id: str
    job_type: Literal["service", "system"]
    says_type: bool = False
    """Whether the spec itself names the type, and not the driver alone."""

    datacenters: tuple[str, ...]
    node_pool: str
    priority: int
    constraints: tuple[Constraint, ...] = ()
    group: str
    count: int | None
    """Instances of a service job; ``None`` for a system job, which runs on every eligible client."""

    restart: plugin_jobs.RestartSpec
    update: plugin_jobs.UpdateSpec | None = None
    """``None``: as Nomad does by itself."""

    task_driver: plugin_jobs.TaskDriver
    image: str = ""
    registry_user: str = ""
    """Runtime variables that hold user name and password for the image's registry; empty: it needs none."""

    registry_password: str = ""
    command: str = ""
    arguments: tuple[str, ...]
    privileged: bool = False
    network_mode: str = ""
    ipc_mode: str = ""
    binds: tuple[str, ...] = ()
    """What of the client is mounted into the container: ``source:destination[:ro]``."""

    metrics_port: int | None = None
    """Port that the job reserves on the client for the driver's metrics."""

    environment: Mapping[str, str] = field(default_factory=dict)
    templates: tuple[SecretTemplate, ...] = ()
    secret_variables: tuple[str, ...] = ()
    """Names of the environment variables that *templates* fill, and that arguments may name."""

    vault_role: str | None = None
    """Vault role of the task, empty for the agent's default; ``None``: Vault is not used."""

    identity_audience: str = ""
    """Whom the identity that Nomad signs for the task is meant for; empty: none is asked for."""

    mount_dir: str = "/csi"
    stage_publish_base_dir: str = ""
    """Empty: Nomad's default, right for containers."""

    health_timeout_s: int
    kill_timeout_s: int | None = None
    """``None``: Nomad's default."""

    cpu_mhz: int
    memory_mib: int
    memory_max_mib: int | None = None
    title: str
    """The driver's name for people, with the version that is run."""

    needs: tuple[str, ...] = ()
    """What the client must have; notes in the job file."""

    @property
    def file_name(self) -> str:
        """Path of the job file below the output folder: ``jobs/aws-ebs0-controller.nomad.hcl``."""
        return f"jobs/{self.plugin_id}-{self.role}.nomad.hcl"


@dataclass(frozen=True, kw_only=True)
class PluginExpectation:
    """What must be found before volumes of a plugin are registered."""

    plugin_id: str
    provider: str
    """The name that every instance must answer to ``GetPluginInfo``."""

    version: str = ""
    """The version that every instance must answer; empty where the image is not the catalogue's."""

    namespace: str
    """Nomad namespace of the plugin jobs."""

    controllers: int
    """Instances of a controller job; 0 where there is none."""

    monolith: bool = False
    """Whether each node instance is a controller too."""

    nodes: int | None = None
    """Node instances of a service job; ``None``: one on every eligible client."""

    datacenters: tuple[str, ...]
    node_pool: str
    constraints: tuple[Constraint, ...] = ()
    task_driver: str
    """Of the node instances."""

    client_data_dir: str = ""
    """``data_dir`` of the clients, where the sockets are; empty when not known."""

    evidence: Literal["nomad", "csi"]
    on_nodes: probe_job.ProbeRun | None = None
    """How the gate asks instances on their clients; ``None``: only where it sees their sockets."""

    timeout_s: float
    stable_s: float

    min_healthy_percent: int | None = None
    """Of the node instances; ``None`` here and below: all of them."""

    min_healthy_per_zone: int | None = None
    controller_supports: tuple[str, ...] = ()
    """What each controller must say that it can do, in Nomad's words, such as ``AttachDetach``."""

    node_supports: tuple[str, ...] = ()
    """The same of each node instance, such as ``StageVolume``."""

    driver: str = ""
    """The driver's name, for what the catalogue knows of it; empty: not known."""


@dataclass(frozen=True, kw_only=True)
class IamPolicy:
    """An IAM policy and the role that gets it."""

    name: str
    role_name: str
    description: str
    document: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class PluginPlan:
    """All that one plugin of the spec becomes."""

    plugin_id: str
    driver: str
    jobs: tuple[PluginJob, ...]
    expectation: PluginExpectation
    iam_policy: IamPolicy | None
    adopt: bool
    minimum_nomad: str = ""
    """The oldest Nomad that the driver works with; empty: any."""


@dataclass(frozen=True, kw_only=True, slots=True)
class VolumePlan:
    """All that one volume of the spec becomes."""

    registration: VolumeRegistration
    """
    The document, also with what a plugin is asked for, where that makes the storage. ``external_id`` is empty where
    the storage is still to be made.
    """

    source: volume.EbsSpec | volume.EfsSpec | volume.CreateSpec | None
    """The storage to be made, with every tag that it gets; ``None``: it exists."""

    protect: bool
    """Whether the storage is neither deleted nor replaced, and the volume id not pointed at other data."""

    adopt: bool

    context_settings: tuple[str, ...] = ()
    """Those keys of its context that never say which data it is; they may change under *protect*."""

    @property
    def key(self) -> str:
        """``namespace/volume_id``, unique in a cluster."""
        return self.registration.key

    @property
    def made_by_plugin(self) -> bool:
        """Whether the plugin makes the storage, through Nomad."""
        return isinstance(self.source, volume.CreateSpec)

    @property
    def file_name(self) -> str:
        """Path of the volume file below the output folder: ``volumes/default/mysql.volume.hcl``."""
        return f"volumes/{self.key}.volume.hcl"


@dataclass(frozen=True, kw_only=True)
class StoragePlan:
    """Everything that follows from a spec."""

    plugins: tuple[PluginPlan, ...]
    volumes: tuple[VolumePlan, ...]
