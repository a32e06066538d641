"""What of a job the spec has no place for. It is said, name by name, and never dropped in silence."""

from collections.abc import Iterator

from nomad_csi.hcl import job as jobs
from nomad_csi.hcl import values
from nomad_csi.migration import model

_JOB = frozenset(
    {
        "constraint", "datacenters", "group", "id", "name", "namespace", "node_pool", "priority", "region", "type",
        "update", values.LABELS,
    }
)  # fmt: skip
_GROUP = frozenset({"constraint", "count", "restart", "task", "update", values.LABELS})
_TASK = frozenset({"config", "constraint", "csi_plugin", "driver", "env", "resources", "restart", values.LABELS})
_CONFIG = frozenset({"args", "command", "image", "ipc_mode", "network_mode", "privileged", "volumes", values.LABELS})
_RESOURCES = frozenset({"cpu", "memory", "memory_max", values.LABELS})

_DEFAULTS = {
    "ephemeral_disk": {"size": 300},
    "kill_timeout": 5_000_000_000,
    "logs": {"max_files": 10, "max_file_size": 10},
    "migrate": {
        "max_parallel": 1,
        "health_check": "checks",
        "min_healthy_time": 10_000_000_000,
        "healthy_deadline": 300_000_000_000,
    },
}
"""What Nomad writes into a job that does not say it. Source: ``api/tasks.go`` (``Canonicalize``), 2026-08-21."""

_WHY = {
    "affinity": "a plugin runs on all clients that meet its constraints",
    "artifact": "the image or the clients must contain what the driver needs",
    "network": "a plugin has at most one port, metrics_port",
    "reschedule": "Nomad's default applies",
    "service": "Nomad checks the health of CSI plugins itself",
    "template": "put a secret or a configuration file of the driver into credentials or config",
    "user": "the driver's image sets the user",
    "vault": "use credentials.vault for what the plugin reads",
}


def report(part: model.Part, remarks: model.Remarks, also_taken: frozenset[str] = frozenset()) -> None:
    """Add a remark for each name of *part* that the spec has no place for; *also_taken* are carried over otherwise."""
    for where, body, taken in (
        ("the job", part.job.body, _JOB),
        ("the group", part.group.body, _GROUP),
        ("the task", part.task.body, _TASK),
        (f"the {part.task.driver} config", part.task.config, _CONFIG),
        ("resources", values.block(part.task.body, "resources"), _RESOURCES),
    ):
        for name in _others(body, taken | also_taken):
            why = f": {_WHY[name]}" if name in _WHY else ""
            remarks.add("left out", part.file, body.at(name), f"{name} of {where}{why}")
    others = [task for task in part.group.tasks if task is not part.task and task.plugin is None]
    for task in others:
        remarks.add("left out", part.file, task.body.line, f"the task {task.name}, which runs beside the plugin")


def _others(body: values.Map, taken: frozenset[str]) -> Iterator[str]:
    for name in body:
        if name not in taken and body[name] != _DEFAULTS.get(name, values.UNSAID):
            yield name


def consumers(file: str, job: jobs.JobFile, remarks: model.Remarks) -> None:
    """Add a remark on a job that runs no plugin."""
    used = sorted({request.source for group in job.groups for request in group.volumes})
    what = f"it uses {', '.join(used)}" if used else "it uses no CSI volume"
    text = f"job {job.id} runs no CSI plugin, so nothing of it goes into the spec: {what}"
    remarks.add("note", file, job.body.line, text)
