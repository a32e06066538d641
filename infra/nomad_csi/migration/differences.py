"""What a plugin's file has and ours lacks, or has otherwise: both in one form, compared name by name."""

from collections.abc import Mapping
from typing import Any

from nomad_csi import errors
from nomad_csi.drivers import catalogue
from nomad_csi.hcl import documents, read, values
from nomad_csi.hcl import job as jobs
from nomad_csi.migration import form, model
from nomad_csi.plan import model as plans
from nomad_csi.plan import storage
from nomad_csi.spec import driver as spec_driver
from nomad_csi.text import secrets

_PLACEHOLDER = "nomad-csi-placeholder"
"""Stands, only for the comparison, for what the spec needs and no file has."""

_HARMLESS = frozenset(
    {"affinity", "ephemeral_disk", "logs", "meta", "migrate", "reschedule", "service", "spread", "update"}
)
"""Parts of a job that change nothing in the container of a plugin."""

_HARMLESS_CONFIG = frozenset({f"config.{name}" for name in ("force_pull", "image_pull_timeout", "labels", "logging")})
"""The same of the configuration of the docker driver."""

_RESTARTS = frozenset({"attempts", "delay", "interval"})
"""Parts of a restart block, which the spec has where they are in effect."""

_UNSHOWN = frozenset({"constraint", "env", "task"})
"""Parts that are named without their value."""

_SECRET = "put it into a Nomad variable or Vault, and name that in credentials"  # noqa: S105  # not a secret

_CODES = {
    "config.image": "image-unpinned",
    "config.network_mode": "host-network-missing",
    "config.privileged": "privilege-missing",
    "csi_plugin.health_timeout": "health-timeout-short",
    "restart.mode": "restart-gives-up",
}
"""By part that ours has otherwise: the finding about the file that the change resolves."""


def report(
    plugin: Mapping[str, Any],
    roles: Mapping[str, model.Part],
    driver: catalogue.Driver | None,
    remarks: model.Remarks,
) -> None:
    """Add a remark for each part of the jobs of *plugin*, of the spec, that differs from its file."""
    planned = {job.role: job for job in _planned(plugin, driver)}
    for role, part in roles.items():
        is_split = any(other is part for name, other in roles.items() if name != role)
        if is_split and role != "node":
            continue  # a process that is both is compared with the node
        if role not in planned:
            text = f"differences of the rendered jobs of {part.plugin.id} are listed once it can be planned"
            remarks.add("note", part.file, part.job.body.line, text)
            continue
        before, after = (_comparable(each, driver) for each in (part, _rendered(planned[role])))
        skipped = {*_RESTARTS, "job id", "type"} if is_split else _RESTARTS  # the jobs that come instead are reported
        differences = values.differences(before, after, skip=skipped)
        remarks.take(part.file, (_remark(each, driver, role) for each in differences if _is_reported(each)))


def _comparable(part: model.Part, driver: catalogue.Driver | None) -> values.Map:
    """Return the `form` of *part*, with arguments, constraints and tasks by what distinguishes them."""
    comparable = form.of(part)
    given = comparable["config"].pop("args", [])
    named = values.Map(part.task.config.at("args"))
    modes = {role.arguments[0] for role in driver.roles.values() if role.arguments} if driver else set()
    modes |= set(catalogue.MODE_WORDS.get(driver.name, ())) if driver else set()
    for _, argument in catalogue.joined(given):
        name = catalogue.flag_name(argument) or ("" if argument in modes else argument)
        while name in named:
            name += " again"
        named[name] = argument
    comparable["arguments"] = named
    for name in ("constraint", "task"):
        items = values.Map(comparable.at(name))
        for item in comparable[name]:
            text = item if isinstance(item, str) else " ".join(item.values())
            items[text] = text
        comparable[name] = items
    return comparable


def _planned(plugin: Mapping[str, Any], driver: catalogue.Driver | None) -> tuple[plans.PluginJob, ...]:
    """Return the planned jobs of a plugin of the spec; none where they cannot be planned."""
    filled = dict(plugin)
    if driver is None:
        filled["driver"] = {"provider": _PLACEHOLDER, **plugin["driver"]}
    else:
        filled |= {"aws_region": "us-east-1", **filled} if driver.uses_aws else {}
    if filled.get("task_driver", {}).get("name") == "raw_exec":
        filled["task_driver"] = {"client_data_dir": f"/{_PLACEHOLDER}", **filled["task_driver"]}
    try:
        return storage.plan_document({"plugins": [filled]}).plugins[0].jobs
    except errors.SpecError:
        return ()


def _rendered(planned: plans.PluginJob) -> model.Part:
    [job] = jobs.jobs(read.read_job(documents.job_file(planned)))
    [(group, task, plugin)] = job.plugins()
    return model.Part(file="", job=job, group=group, task=task, plugin=plugin)


def _is_reported(each: values.FieldDifference) -> bool:
    is_filled = _PLACEHOLDER in str(each.after)
    return not is_filled and not (each.before is None and each.path.startswith("update."))


def _remark(each: values.FieldDifference, driver: catalogue.Driver | None, role: str) -> model.Remark:
    """Return the remark on what the file has otherwise; the value of a secret is not shown."""
    area, _, name = each.path.partition(".")
    if _is_secret(each, area, name, driver, role):
        shown = f"--{catalogue.flag_name(each.before) or '...'}" if area == "arguments" else each.path
        return model.Remark("left out", each.line, f"{shown} looks like a secret: {_SECRET}")
    kind = _kind(each, area, driver)
    if area == "arguments" and each.after is None and driver is not None:
        text, code = refusal(each.before, driver.roles[role], driver) or (each.before, "")  # type: ignore[index]
        return model.Remark(kind, each.line, text, code)
    why = ", a spec has no key for it" if kind == "wrong" else ""
    if area in _UNSHOWN or _is_block(each) or each.after is None:
        return model.Remark(kind, each.line, f"{each.path}{' is added' if each.before is None else ''}{why}")
    what = area if area == "arguments" else each.path
    code = "endpoint-written-out" if name in catalogue.ENDPOINT_FLAGS else _CODES.get(each.path, "")
    return model.Remark(kind, each.line, f"{what}: {_shown(each.before)} becomes {_shown(each.after)}{why}", code)


def _is_secret(each: values.FieldDifference, area: str, name: str, driver: catalogue.Driver | None, role: str) -> bool:
    if area == "arguments":
        return each.before is not None and secrets.argument_has_secret(each.before)
    known = driver.roles[role].secret_environment if driver else {}  # type: ignore[index]
    return area == "env" and each.before is not None and (name in known or secrets.is_secret(name, each.before))


def _is_block(each: values.FieldDifference) -> bool:
    """Return whether it is a block, whose content is not compared and not shown."""
    items = [item for value in (each.before, each.after) for item in (value if isinstance(value, list) else [value])]
    return any(isinstance(item, Mapping) for item in items)


def _kind(each: values.FieldDifference, area: str, driver: catalogue.Driver | None) -> model.Kind:
    """Return ``wrong`` for what the container may need and does not get; else what is intended."""
    is_lost = each.after is None
    if area in _HARMLESS or each.path in _HARMLESS_CONFIG or each.path == "env.CSI_ENDPOINT":
        return "left out"
    if each.path in {"driver", "config.entrypoint"} or (is_lost and (driver is None or area in {"constraint", "env"})):
        return "wrong"
    return "left out" if is_lost else "changed"


def _shown(value: Any) -> str:
    if value is None or value == []:
        return "none"
    if isinstance(value, list):
        texts = list(map(str, value))
        hidden = secrets.hidden(texts)
        return " ".join("[secret]" if is_hidden else text for text, is_hidden in zip(texts, hidden, strict=True))
    if isinstance(value, float):
        return f"{value:g}"
    return str(value).lower() if isinstance(value, bool) else str(value)


def refusal(argument: str, role: spec_driver.RoleSpec, driver: spec_driver.DriverSpec) -> tuple[str, str] | None:
    """Return why *argument* is not passed to *driver*, and the code of that: empty for what is right in its own job."""
    name = catalogue.flag_name(argument)
    if not name:
        return f"the argument {argument!a}, which {driver.called} does not accept", ""
    if name in catalogue.WITHOUT_EFFECT.get(driver.name, frozenset()):
        return f"--{name}, which has no effect in {driver.called}", "flag-without-effect"
    if name in role.unfit_flags:
        code = "driver-renamed" if name in catalogue.NAME_FLAGS else "flag-unfit"
        return f"--{name}: {role.unfit_flags[name]}", code
    if name in catalogue.flags(role.arguments):
        return f"{argument}: {driver.called} is run with another", ""
    if role.flags is not None and name not in role.flags:
        return f"--{name}, which {driver.called} does not accept here", "flag-unknown"
    return None
