"""One kind of process of a driver, and the Nomad job that runs it."""

import pydantic

from nomad_csi.spec import base


class RoleSpec(base.Model):
    """One kind of process of a driver, and the Nomad job that runs it."""

    job_type: base.JobType
    """``system`` runs one instance on each eligible client, ``service`` a given number of instances."""

    arguments: tuple[base.Text, ...] = ()
    """Arguments in order."""

    optional_arguments: dict[base.Word, base.Text] = pydantic.Field(default_factory=dict)
    """Arguments that are added if the plugin sets ``extra_tags`` or ``metrics_port``, by that key."""

    flags: frozenset[base.Word] | None = None
    """Every flag that this role accepts and that does something on Nomad, without dashes; ``None``: not known."""

    unfit_flags: dict[base.Word, base.Text] = pydantic.Field(default_factory=dict)
    """Flags that the driver accepts but that do harm or have no effect on Nomad, each with the reason."""

    exclusive_flags: tuple[frozenset[base.Word], ...] = ()
    """Sets of flags of which only one may be given."""

    environment: dict[base.EnvironmentName, base.Text] = pydantic.Field(default_factory=dict)
    """Environment variables of the tasks."""

    secret_environment: dict[base.EnvironmentName, base.ItemName] = pydantic.Field(default_factory=dict)
    """Environment variables with secrets: the name of each variable, and the item of the credentials with its value."""

    secret_files: dict[base.FileName, base.ItemName] = pydantic.Field(default_factory=dict)
    """Files in the task's secrets directory, each with the item of the credentials that it holds."""

    credentials_environment: dict[base.EnvironmentName, base.Text] = pydantic.Field(default_factory=dict)
    """Environment variables that are set only if the plugin has such credentials, such as the path of a secret file."""

    privileged: bool = False
    """Whether the containers are privileged. Containers that mount volumes for the client must be."""

    network_mode: base.Text = ""
    """Docker network mode; empty: Docker's default bridge."""

    ipc_mode: base.Text = ""
    """Docker IPC mode; empty: Docker's default."""

    binds: tuple[base.Text, ...] = ()
    """Paths of the client that are mounted into the container, in Docker's form: ``source:destination[:ro]``."""

    mount_dir: base.Word = "/csi"
    """Path in the container at which the folder of the CSI socket is mounted."""

    stage_publish_base_dir: base.Text = ""
    """Path in the container under which volumes are staged; empty: Nomad's default."""

    default_count: base.Count = 1
    """Number of instances of a ``service`` job, unless the plugin sets one."""

    count_minimum: base.Count = 1
    """Minimum number of instances."""

    count_limit: base.Count | None = None
    """Maximum number of instances that is safe; ``None``: any number."""

    count_advice: base.Text = ""
    """Reason for these limits."""

    kill_timeout_s: base.Count | None = None
    """Seconds that the process may take to exit; ``None``: Nomad's default of 5 s."""

    resources: base.ResourcesSpec = base.ResourcesSpec()
    needs: tuple[base.Text, ...] = ()
    """What the client must have, as notes for the operator, written into the job file."""

    bridge_needs: tuple[base.Text, ...] = ()
    """What the client must also have if the container is on Docker's bridge."""

    probe_verifies: base.Text = ""
    """What a successful ``Probe`` verifies for this role."""

    controller_supports: tuple[base.Word, ...] = ()
    """Capabilities that a controller must report, in Nomad's words: ``AttachDetach``, ``CreateDelete``, ``Expand``."""

    node_supports: tuple[base.Word, ...] = ()
    """Capabilities that a node instance must report: ``StageVolume``, ``Expand``, ``Stats``."""
