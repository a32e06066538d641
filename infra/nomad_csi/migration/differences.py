"""What a plugin's file has and ours lacks, or has otherwise: both in one form, compared name by name."""

from collections.abc import Mapping
from typing import Any

from nomad_csi import errors
from nomad_csi.drivers import catalogue
from nomad_csi.drivers import model as drivers
from nomad_csi.hcl import documents, read, values
from nomad_csi.hcl import job as jobs
from nomad_csi.migration import form, model
from nomad_csi.plan import model as plans
from nomad_csi.plan import storage
from nomad_csi.spec import driver as spec_driver
from nomad_csi.text import secrets

_PLACEHOLDER = "nomad-csi-placeholder"
"""Stands, only for the comparison, for what the spec needs and no file has."""

_HARMLESS = frozenset({"affinity", "ephemeral_disk", "logs", "meta", "migrate", "reschedule", "service", "spread"})
"""Parts of a job that change nothing in the container of a plugin."""

_HARMLESS_CONFIG = frozenset({f"config.{name}" for name in ("force_pull", "image_pull_timeout", "labels", "logging")})
"""The same of the configuration of the docker driver."""

_CONTAINER = frozenset({"config", "driver", "env"})
"""Parts that decide what the container of a plugin does."""

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
    driver: drivers.Driver | None,
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
        if before["restart"].get("mode") != "delay":
            for block in (before["restart"], after["restart"]):
                for name in set(block) - {"mode"}:
                    del block[name]
        for each in values.differences(before, after):
            if is_split and each.path in {"csi_plugin.type", "job id"}:
                continue  # reported with the jobs that come instead
            if each.before or _PLACEHOLDER not in str(each.after):
                note = _note(each, driver, role)
                remarks.add(note.kind, part.file, note.line, note.text, code=note.code)


def _comparable(part: model.Part, driver: drivers.Driver | None) -> values.Map:
    """Return the `form` of *part*, with arguments, constraints and tasks by what distinguishes them."""
    found = form.of(part)
    given = found["config"].pop("args", values.Items(part.task.config.at("args")))
    named = values.Map(given.line)
    modes = {role.arguments[0] for role in driver.roles.values() if role.arguments} if driver else set()
    modes |= set(catalogue.MODE_WORDS.get(driver.name, ())) if driver else set()
    for index, argument in catalogue.joined(given):
        name = catalogue.flag_name(argument) or ("" if argument in modes else argument)
        while name in named:
            name += " again"
        named.put(name, argument, values.line_of(given, index, given.line))
    found["arguments"] = named
    for name in ("constraint", "task"):
        items = values.Map(found.at(name))
        for index, item in enumerate(found[name]):
            text = item if isinstance(item, str) else " ".join(item.values())
            items.put(text, text, values.line_of(found[name], index))
        found[name] = items
    return found


def _planned(plugin: Mapping[str, Any], driver: drivers.Driver | None) -> tuple[plans.PluginJob, ...]:
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


def _note(each: values.FieldDifference, driver: drivers.Driver | None, role: str) -> model.Note:
    area, _, name = each.path.partition(".")
    if area == "arguments":
        return _argument(each, driver, role)
    if area == "env":
        return _variable(each, driver.roles[role].secret_environment if driver else {})  # type: ignore[index]
    if area == "task":
        kind: model.Kind = "left out" if driver else "wrong"
        return model.Note(kind, each.line, f"the task {name}, which runs beside the plugin")
    if area == "constraint" and each.before is None:
        return model.Note("changed", each.line, f"constraint: {name} is added")
    if area == "constraint":
        return model.Note("wrong", each.line, f"constraint {name}: a spec cannot express it")
    return _part(each, driver)


def _is_lost(each: values.FieldDifference) -> bool:
    """Return whether ours lacks the part, or it is a block, whose content is not compared and not shown."""
    items = [item for value in (each.before, each.after) for item in (value if isinstance(value, list) else [value])]
    return each.after is None or any(isinstance(item, Mapping) for item in items)


def _part(each: values.FieldDifference, driver: drivers.Driver | None) -> model.Note:
    kind = _kind(each, driver)
    why = ", a spec has no key for it" if kind == "wrong" else ""
    if _is_lost(each):
        return model.Note(kind, each.line, f"{each.path}{why}")
    text = f"{each.path}: {_shown(each.before)} becomes {_shown(each.after)}{why}"
    return model.Note(kind, each.line, text, _CODES.get(each.path, ""))


def _kind(each: values.FieldDifference, driver: drivers.Driver | None) -> model.Kind:
    """Return ``wrong`` for what a driver that the catalogue does not know may need; else what is intended."""
    if each.path.partition(".")[0] in _HARMLESS or each.path in _HARMLESS_CONFIG:
        return "left out"
    if each.path in {"driver", "config.entrypoint"} or (
        driver is None and (_is_lost(each) or each.path.partition(".")[0] in _CONTAINER)
    ):
        return "wrong"
    return "left out" if _is_lost(each) else "changed"


def _variable(each: values.FieldDifference, secret_names: Mapping[str, str]) -> model.Note:
    """Return the remark on an environment variable, whose value is not shown."""
    name = each.path.partition(".")[2]
    text = f"the environment variable {name}"
    if each.before is None:
        return model.Note("changed", each.line, f"{text} is added")
    if name in secret_names or secrets.is_secret(name, each.before):
        return model.Note("left out", each.line, f"{text} looks like a secret: {_SECRET}")
    if name == "CSI_ENDPOINT":
        return model.Note("left out", each.line, f"{text}, which Nomad sets")
    if each.after is not None:
        return model.Note("changed", each.line, f"{text} has the driver's value")
    return model.Note(
        "wrong", each.line, f"{text}, which Nomad interpolates on the client: a spec has plain text there"
    )


def _argument(each: values.FieldDifference, driver: drivers.Driver | None, role: str) -> model.Note:
    """Return the remark on an argument that ours lacks, has otherwise or adds."""
    argument, other = each.before, each.after
    if argument is None:
        return model.Note("changed", each.line, f"the argument {other} is added")
    name = catalogue.flag_name(argument)
    if secrets.argument_has_secret(argument):
        shown = f"--{name}" if name else "an argument"
        return model.Note("left out", each.line, f"{shown} holds what looks like a secret: {_SECRET}")
    if other is not None and name in catalogue.ENDPOINT_FLAGS:
        text = f"{argument} becomes {other}, the socket path that Nomad sets"
        return model.Note("changed", each.line, text, "endpoint-written-out")
    if other is not None:
        return model.Note("changed", each.line, f"{argument} becomes {other}")
    if driver is None:
        return model.Note("wrong", each.line, f"the argument {argument}, which ours lacks")
    text, code = refusal(argument, driver.roles[role], driver) or ("", "")  # type: ignore[index]
    return model.Note("left out", each.line, text, code)


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
