"""Convert the tasks of a plugin, in one or two jobs, to one plugin of a spec."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

from nomad_csi.drivers import catalogue, recognise
from nomad_csi.hcl import job as jobs
from nomad_csi.hcl import values
from nomad_csi.migration import differences, form, model
from nomad_csi.plan import plugins as plan_jobs
from nomad_csi.spec import base, names
from nomad_csi.spec import driver as spec_driver
from nomad_csi.spec import plugin as plugin_spec
from nomad_csi.text import secrets

_SHARED = {
    "namespace": "namespace",
    "datacenters": "datacenters",
    "node_pool": "node_pool",
    "priority": "priority",
    "region": "nomad_region",
}
"""Keys of a job, and their names in a plugin, which has each once."""

_NUMBERS = frozenset({"log_verbosity", "metrics_port"})
_OWN_FIELDS = ("aws_region", "log_verbosity", "log_level", "metrics_port")
_SECONDS = ("interval", "delay", "min_healthy_time", "healthy_deadline")


def adopt(plugin_id: str, parts: Sequence[model.Part], modes: Sequence[Any], remarks: model.Remarks) -> Any:
    """Return the plugin *plugin_id* in the form of a spec; *modes* are the capabilities of its volumes."""
    row = next((known for part in parts if (known := model.row_of(part.task))), None)
    driver = _in_version(row, parts) if row else None
    roles = _parts_by_role(parts, driver, remarks)
    forms = {name: form.of(part) for name, part in roles.items()}
    document: dict[str, Any] = {"driver": driver.name if driver else _describe(roles, forms, modes, remarks, row)}
    for name, key in _SHARED.items():
        document[key] = _last(given.get(name) for given in forms.values())
    document["job_ids"] = {name: part.job.id for name, part in roles.items() if _keeps_id(part, name)}
    placed = [_constraints(given) for given in forms.values()]
    document["availability_zone"] = _last(zone for zone, _ in placed)
    document["constraints"] = _last(constraints for _, constraints in placed)
    document |= _task_driver(roles)
    document["restart"] = _last(
        _numbers(given["restart"], "attempts") for given in forms.values() if given["restart"].get("mode") == "delay"
    )
    document["update"] = _last(_numbers(given["update"], "max_parallel", "auto_revert") for given in forms.values())
    timeouts = [given["csi_plugin"]["health_timeout"] for given in forms.values()]
    document["health_timeout_s"] = round(max((each for each in timeouts if isinstance(each, float)), default=0))
    if driver is not None:
        document |= _image(driver, roles)
        document |= _meant(driver, forms, plugin_id)
        _put(document, _counts(driver, roles))
        document |= _network(driver, roles)
        _note_roles(driver, roles, remarks)
    resources = {name: _resources(given["resources"]) for name, given in forms.items()}
    if all(given == next(iter(resources.values())) for given in resources.values()):
        document["resources"] = next(iter(resources.values()))
    else:
        _put(document, {name: {"resources": given} for name, given in resources.items()})
    document = {"id": plugin_id} | model.filled(document)
    differences.report(document, roles, driver, remarks)
    return document


def _last(given: Any) -> Any:
    """Return the last value that is not empty, the node's; those of other jobs are reported as differences."""
    return next((value for value in reversed(list(given)) if value not in ({}, [], None, "")), None)


def _put(document: dict[str, Any], roles: Mapping[str, Mapping[str, Any]]) -> None:
    """Add the fields of each of *roles* to *document*."""
    for name, fields in roles.items():
        document[name] = {**document.get(name, {}), **fields}


def _numbers(block: values.Map, *kept: str) -> dict[str, Any]:
    """Return the entries of a block that a spec has, durations as whole seconds."""
    entries = {name: block[name] for name in kept if name in block}
    given = {name: block.get(name) for name in _SECONDS}
    return entries | {f"{name}_s": max(1, round(value)) for name, value in given.items() if isinstance(value, float)}


def _resources(block: values.Map) -> dict[str, Any]:
    names = {"cpu": "cpu_mhz", "memory": "memory_mib", "memory_max": "memory_max_mib"}
    return {key: block[name] for name, key in names.items() if name in block}


# The image of a plugin: the catalogue's, another version, from a mirror, with a digest.


def _in_version(row: catalogue.Driver, parts: Sequence[model.Part]) -> catalogue.Driver | None:
    """
    Return the driver *row* with its arguments in the image version of *parts*.

    ``None``: the arguments are unknown. Without an image, or for an image without a version, return the row itself.
    """
    image = next((part.task.image for part in reversed(parts) if part.task.image), "")
    return row if recognise.is_unpinned(image) else catalogue.select_version(row, recognise.tag(image))


def _image(driver: catalogue.Driver, roles: Mapping[str, model.Part]) -> dict[str, Any]:
    """Return the fields of a plugin for its image; only the digest, empty for none, where it is the catalogue's."""
    part = _last(part if part.task.image else None for part in roles.values())
    if part is None:
        return {}
    image = part.task.image
    repository, tag = recognise.repository(image), recognise.tag(image)
    digest = image.partition("@")[2]
    document = {"image_digest": digest}
    if recognise.is_unpinned(image) or (recognise.is_published(image, driver) and tag == recognise.tag(driver.image)):
        return document  # the job then has the catalogue's image
    mirror = recognise.mirror(image, driver)
    if mirror and tag == recognise.tag(driver.image):
        return document | {"image_registry": mirror}
    return document | {"image": f"{repository}:{tag}"}


# Which job runs which role, where, and under which id.


def _parts_by_role(
    parts: Sequence[model.Part], driver: catalogue.Driver | None, remarks: model.Remarks
) -> dict[str, model.Part]:
    """Return the parts by role; a monolith process has the role that the driver's row names."""
    roles: dict[str, model.Part] = {}
    for part in parts:
        name = part.plugin.type
        is_split = driver is not None and driver.both_in_one_process and {"controller", "node"} <= driver.roles.keys()
        if is_split and name == "monolith":
            roles |= {"controller": part, "node": part}
            text = (
                f"job {part.job.id} runs controller and node in one process; a job for each is rendered: "
                f"stop and purge {part.job.id} before they run, the volumes stay registered"
            )
            remarks.add("changed", part.file, part.plugin.body.at("type"), text, code="monolith-not-split")
            continue
        if driver is not None and name not in driver.roles:
            name = next(iter(driver.roles))
        if name in roles:
            text = f"job {part.job.id}: job {roles[name].job.id} already runs the {name} of {part.plugin.id}"
            remarks.add("left out", part.file, part.job.body.line, text)
        else:
            roles[name] = part
    return roles


def _keeps_id(part: model.Part, role: str) -> bool:
    """Return whether the spec names the id of the job of *part*, another than the usual one, for *role*."""
    is_split = part.plugin.type == "monolith" and role != "monolith"
    is_alone = len(list(part.job.plugins())) == 1
    usual = plan_jobs.usual_job_id(part.plugin.id, role)  # type: ignore[arg-type]
    return not is_split and is_alone and part.job.id != usual and bool(names.JOB_ID.fullmatch(part.job.id))


def _constraints(given: values.Map) -> tuple[str, list[dict[str, str]]]:
    """Return the zone that the job is bound to, empty for none, and the other constraints that a spec can express."""
    zone, constraints = "", []
    for constraint in given["constraint"]:
        operator = constraint.get("operator", "=")
        if constraint.get("attribute") == plan_jobs.ZONE_ATTRIBUTE and operator == "=":
            zone = constraint.get("value", "")
        elif operator in get_args(plugin_spec.ConstraintOperator) and names.ATTRIBUTE.fullmatch(
            constraint.get("attribute", "")
        ):
            constraints.append(constraint)
    return zone, constraints


def _task_driver(roles: Mapping[str, model.Part]) -> dict[str, Any]:
    task_drivers = {role: _one_task_driver(part) for role, part in roles.items()}
    main = task_drivers.get("node") or task_drivers.get("monolith") or task_drivers.get("controller") or {}
    controller = task_drivers.get("controller", main)
    document: dict[str, Any] = {"task_driver": main} if main != {"name": "docker"} else {}
    return document | ({"controller": {"task_driver": controller}} if controller != main else {})


def _one_task_driver(part: model.Part) -> dict[str, Any]:
    name = part.task.driver
    if name not in get_args(plugin_spec.TaskDriver):
        return {"name": "docker"}
    document: dict[str, Any] = {"name": name}
    if name in {"raw_exec", "exec"}:
        document["command"] = jobs.text(part.task.config, "command")
    head, middle, _ = part.plugin.stage_publish_base_dir.partition("/client/csi/")
    if middle:
        document["client_data_dir"] = head
    return document


# Arguments, environment, counts.


_PLACEHOLDER = re.compile(r"\\\{(\w+)\\\}")


@dataclass(kw_only=True)
class _Meaning:
    """Values of a spec from arguments and environment."""

    settings: dict[str, str] = field(default_factory=dict)
    """Values by placeholder name, such as ``log_verbosity``."""

    extra: list[str] = field(default_factory=list)
    """Arguments beyond those of the row."""

    environment: dict[str, str] = field(default_factory=dict)
    """Environment beyond that of the row."""


def _read_meaning(
    given: values.Map, role: spec_driver.RoleSpec, driver: spec_driver.DriverSpec, plugin_id: str
) -> _Meaning:
    """Return the values of a task in its `form`, *given*, as *role* of *driver*; without what the driver refuses."""
    meaning = _Meaning()
    usual = [argument for _, argument in catalogue.joined(role.arguments)]
    rendered = [text.replace("{plugin_id}", plugin_id) for text in (*usual, *role.optional_arguments.values())]
    for _, argument, words in catalogue.spans(given["config"].get("args", ())):
        is_kept = not secrets.argument_has_secret(argument) and not differences.refusal(argument, role, driver)
        # Programs in Go take their flags with one dash, too.
        is_known = _fills(rendered, argument, meaning) or _fills(rendered, f"-{argument}", meaning)
        if not is_known and is_kept:
            meaning.extra += words if role.flags is None else [argument]
    for name, value in given["env"].items():
        if name == "CSI_ENDPOINT" or name in role.secret_environment or secrets.is_secret(name, value):
            continue
        if not _fills([role.environment.get(name, "")], value, meaning) and not names.TEMPLATE_START.search(value):
            meaning.environment[name] = value
    return meaning


def _fills(templates: Iterable[str], text: str, meaning: _Meaning) -> bool:
    """Return whether *text* is one of *templates* with its placeholders replaced; add the values to *meaning*."""
    for template in templates:
        pattern = _PLACEHOLDER.sub(r"(?P<\1>.*)", re.escape(template))
        match = re.fullmatch(pattern, text, re.DOTALL)
        if match is not None:
            meaning.settings |= match.groupdict()
            return True
    return False


def _meant(driver: catalogue.Driver, forms: Mapping[str, values.Map], plugin_id: str) -> dict[str, Any]:
    """Return the fields of the plugin from arguments and environment."""
    meanings = {
        role: _read_meaning(given, driver.roles[role], driver, plugin_id)  # type: ignore[index]
        for role, given in forms.items()
    }
    document: dict[str, Any] = {}
    for name in sorted({name for each in meanings.values() for name in each.settings}):
        setting = _setting(name, _last(each.settings.get(name) for each in meanings.values()), driver)
        config = {**document.get("config", {}), **setting.pop("config", {})}
        document |= setting | {"config": config}
    document["environment"] = _last(each.environment for each in meanings.values())
    document["extra_arguments"] = {role: each.extra for role, each in meanings.items() if each.extra}
    return document


def _setting(name: str, value: str | None, driver: catalogue.Driver) -> dict[str, Any]:
    if not value:
        return {}
    if name == "extra_tags":
        pairs = (pair.partition(driver.tag_format.pair) for pair in value.split(driver.tag_format.separator))
        return {name: {key: text for key, _, text in pairs}}
    if name in _NUMBERS:
        return {name: int(value)} if value.isdigit() else {}
    if name in driver.settings:
        return {"config": {name: value}} if value != driver.settings[name].default else {}
    return {name: value} if name in _OWN_FIELDS and "${" not in value else {}


def _counts(driver: catalogue.Driver, roles: Mapping[str, model.Part]) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for name, part in roles.items():
        role = driver.roles[name]  # type: ignore[index]
        kind = part.job.type if name == "monolith" and part.job.type in get_args(base.JobType) else role.job_type
        count = 1 if part.group.count is None else part.group.count
        is_counted = "system" not in {kind, part.job.type} and count <= (role.count_limit or count)
        document[name] = {
            **({"job_type": kind} if kind != role.job_type else {}),
            **({"count": count} if is_counted and count != role.default_count else {}),
        }
    return model.filled(document)


def _network(driver: catalogue.Driver, roles: Mapping[str, model.Part]) -> dict[str, Any]:
    containers = [(name, part) for name, part in roles.items() if part.task.driver in plugin_spec.CONTAINERS]
    on_host = [name for name, part in containers if part.task.config.get("network_mode") == "host"]
    usual = [name for name, _ in containers if driver.roles[name].network_mode == "host"]  # type: ignore[index]
    return {"host_network": True} if set(on_host) - set(usual) else {}


def _note_roles(driver: catalogue.Driver, roles: Mapping[str, model.Part], remarks: model.Remarks) -> None:
    """Add a note on each role of the *driver* that no file runs."""
    part = next(iter(roles.values()))
    for wanted_role, role in driver.roles.items():
        if wanted_role not in roles:
            job = f"a {role.job_type} job is rendered for it, as {driver.called} needs one"
            text = f"no file runs the {wanted_role} of {part.plugin.id}: {job}"
            remarks.add("note", part.file, part.plugin.body.line, text)


# A driver that is not in the catalogue, described from its jobs.


def _describe(
    roles: Mapping[str, model.Part],
    forms: Mapping[str, values.Map],
    modes: Sequence[Any],
    remarks: model.Remarks,
    row: catalogue.Driver | None = None,
) -> dict[str, Any]:
    """
    Return the description of the driver that *roles* run; *modes* are the capabilities of its volumes.

    *row* is the catalogue's, where the arguments of this version are unknown.
    """
    part = next(iter(roles.values()))
    plugin_id = part.plugin.id
    named = [
        value
        for each in roles.values()
        for _, argument in catalogue.joined(each.arguments)
        if catalogue.flag_name(argument) in catalogue.NAME_FLAGS
        and (value := argument.partition("=")[2])
        and "${" not in value
    ]
    document = {
        "name": plugin_id,
        "provider": named[0] if named else row and row.provider,
        "image": part.task.image,
        "roles": {name: _described_role(each, forms[name]) for name, each in roles.items()},
        "capabilities": [item.model_dump() for item in row.capabilities]
        if row
        else modes or [{"access_mode": "single-node-writer"}],
        "topology_key": row and row.topology_key,
        "topology_keys": list(row.topology_keys) if row else [],
    }
    unusable = recognise.recognise_unusable(part.task.image)
    if unusable is not None:
        text = f"{unusable.title} cannot run on Nomad: {unusable.reason}; {unusable.instead}"
        remarks.add("wrong", part.file, part.task.config.at("image"), text, code="driver-unusable")
    what = f"the arguments of {part.task.image}" if row else "the driver"
    text = f"the catalogue does not know {what} that {plugin_id} runs: its jobs are described in the spec, unchecked"
    remarks.add("note", part.file, part.plugin.body.line, text)
    return {name: value for name, value in document.items() if value}


def _described_role(part: model.Part, given: values.Map) -> dict[str, Any]:
    """Return the role as its job runs it; secrets are left out, and the socket is where Nomad says."""
    config, block = given["config"], given["csi_plugin"]
    document: dict[str, Any] = {
        "job_type": "system" if part.job.type == "system" else "service",
        "arguments": [word for words in _without_secrets(config.get("args", ())) for word in words],
        "environment": {name: value for name, value in given["env"].items() if not secrets.is_secret(name, value)},
        "privileged": config.get("privileged"),
        "network_mode": jobs.text(config, "network_mode"),
        "ipc_mode": jobs.text(config, "ipc_mode"),
        "binds": config.get("volumes"),
        "mount_dir": block["mount_dir"] if block["mount_dir"] != "/csi" else "",
        "stage_publish_base_dir": block.get("stage_publish_base_dir") if part.task.driver != "raw_exec" else "",
        "kill_timeout_s": round(given["kill_timeout"]) if "kill_timeout" in given.lines else None,
        "default_count": count if (count := given.get("count", 1)) > 1 else None,
    }
    return {name: value for name, value in document.items() if value}


def _without_secrets(given: Sequence[str]) -> list[Sequence[str]]:
    """Return each argument as its words: only the driver knows whether a flag takes the next word."""
    return [words for _, argument, words in catalogue.spans(given) if not secrets.argument_has_secret(argument)]
