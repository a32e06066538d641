"""What a task finds in its environment, and what its options may name. Pure. Part of the Nomad emulator.

Source: hashicorp/nomad, ``client/taskenv/env.go``, 2026-08-21.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nomad_csi_sandbox.nomad.jobs import constraints
from nomad_csi_sandbox.nomad.tasks import interpolate

Json = dict[str, Any]

DENIED = frozenset(
    {"CONSUL_TOKEN", "CONSUL_HTTP_TOKEN", "CONSUL_HTTP_TOKEN_FILE", "NOMAD_TOKEN", "VAULT_TOKEN"}
    | {f"{product}_LICENSE{ending}" for product in ("CONSUL", "NOMAD", "VAULT") for ending in ("", "_PATH")}
    | {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_METADATA_URL"}
    | {"GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_OAUTH_ACCESS_TOKEN"}
)
"""Variables of the agent that no task inherits. Source: ``command/agent/host/host.go`` (``DefaultEnvDenyList``)."""


@dataclass(frozen=True, kw_only=True)
class TaskPlace:
    """Where one task of one allocation runs."""

    alloc_id: str
    alloc_name: str
    alloc_index: int
    node: Json
    job: Json
    group: Json
    task: Json
    alloc_dir: Path
    """``<data_dir>/alloc/<alloc_id>``."""

    csi_socket: Path | None = None
    """Socket that a CSI plugin is to make; null for other tasks."""

    client_environment: Mapping[str, str]
    """What the agent and the simulated client hand down."""

    templated: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What templates add to the environment."""

    @property
    def task_dir(self) -> Path:
        """The working directory of the task."""
        return self.alloc_dir / self.task["Name"]


def environment(place: TaskPlace) -> dict[str, str]:
    """Return the whole environment of the process."""
    own = _nomad_variables(place)
    known = own | constraints.targets(place.node)
    written = {name: interpolate.keep_unknown(value, known) for name, value in (place.task["Env"] or {}).items()}
    inherited = {name: value for name, value in place.client_environment.items() if name not in DENIED}
    return inherited | own | written | dict(place.templated)


def names(place: TaskPlace) -> dict[str, str]:
    """Return everything that ``${...}`` of a driver option may name."""
    found = environment(place)
    return found | {f"env.{name}": value for name, value in found.items()} | constraints.targets(place.node)


def _nomad_variables(place: TaskPlace) -> dict[str, str]:
    job, task = place.job, place.task
    found = {
        "NOMAD_ALLOC_DIR": str(place.alloc_dir / "alloc"),
        "NOMAD_ALLOC_ID": place.alloc_id,
        "NOMAD_ALLOC_INDEX": str(place.alloc_index),
        "NOMAD_ALLOC_NAME": place.alloc_name,
        "NOMAD_CPU_LIMIT": str(task["Resources"]["CPU"]),
        "NOMAD_DC": place.node["Datacenter"],
        "NOMAD_GROUP_NAME": place.group["Name"],
        "NOMAD_JOB_ID": job["ID"],
        "NOMAD_JOB_NAME": job["Name"],
        "NOMAD_MEMORY_LIMIT": str(task["Resources"]["MemoryMB"]),
        "NOMAD_NAMESPACE": job["Namespace"],
        "NOMAD_REGION": "global",
        "NOMAD_SECRETS_DIR": str(place.task_dir / "secrets"),
        "NOMAD_SHORT_ALLOC_ID": place.alloc_id[:8],
        "NOMAD_TASK_DIR": str(place.task_dir / "local"),
        "NOMAD_TASK_NAME": task["Name"],
    }
    meta = (job["Meta"] or {}) | (place.group["Meta"] or {}) | (task["Meta"] or {})
    known = found | constraints.targets(place.node)
    found |= {f"NOMAD_META_{key}": interpolate.keep_unknown(value, known) for key, value in meta.items()}
    if place.csi_socket is not None:
        found["CSI_ENDPOINT"] = f"unix://{place.csi_socket}"
    return found
