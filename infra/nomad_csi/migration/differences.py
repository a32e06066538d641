"""Differences between the imported job files and the rendered jobs, field by field."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from nomad_csi import errors
from nomad_csi.drivers import arguments
from nomad_csi.hcl import job as jobs
from nomad_csi.hcl import values
from nomad_csi.migration import model
from nomad_csi.plan import model as plans
from nomad_csi.plan import storage
from nomad_csi.text import secrets

_PLACEHOLDER_REGION = "us-east-1"
"""Used only for the comparison, where no file names the region."""

_CODES: Mapping[str, str] = {
    "arguments": "endpoint-written-out",
    "health_timeout": "health-timeout-short",
    "image": "image-unpinned",
    "network_mode": "host-network-missing",
    "privileged": "privilege-missing",
    "restart": "restart-gives-up",
}
"""By field, the finding of `lint` that the change resolves."""


def report(document: Mapping[str, Any], parts: Mapping[str, Sequence[model.Part]], remarks: model.Remarks) -> None:
    """Add a remark for each field of a job that differs from its file."""
    for plugin in document.get("plugins", ()):
        found = parts.get(plugin["id"], ())
        planned = _planned(plugin)
        for part in found:
            if not planned:
                text = f"differences of the rendered jobs of {part.plugin.id} are listed once nothing is missing"
                remarks.add("note", part.file, part.job.body.line, text)
            for job in planned:
                if part.plugin.type == job.role:
                    _compare(part, job, remarks)


def _planned(plugin: Mapping[str, Any]) -> tuple[plans.PluginJob, ...]:
    """Return the planned jobs of a plugin of the spec; none where too little is known."""
    for region in ({}, {"aws_region": _PLACEHOLDER_REGION}):
        try:
            return storage.plan_document({"plugins": [{**plugin, **region}]}).plugins[0].jobs
        except errors.SpecError:
            continue
    return ()


def _compare(part: model.Part, planned: plans.PluginJob, remarks: model.Remarks) -> None:
    for name, before, after, why in _fields(part, planned):
        if before != after:
            body = part.plugin.body if name in {"mount_dir", "health_timeout"} else part.job.body
            text = f"{name}: {_shown(before)} becomes {_shown(after)}{f', {why}' if why else ''}"
            remarks.add("changed", part.file, _line(part, name, body), text, code=_CODES.get(name, ""))


def _fields(part: model.Part, planned: plans.PluginJob) -> Iterator[tuple[str, Any, Any, str]]:
    """Yield name, value in the file, value in the plan and reason for each field."""
    body, config = part.job.body, part.task.config
    resources = values.block(part.task.body, "resources")
    yield "job id", part.job.id, planned.job_id, "named by the plugin, so that two plugins of one driver can run"
    yield "type", part.job.type, planned.job_type, ""
    yield "namespace", part.job.namespace or "the caller's", planned.namespace, ""
    yield "node_pool", jobs.text(body, "node_pool") or "the namespace's", planned.node_pool, ""
    yield "datacenters", body.get("datacenters", ["*"]), list(planned.datacenters), ""
    yield "priority", body.get("priority", 50), planned.priority, ""
    yield "count", _count(part), planned.count, ""
    yield "restart", _restart(part), "delay", "otherwise a plugin that failed a few times stays down"
    yield "image", part.task.image, planned.image, ""
    yield ("arguments", *_arguments(part.task.arguments, planned.arguments))
    yield "privileged", config.get("privileged") is True, planned.privileged, ""
    yield "network_mode", jobs.text(config, "network_mode"), planned.network_mode, _network_why(planned)
    yield "ipc_mode", jobs.text(config, "ipc_mode"), planned.ipc_mode, ""
    yield "volumes", values.texts(config, "volumes"), list(planned.binds), "state of the mounts outlives the container"
    yield "mount_dir", part.plugin.mount_dir or "/csi", planned.mount_dir, ""
    yield "health_timeout", part.plugin.health_timeout_s or 30.0, float(planned.health_timeout_s), "seconds"
    yield "cpu", resources.get("cpu", 100), planned.cpu_mhz, ""
    yield "memory", resources.get("memory", 300), planned.memory_mib, ""
    before, after = sorted(set(part.task.env) - {values.LABELS}), sorted(planned.environment)
    yield "environment", before, after, "values are not shown"


def _arguments(given: Sequence[str], planned: Sequence[str]) -> tuple[list[str], list[str], str]:
    """Return both, and why they differ; word by word where only the splitting differs, a change for Nomad."""
    before, after = _joined(given), _joined(planned)
    if before != after:
        endpoints = [{item for item in given if _is_endpoint(item)} for given in (before, after)]
        return before, after, "the socket path that Nomad sets" if endpoints[0] != endpoints[1] else ""
    if list(given) == list(planned) or "[secret]" in before:
        return before, after, ""
    return list(given), list(planned), "the same for the driver, a change for Nomad"


def _is_endpoint(argument: str) -> bool:
    return arguments.flag_name(argument) in arguments.ENDPOINT_FLAGS


def _joined(given: Sequence[str]) -> list[str]:
    """Return *given* without values that look like secrets."""
    return [
        "[secret]" if secrets.argument_has_secret(argument) else argument for _, argument in arguments.joined(given)
    ]


def _count(part: model.Part) -> int | None:
    return None if part.job.type == "system" else part.group.count or 1


def _restart(part: model.Part) -> str:
    return (jobs.text(part.restarts[0], "mode") if part.restarts else "") or "fail"


def _network_why(planned: plans.PluginJob) -> str:
    return "otherwise mounts hang when the container is replaced" if planned.network_mode == "host" else ""


def _shown(value: Any) -> str:
    match value:
        case None:
            return "one on each client"
        case "" | []:
            return "none"
        case list():
            return " ".join(str(item) for item in value)
        case float():
            return f"{value:g}"
        case bool():
            return str(value).lower()
    return str(value)


_LINES: Mapping[str, Callable[[model.Part], int]] = {
    "arguments": lambda part: part.task.config.at("args"),
    "count": lambda part: part.group.body.at("count"),
    "cpu": lambda part: values.block(part.task.body, "resources").at("cpu"),
    "image": lambda part: part.task.config.at("image"),
    "memory": lambda part: values.block(part.task.body, "resources").at("memory"),
    "network_mode": lambda part: part.task.config.at("network_mode"),
    "privileged": lambda part: part.task.config.at("privileged"),
    "restart": lambda part: part.group.body.at("restart"),
    "volumes": lambda part: part.task.config.at("volumes"),
}


def _line(part: model.Part, name: str, body: values.Map) -> int:
    return _LINES[name](part) if name in _LINES else body.at(name)
