"""
The job that probes plugins on their own clients. Pure.

It runs ``nomad-csi csi probe --folder`` once on every client: only root on the client can open the plugins' sockets.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

PLUGINS_FOLDER = "${NOMAD_ALLOC_DIR}/../../../client/csi/plugins"
"""
The client's folder of sockets, relative to a task that sees the client's files (``DATA_DIR/alloc/ID/alloc``).

Source: hashicorp/nomad, ``command/agent/agent.go`` (``finalizeClientConfig``): state and allocations are in the
data directory unless ``state_dir`` or ``alloc_dir`` is set; tried on Nomad 2.0.6-dev, 2026-11.
"""

MOUNTED = "/csi-plugins"
"""Mount point of the folder in a container."""

TASK = "probe"
PREFIX = "nomad-csi-probe"
WAIT_S = 60.0
"""Default deadline in seconds for the clients to run the probe and report."""


@dataclass(frozen=True, kw_only=True)
class ProgramJob:
    """A job that runs the program of this package."""

    job_id: str
    namespace: str = "default"
    region: str = ""
    """Empty: the region of the agent that receives the request."""

    datacenters: Sequence[str] = ("*",)
    node_pool: str = "all"
    command: str = "nomad-csi"
    """The program, on the clients or in the image: a path, or a name in the ``PATH`` of the client's agent."""

    image: str = ""
    """Docker image with the program; empty: the client's own program, with ``raw_exec``."""

    environment: Mapping[str, str] = field(default_factory=dict)
    """Environment of the program. Holds no secrets."""

    @property
    def task_driver(self) -> str:
        """``docker`` or ``raw_exec``."""
        return "docker" if self.image else "raw_exec"


@dataclass(frozen=True, kw_only=True)
class ProbeJob(ProgramJob):
    """One run of the probe, on every matching client. Its environment: the volumes to ask controllers about."""

    job_id: str = PREFIX
    node_ids: Sequence[str] = ()
    """Only these clients; empty: all of the datacenters and the pool."""

    state_dir: str = ""
    """The clients' ``state_dir``; empty: ``DATA_DIR/client``, which only ``raw_exec`` can find."""

    timeout_s: float = 5.0
    """Timeout in seconds of all requests to one plugin."""

    @property
    def folder(self) -> str:
        """Folder of the sockets, as the task sees it."""
        if self.image:
            return MOUNTED
        return f"{self.state_dir.rstrip('/')}/csi/plugins" if self.state_dir else PLUGINS_FOLDER

    @property
    def sockets(self) -> str:
        """The folder on the client that Docker mounts as `MOUNTED`."""
        return f"{self.state_dir.rstrip('/')}/csi/plugins"

    @property
    def arguments(self) -> tuple[str, ...]:
        """Arguments of the program."""
        return ("csi", "probe", "--folder", self.folder, "--probe-timeout", f"{self.timeout_s:g}s", "--json")

    @property
    def clients(self) -> str:
        """The `node_ids` as one regular expression for Nomad."""
        return f"^({'|'.join(self.node_ids)})$"


@dataclass(frozen=True, kw_only=True)
class ProbeRun:
    """How to probe instances on their clients before a plugin counts as verified."""

    job: ProbeJob
    """Its id, clients and region are set when it runs."""

    wait_s: float = WAIT_S
    """Deadline in seconds for all clients together."""
