"""Data model of the plan, which components, templates and verification read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from nomad_csi.drivers.catalogue import RoleName
from nomad_csi.plan.registration import VolumeRegistration
from nomad_csi.spec import plugin as plugin_spec
from nomad_csi.spec import volume


@dataclass(frozen=True, kw_only=True)
class Constraint:
    """A constraint on the clients that may run a job."""

    attribute: str
    """A runtime variable such as ``${attr.cpu.arch}``."""

    operator: str
    value: str


@dataclass(frozen=True, kw_only=True)
class SecretTemplate:
    """A template that Nomad renders into the task's secrets directory on the client. Holds no secret itself."""

    file_name: str
    data: str
    """Text with the expressions of Nomad's ``template`` block."""

    is_environment: bool = False
    """Whether its lines become environment variables of the task."""


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
    """Whether the spec itself sets the type, not only the driver."""

    datacenters: tuple[str, ...]
    node_pool: str
    priority: int
    constraints: tuple[Constraint, ...] = ()
    group: str
    count: int | None
    """Instances of a service job; ``None`` for a system job, which runs on every eligible client."""

    restart: plugin_spec.RestartSpec
    update: plugin_spec.UpdateSpec | None = None
    """``None``: Nomad's default."""

    task_driver: plugin_spec.TaskDriver
    image: str = ""
    registry_user: str = ""
    """Runtime variables with user name and password for the image's registry; empty: none needed."""

    registry_password: str = ""
    command: str = ""
    arguments: tuple[str, ...]
    privileged: bool = False
    network_mode: str = ""
    ipc_mode: str = ""
    binds: tuple[str, ...] = ()
    """Bind mounts of the container: ``source:destination[:ro]``."""

    metrics_port: int | None = None
    """Port that the job reserves on the client for the driver's metrics."""

    environment: Mapping[str, str] = field(default_factory=dict)
    templates: tuple[SecretTemplate, ...] = ()
    secret_variables: tuple[str, ...] = ()
    """Names of the environment variables that *templates* set, and that arguments may reference."""

    vault_role: str | None = None
    """Vault role of the task, empty for the agent's default; ``None``: Vault is not used."""

    identity_audience: str = ""
    """Audience of the task's workload identity; empty: none is requested."""

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
    """Display name of the driver, with the version that runs."""

    needs: tuple[str, ...] = ()
    """Requirements for the client; notes in the job file."""

    @property
    def file_name(self) -> str:
        """Path of the job file below the output folder: ``jobs/aws-ebs0-controller.nomad.hcl``."""
        return job_file_name(self.plugin_id, self.role)


def job_file_name(plugin_id: str, role: str) -> str:
    """Return the path of the file of a plugin's job below the output folder."""
    return f"jobs/{plugin_id}-{role}.nomad.hcl"


@dataclass(frozen=True, kw_only=True)
class PluginExpectation:
    """Desired state of a plugin, verified before its volumes are registered."""

    plugin_id: str
    provider: str
    """The name that every instance must return from ``GetPluginInfo``."""

    version: str = ""
    """The version that every instance must return; empty where the image is not the catalogue's."""

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
    """Task driver of the node instances."""

    client_data_dir: str = ""
    """``data_dir`` of the clients, which holds the sockets; empty when unknown."""

    evidence: Literal["nomad", "csi"]
    on_nodes: plugin_spec.OnNodesSpec | None = None
    """How the gate probes instances on their clients; ``None``: only through sockets that it can reach."""

    timeout_s: float
    stable_s: float

    min_healthy_percent: int | None = None
    """Minimum of healthy node instances; ``None`` here and below: all of them."""

    min_healthy_per_zone: int | None = None
    controller_supports: tuple[str, ...] = ()
    """Capabilities that each controller must report, by Nomad's names, such as ``AttachDetach``."""

    node_supports: tuple[str, ...] = ()
    """Capabilities that each node instance must report, such as ``StageVolume``."""

    driver: str = ""
    """The driver's name in the catalogue; empty: unknown."""


@dataclass(frozen=True, kw_only=True)
class IamPolicy:
    """An IAM policy and the role to attach it to."""

    name: str
    role_name: str
    description: str
    document: Mapping[str, Any]
    kms_key_arns: tuple[str, ...] = ()
    """Customer keys that the document allows to use."""


@dataclass(frozen=True, kw_only=True)
class PluginPlan:
    """The plan of one plugin of the spec."""

    plugin_id: str
    driver: str
    jobs: tuple[PluginJob, ...]
    expectation: PluginExpectation
    iam_policy: IamPolicy | None
    adopt: bool
    minimum_nomad: str = ""
    """The oldest Nomad version that the driver works with; empty: any."""


@dataclass(frozen=True, kw_only=True, slots=True)
class VolumePlan:
    """The plan of one volume of the spec."""

    registration: VolumeRegistration
    """
    The document, including the creation request where a plugin creates the storage. ``external_id`` is empty where
    the storage does not exist yet.
    """

    source: volume.EbsSpec | volume.EfsSpec | volume.CreateSpec | None
    """The storage to create, with all of its tags; ``None``: it exists."""

    protect: bool
    """Whether to refuse deleting or replacing the storage, and pointing the volume id at other data."""

    adopt: bool

    context_settings: tuple[str, ...] = ()
    """Context keys that never identify the data; they may change under *protect*."""

    former_key: tuple[str, str] | None = None
    """Former namespace and id of the volume in its stack; ``None``: unchanged."""

    @property
    def key(self) -> str:
        """``namespace/volume_id``, unique in a cluster."""
        return self.registration.key

    @property
    def made_by_plugin(self) -> bool:
        """Whether the plugin creates the storage, through Nomad."""
        return isinstance(self.source, volume.CreateSpec)

    @property
    def file_name(self) -> str:
        """Path of the volume file below the output folder: ``volumes/default/mysql.volume.hcl``."""
        return f"volumes/{self.key}.volume.hcl"


@dataclass(frozen=True, kw_only=True)
class StoragePlan:
    """The plan of a whole spec."""

    plugins: tuple[PluginPlan, ...]
    volumes: tuple[VolumePlan, ...]
    file_systems: Mapping[str, volume.FileSystemSpec] = field(default_factory=dict)
    """Those that volumes share, by name, with all of their tags."""

    schedules: Mapping[str, volume.SnapshotScheduleSpec] = field(default_factory=dict)
    """Schedules of snapshots by name."""
