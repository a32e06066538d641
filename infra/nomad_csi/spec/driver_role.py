"""One kind of process of a driver, and the Nomad job that runs it."""

import pydantic

from nomad_csi.spec import base


class RoleSpec(base.Model):
    """One kind of process of a driver, and the Nomad job that runs it."""

    job_type: base.JobType
    """``system`` runs one instance on each eligible client, ``service`` as many as are asked for."""

    arguments: tuple[base.Text, ...] = ()
    """Arguments in order."""

    optional_arguments: dict[base.Word, base.Text] = pydantic.Field(default_factory=dict)
    """Arguments that are added when the plugin sets ``extra_tags`` or ``metrics_port``, by that name."""

    flags: frozenset[base.Word] | None = None
    """Every flag that this role accepts and that does something on Nomad, without dashes; ``None``: not known."""

    unfit_flags: dict[base.Word, base.Text] = pydantic.Field(default_factory=dict)
    """Flags that the driver accepts too and that do harm or nothing on Nomad, each with the reason."""

    exclusive_flags: tuple[frozenset[base.Word], ...] = ()
    """Sets of flags of which only one may be given."""

    environment: dict[base.EnvironmentName, base.Text] = pydantic.Field(default_factory=dict)
    """Variables of its tasks."""

    secret_environment: dict[base.EnvironmentName, base.ItemName] = pydantic.Field(default_factory=dict)
    """Environment that holds secrets: the name of each variable, and of the item of the credentials that fills it."""

    secret_files: dict[base.FileName, base.ItemName] = pydantic.Field(default_factory=dict)
    """Files in the task's secrets directory, and the item of the credentials that each holds."""

    credentials_environment: dict[base.EnvironmentName, base.Text] = pydantic.Field(default_factory=dict)
    """Environment that is set only where the plugin has such credentials: where a secret file is, for instance."""

    privileged: bool = False
    """Whether its containers are privileged, as those that mount for the client must be."""

    network_mode: base.Text = ""
    """Docker network mode; empty: Docker's default bridge."""

    ipc_mode: base.Text = ""
    """Docker IPC mode; empty: Docker's default."""

    binds: tuple[base.Text, ...] = ()
    """What of the client is mounted into the container, as Docker writes it: ``source:destination[:ro]``."""

    mount_dir: base.Word = "/csi"
    """Where the folder of the socket is mounted in the container."""

    stage_publish_base_dir: base.Text = ""
    """Where volumes are staged in the container; empty: Nomad's default."""

    default_count: base.Count = 1
    """Instances of a ``service``, unless the plugin says how many."""

    count_minimum: base.Count = 1
    """Fewest instances that work."""

    count_limit: base.Count | None = None
    """Most instances that are safe; ``None``: any number."""

    count_advice: base.Text = ""
    """Why there are such limits."""

    kill_timeout_s: base.Count | None = None
    """How long the process may take to end; ``None``: Nomad's default of 5 s."""

    resources: base.ResourcesSpec = base.ResourcesSpec()
    needs: tuple[base.Text, ...] = ()
    """What the client must have, as notes for the operator, written into the job file."""

    bridge_needs: tuple[base.Text, ...] = ()
    """What it must have besides while the container is on Docker's bridge."""

    probe_verifies: base.Text = ""
    """What an answer to ``Probe`` verifies of this role."""

    controller_supports: tuple[base.Word, ...] = ()
    """What a controller must say that it can do, in Nomad's words: ``AttachDetach``, ``CreateDelete``, ``Expand``."""

    node_supports: tuple[base.Word, ...] = ()
    """What a node instance must say that it can do: ``StageVolume``, ``Expand``, ``Stats``."""
