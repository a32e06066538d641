"""Convert parts of a plugin job with an equivalent in a spec: resources, constraints, restarts, updates."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from nomad_csi.drivers import catalogue, recognise
from nomad_csi.drivers import model as drivers
from nomad_csi.hcl import job as jobs
from nomad_csi.hcl import values
from nomad_csi.migration import model
from nomad_csi.plan import jobs as planned
from nomad_csi.plan.rules import plugin_rules
from nomad_csi.spec import names, plugin_jobs

# The image of a plugin: the catalogue's, another version, from a mirror, with a digest.


def image_in_version(row: drivers.Driver, parts: Sequence[model.Part]) -> drivers.Driver | None:
    """
    Return the driver *row* with its arguments in the image version of *parts*.

    ``None``: the arguments are unknown. Without an image, or for an image without a version, return the row itself.
    """
    image = next((part.task.image for part in reversed(parts) if part.task.image), "")
    return row if recognise.is_unpinned(image) else catalogue.select_version(row, recognise.tag(image))


def adopt_image(driver: drivers.Driver, roles: Mapping[str, model.Part], remarks: model.Remarks) -> dict[str, Any]:
    """Return the fields of a plugin for its image; none where it is the catalogue's."""
    given = {name: part.task.image for name, part in roles.items() if part.task.image}
    if not given:
        return {}
    name, image = list(given.items())[-1]
    part = roles[name]
    line = part.task.config.at("image")
    if len(set(given.values())) > 1:
        text = f"the jobs of {part.plugin.id} run {' and '.join(sorted(set(given.values())))}; a plugin has one image"
        remarks.add("changed", part.file, line, text)
    repository, tag = recognise.repository(image), recognise.tag(image)
    digest = image.partition("@")[2]
    document = {"image_digest": digest} if digest and digest != driver.image_digest else {}
    if recognise.is_published(image, driver) and tag == recognise.tag(driver.image):
        return document
    if recognise.is_unpinned(image):
        return {}  # the job then has another image, which a remark on each job reports
    mirror = recognise.mirror(image, driver)
    if mirror and tag == recognise.tag(driver.image):
        return document | {"image_registry": mirror}
    text = (
        f"the image {image} is kept, with the arguments that {driver.called} accepts in {driver.version}; "
        f"remove image to run {driver.image}"
    )
    remarks.add("note", part.file, line, text)
    return document | {"image": f"{repository}:{tag}" if tag else repository}


# Resources, constraints, restarts, updates.


_DEFAULT_CPU_MHZ, _DEFAULT_MEMORY_MIB = 100, 300
"""Source: hashicorp/nomad, ``nomad/structs/structs.go`` (``DefaultResources``), 2026-08-21."""

_DEFAULT_HEALTH_TIMEOUT_S, _LEAST_HEALTH_TIMEOUT_S = 30, 5
"""Nomad's default, and the minimum that a spec allows."""

_OPERATORS: frozenset[str] = frozenset(get_args(plugin_jobs.ConstraintOperator))
_MEANT = {"==": "=", "is": "=", "not": "!="}
"""Other names of operators. Source: hashicorp/nomad, ``scheduler/feasible/feasible.go``, 2026-08-21."""

_SHORT = ("regexp", "version", "semver", "set_contains", "set_contains_any")


def resources(part: model.Part) -> dict[str, Any]:
    """Return the resources of a task in the form of a spec, Nomad's defaults where the job has none."""
    block = values.block(part.task.body, "resources")
    found = {
        "cpu_mhz": block.get("cpu", _DEFAULT_CPU_MHZ),
        "memory_mib": block.get("memory", _DEFAULT_MEMORY_MIB),
        "memory_max_mib": block.get("memory_max"),
    }
    return {name: value for name, value in found.items() if value is not None}


def constraints(part: model.Part, remarks: model.Remarks) -> tuple[str, list[dict[str, str]]]:
    """Return the zone that the job is bound to, empty for none, and its other constraints in the form of a spec."""
    zone, found = "", []
    for block in part.constraints:
        if model.is_distinct_hosts(block):
            if part.job.type == "system":
                text = "distinct_hosts: a system job already runs once on each client"
                remarks.add("left out", part.file, block.line, text)
            continue
        constraint = _constraint(block)
        if constraint is None:
            text = "a constraint that a spec cannot express"
            remarks.add("left out", part.file, block.line, text)
        elif constraint["attribute"] == planned.ZONE_ATTRIBUTE and constraint.get("operator", "=") == "=":
            zone = constraint.get("value", "")
        elif constraint not in found:
            found.append(constraint)
    return zone, found


def _constraint(block: values.Map) -> dict[str, str] | None:
    attribute = jobs.text(block, "attribute")
    operator = jobs.text(block, "operator") or "="
    value = jobs.text(block, "value")
    for name in _SHORT:
        if name in block:
            operator, value = name, jobs.text(block, name)
    operator = _MEANT.get(operator, operator)
    if operator not in _OPERATORS or not names.ATTRIBUTE.fullmatch(attribute):
        return None
    found = {"attribute": attribute, "operator": operator, "value": value}
    return {name: text for name, text in found.items() if text and (name, text) != ("operator", "=")}


def health_timeout(
    roles: Mapping[str, model.Part], remarks: model.Remarks, driver: drivers.Driver | None
) -> dict[str, int]:
    """Return the health timeout in seconds, the longest of the jobs; Nomad's default where none has one."""
    given = [seconds for part in roles.values() if (seconds := part.plugin.health_timeout_s) is not None]
    longest = round(max(given, default=_DEFAULT_HEALTH_TIMEOUT_S))
    usual = driver.health_timeout_s if driver else _DEFAULT_HEALTH_TIMEOUT_S
    kept = max(longest, _LEAST_HEALTH_TIMEOUT_S)
    if kept == usual:
        return {}
    part = next(iter(roles.values()))
    line = part.plugin.body.at("health_timeout")
    if kept != longest:
        text = f"health_timeout of {longest} s becomes {kept} s, the least that a spec allows"
        remarks.add("changed", part.file, line, text)
    if driver and kept < usual:
        text = (
            f"health_timeout of {kept} s is kept; without the key health_timeout_s it is {usual} s, "
            f"which {driver.called} may need"
        )
        remarks.add("note", part.file, line, text)
    return {"health_timeout_s": kept}


def restart(part: model.Part, remarks: model.Remarks) -> dict[str, int]:
    """Return the restart policy, where the job has one."""
    if not part.restarts:
        return {}
    block = part.restarts[0]
    if block.get("mode") != "delay":
        text = "the restart policy gave up after some attempts; now Nomad waits and tries again"
        remarks.add("changed", part.file, block.at("mode"), text)
        return {}
    found = _seconds(block, {"interval": "interval_s", "delay": "delay_s"})
    attempts = block.get("attempts")
    return ({"attempts": attempts} if isinstance(attempts, int) and attempts > 0 else {}) | found


def update(part: model.Part, remarks: model.Remarks) -> dict[str, Any]:
    """Return the update strategy, where the job has one."""
    found: dict[str, Any] = {}
    taken = {"max_parallel", "min_healthy_time", "healthy_deadline", "progress_deadline", "auto_revert"}
    for body in (part.job.body, part.group.body):
        for block in values.blocks(body, "update"):
            found |= {name: block[name] for name in ("max_parallel", "auto_revert") if name in block}
            found |= _seconds(
                block, {"min_healthy_time": "min_healthy_time_s", "healthy_deadline": "healthy_deadline_s"}
            )
            others = sorted(set(block) - taken)
            if others:
                remarks.add("left out", part.file, block.line, f"of the update block: {', '.join(others)}")
    return found


def _seconds(block: values.Map, names: dict[str, str]) -> dict[str, int]:
    found = {key: jobs.duration_s(block[name]) for name, key in names.items() if name in block}
    return {key: max(1, round(seconds)) for key, seconds in found.items() if seconds is not None}


# Names of a job without an equivalent in the spec. Each is reported, and never dropped silently.


_JOB = frozenset(
    {
        "constraint", "datacenters", "group", "id", "name", "namespace", "node_pool", "priority", "region", "type",
        "update", values.LABELS,
    }
)  # fmt: skip
_GROUP = frozenset({"constraint", "count", "restart", "task", "update", values.LABELS})
_TASK = frozenset({"config", "constraint", "csi_plugin", "driver", "env", "resources", "restart", values.LABELS})
_CONFIG = frozenset({"args", "image", "ipc_mode", "network_mode", "privileged", "volumes", values.LABELS})
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
"""Nomad's defaults for a job. Source: ``api/tasks.go`` (``Canonicalize``), 2026-08-21."""

_WHY = {
    "affinity": "a plugin runs on all clients that meet its constraints",
    "artifact": "the image or the clients must contain what the driver needs",
    "command": "the driver's image sets the command",
    "network": "a plugin has at most one port, metrics_port",
    "reschedule": "Nomad's default applies",
    "service": "Nomad checks the health of CSI plugins itself",
    "template": "put a secret or a configuration file of the driver into credentials or config",
    "user": "the driver's image sets the user",
    "vault": "use credentials.vault for what the plugin reads",
}


_HARMLESS = frozenset({"affinity", "ephemeral_disk", "logs", "meta", "migrate", "reschedule", "service", "spread"})
"""Names that change nothing in the container of a plugin."""


def _is_usual_identity(name: str, body: values.Map) -> bool:
    """Return whether *name* is the identity that Nomad adds: the task gets it neither as a variable nor as a file."""
    blocks = values.blocks(body, name)
    return name == "identity" and not any(block.get(key) for block in blocks for key in ("env", "file"))


def report_left_over(
    part: model.Part, remarks: model.Remarks, also_taken: frozenset[str] = frozenset(), *, is_known: bool = True
) -> None:
    """
    Add a remark for each name of *part* that the spec lacks; *also_taken* are carried over in another form.

    Of a driver that the catalogue does not know, what may change the container is ``wrong``.
    """
    config = _CONFIG | ({"command"} if part.task.driver in plugin_rules.PROCESS_DRIVERS else set())
    for where, body, taken in (
        ("the job", part.job.body, _JOB),
        ("the group", part.group.body, _GROUP),
        ("the task", part.task.body, _TASK),
        (f"the {part.task.driver} config", part.task.config, config),
        ("resources", values.block(part.task.body, "resources"), _RESOURCES),
    ):
        for name in _others(body, taken | also_taken):
            is_wrong = not is_known and name not in _HARMLESS and not _is_usual_identity(name, body)
            why = f": {_WHY[name]}" if name in _WHY and not is_wrong else ""
            lost = ", which a spec has no key for" if is_wrong else ""
            kind: model.Kind = "wrong" if is_wrong else "left out"
            remarks.add(kind, part.file, body.at(name), f"{name} of {where}{lost}{why}")
    others = [task for task in part.group.tasks if task.body is not part.task.body and task.plugin is None]
    for task in others:
        kind = "left out" if is_known else "wrong"
        remarks.add(kind, part.file, task.body.line, f"the task {task.name}, which runs beside the plugin")


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
