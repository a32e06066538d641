"""
The job that asks plugins on their own clients: what it is made of. Pure.

It runs ``nomad-csi probe --folder`` once on every client: sockets of plugins are on the clients, for root alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

PLUGINS_FOLDER = "${NOMAD_ALLOC_DIR}/../../../client/csi/plugins"
"""
Where a client keeps sockets, seen from a task that sees the client's own files (``DATA_DIR/alloc/ID/alloc``).

Source: hashicorp/nomad, ``command/agent/agent.go`` (``finalizeClientConfig``): state and allocations lie in the
data directory unless ``state_dir`` or ``alloc_dir`` is set; tried on Nomad 2.0.6-dev, 2026-11.
"""

MOUNTED = "/csi-plugins"
"""Where a container sees the folder."""

TASK = "probe"
PREFIX = "nomad-csi-probe"
WAIT_S = 60.0
"""How long clients may take to run the probe and answer, in seconds, unless somebody says otherwise."""


@dataclass(frozen=True, kw_only=True)
class ProbeJob:
    """One run of the probe, on every client that fits."""

    job_id: str = PREFIX
    namespace: str = "default"
    region: str = ""
    """Empty: the region of the agent that is asked."""

    datacenters: Sequence[str] = ("*",)
    node_pool: str = "all"
    node_ids: Sequence[str] = ()
    """Only these clients; empty: all of the above."""

    command: str = "nomad-csi"
    """The program, on the clients or in the image: a path, or a name that the client's agent finds."""

    image: str = ""
    """Image with that program, for Docker; empty: ``raw_exec``, the client's own."""

    state_dir: str = ""
    """The clients' ``state_dir``; empty: ``DATA_DIR/client``, which only ``raw_exec`` can find by itself."""

    timeout_s: float = 5.0
    """For all questions to one plugin."""

    environment: Mapping[str, str] = field(default_factory=dict)
    """What the probe finds in its environment: the volumes that it asks controllers for. Nothing secret."""

    @property
    def task_driver(self) -> str:
        """``docker`` or ``raw_exec``."""
        return "docker" if self.image else "raw_exec"

    @property
    def folder(self) -> str:
        """Where the task finds the sockets."""
        if self.image:
            return MOUNTED
        return f"{self.state_dir.rstrip('/')}/csi/plugins" if self.state_dir else PLUGINS_FOLDER

    @property
    def sockets(self) -> str:
        """The folder on the client that Docker shows the container as `MOUNTED`."""
        return f"{self.state_dir.rstrip('/')}/csi/plugins"

    @property
    def arguments(self) -> tuple[str, ...]:
        """What the program gets."""
        return ("probe", "--folder", self.folder, "--probe-timeout-s", f"{self.timeout_s:g}", "--json")

    @property
    def clients(self) -> str:
        """The ids of `node_ids` as one pattern for Nomad."""
        return f"^({'|'.join(self.node_ids)})$"


@dataclass(frozen=True, kw_only=True)
class ProbeRun:
    """How instances are asked on their clients before a plugin counts as verified."""

    job: ProbeJob
    """Its id, clients and region are filled in when it is run."""

    wait_s: float = WAIT_S
    """For all clients together."""
