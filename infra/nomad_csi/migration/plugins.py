"""Convert the tasks of a plugin, in one or two jobs, to one plugin of a spec."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from nomad_csi.drivers import model as drivers
from nomad_csi.hcl import job as jobs
from nomad_csi.hcl import values
from nomad_csi.migration import meaning, model, own_driver, parts
from nomad_csi.plan import jobs as plan_jobs
from nomad_csi.spec import base, names, plugin_jobs
from nomad_csi.spec import plugin as spec_plugin

_SHARED_NAMES = {
    "namespace": "namespace",
    "datacenters": "datacenters",
    "node_pool": "node_pool",
    "priority": "priority",
    "region": "nomad_region",
}
_DEFAULT_PRIORITY = 50
_DEFAULTS: Mapping[str, Any] = {"node_pool": "default", "namespace": "default"}
_JOB_TYPES: tuple[base.JobType, ...] = get_args(base.JobType)
_NUMBERS = frozenset({"log_verbosity", "metrics_port"})
_OWN_FIELDS = ("aws_region", "log_verbosity", "log_level", "metrics_port")
_USUAL_VERBOSITY = 2


def adopt(plugin_id: str, found: Sequence[model.Part], volumes: Sequence[values.Map], remarks: model.Remarks) -> Any:
    """Return the plugin *plugin_id* in the form of a spec; *volumes* are the volume files that name it."""
    row = next((known for part in found if (known := model.row_of(part.task))), None)
    driver = parts.image_in_version(row, found) if row else None
    roles = _parts_by_role(found, driver, remarks)
    document: dict[str, Any] = {"id": plugin_id}
    document["driver"] = driver.name if driver else own_driver.describe(plugin_id, roles, volumes, remarks, row)
    document |= _shared(roles, remarks)
    document |= _job_ids(roles, remarks)
    document |= _constraints(roles, remarks)
    document |= _task_driver(roles, remarks)
    document |= _same("restart", {name: parts.restart(part, remarks) for name, part in roles.items()}, roles, remarks)
    document |= _same("update", {name: parts.update(part, remarks) for name, part in roles.items()}, roles, remarks)
    if driver is not None:
        document |= parts.adopt_image(driver, roles, remarks)
        document |= _meant(driver, roles, remarks)
        document = _both(document, _counts(driver, roles, remarks))
        document |= _network(driver, roles)
        _complete(driver, roles, document, remarks)
    document |= parts.health_timeout(roles, remarks, driver)
    document = _both(document, _resources(roles))
    for name, part in roles.items():
        taken = _carried_names(document, driver.roles[name] if driver else None, part)  # type: ignore[index]
        parts.report_left_over(part, remarks, taken, is_known=driver is not None)
    return {name: value for name, value in document.items() if value not in ({}, [], None)}


def _both(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Return both merged; entries that are mappings in both are merged, too."""
    joined = {name: {**first[name], **second[name]} for name in first if name in second}
    return {**first, **second, **joined}


def _carried_names(document: Mapping[str, Any], role: drivers.DriverRole | None, part: model.Part) -> frozenset[str]:
    """Return names of a job that are carried over in another form."""
    if role is None:
        return own_driver.TAKEN
    names = {"network", "ports"} if "metrics_port" in document else set()
    kept = jobs.duration_s(part.task.body.get("kill_timeout"))
    return frozenset(names | ({"kill_timeout"} if kept is not None and kept == role.kill_timeout_s else set()))


def _is_split(part: model.Part, driver: drivers.Driver | None) -> bool:
    """Return whether one process serves controller and node, for which a spec has a job each."""
    if driver is None or part.plugin.type != "monolith":
        return False
    return driver.both_in_one_process and {"controller", "node"} <= driver.roles.keys()


def _parts_by_role(
    found: Sequence[model.Part], driver: drivers.Driver | None, remarks: model.Remarks
) -> dict[str, model.Part]:
    """Return the parts by role; a monolith process has the role that the driver's row names."""
    roles: dict[str, model.Part] = {}
    for part in found:
        name = part.plugin.type
        if _is_split(part, driver):
            roles |= {"controller": part, "node": part}
            text = (
                f"job {part.job.id} runs controller and node in one process; a job for each is rendered: "
                f"stop and purge {part.job.id} before they run, the volumes stay registered"
            )
            remarks.add("changed", part.file, part.plugin.body.at("type"), text, code="monolith-not-split")
            continue
        if driver is not None and name not in driver.roles:
            name = "monolith" if "monolith" in driver.roles else next(iter(driver.roles))
            known = " and ".join(driver.roles)
            text = f"{part.plugin.type or 'no type'} becomes {name}: {driver.called} is run as {known}"
            remarks.add("changed", part.file, part.plugin.body.at("type"), text)
        if name in roles:
            text = f"job {part.job.id}: job {roles[name].job.id} already runs the {name} of {part.plugin.id}"
            remarks.add("left out", part.file, part.job.body.line, text)
        else:
            roles[name] = part
    return roles


def _shared(roles: Mapping[str, model.Part], remarks: model.Remarks) -> dict[str, Any]:
    """Return the fields that a spec has once for all jobs of a plugin."""
    document: dict[str, Any] = {}
    for name, key in _SHARED_NAMES.items():
        given = {role: part.job.body[name] for role, part in roles.items() if name in part.job.body}
        if name == "priority":
            given = _priorities(roles, remarks)
        document |= {
            field: value
            for field, value in _same(key, given, roles, remarks).items()
            if value != _DEFAULTS.get(name, values.UNSAID)
        }
    return document


def _priorities(roles: Mapping[str, model.Part], remarks: model.Remarks) -> dict[str, Any]:
    """Return the priority by role, Nomad's default where the job has none; add a note where a spec has a higher one."""
    usual = spec_plugin.PluginSpec.model_fields["priority"].default
    found = {role: part.job.body.get("priority", _DEFAULT_PRIORITY) for role, part in roles.items()}
    kept = list(found.values())[-1]
    for role, part in roles.items():
        if found[role] == kept and isinstance(kept, int) and kept < usual:
            text = (
                f"priority {kept} is kept; without the key priority it is {usual}, "
                "above the jobs that cannot run without the plugin"
            )
            remarks.add("note", part.file, part.job.body.at("priority"), text)
    return found


def _job_ids(roles: Mapping[str, model.Part], remarks: model.Remarks) -> dict[str, Any]:
    """Return the job ids that differ from the defaults, so that these jobs are taken over."""
    found: dict[str, str] = {}
    for name, part in roles.items():
        job_id = part.job.id
        is_split = part.plugin.type == "monolith" and name != "monolith"
        if is_split or job_id == plan_jobs.usual_job_id(part.plugin.id, name):  # type: ignore[arg-type]
            continue
        if why := _not_kept(part):
            usual = plan_jobs.usual_job_id(part.plugin.id, name)  # type: ignore[arg-type]
            text = f"the job id {job_id!a}: {why}; {usual} is rendered for the {name}, so stop {job_id!a} first"
            remarks.add("left out", part.file, part.job.body.line, text)
        else:
            found[name] = job_id
    return {"job_ids": found} if found else {}


def _not_kept(part: model.Part) -> str:
    """Return why the job of *part* cannot be taken over under its own id; empty: it can."""
    if len(list(part.job.plugins())) > 1:
        return "it runs several instances of plugins, and a spec has a job for each"
    return "" if names.JOB_ID.fullmatch(part.job.id) else f"a spec allows {names.JOB_ID_ALLOWED}"


def _same(
    key: str, given: Mapping[str, Any], roles: Mapping[str, model.Part], remarks: model.Remarks
) -> dict[str, Any]:
    """Return *key* with the value of all roles; if they differ, the last role's, with a remark."""
    present = {role: value for role, value in given.items() if value not in ({}, [], None)}
    if not present:
        return {}
    role, value = list(present.items())[-1]
    if any(other != value for other in present.values()):
        part = roles[role]
        text = f"{key} differs between the jobs of {part.plugin.id}; a plugin has only one, here that of the {role}"
        remarks.add("changed", part.file, part.job.body.line, text)
    return {key: list(value) if isinstance(value, list) else value}


def _constraints(roles: Mapping[str, model.Part], remarks: model.Remarks) -> dict[str, Any]:
    found = {role: parts.constraints(part, remarks) for role, part in roles.items()}
    zones = {role: zone for role, (zone, _) in found.items()}
    return _same("availability_zone", {role: zone or None for role, zone in zones.items()}, roles, remarks) | _same(
        "constraints", {role: constraints for role, (_, constraints) in found.items()}, roles, remarks
    )


def _task_driver(roles: Mapping[str, model.Part], remarks: model.Remarks) -> dict[str, Any]:
    found = {role: _one_task_driver(part, remarks) for role, part in roles.items()}
    main = found.get("node") or found.get("monolith") or {}
    document: dict[str, Any] = {"task_driver": main} if main != {"name": "docker"} else {}
    controller = found.get("controller", main)
    if controller != main and "controller" in found:
        if not main:
            return {"task_driver": controller} if controller != {"name": "docker"} else {}
        document["controller"] = {"task_driver": controller}
    return document


def _one_task_driver(part: model.Part, remarks: model.Remarks) -> dict[str, Any]:
    name = part.task.driver
    if name not in get_args(plugin_jobs.TaskDriver):
        text = f"the task driver {name!a}: a spec allows docker, podman, raw_exec and exec"
        remarks.add("left out", part.file, part.task.body.at("driver"), text)
        return {"name": "docker"}
    document: dict[str, Any] = {"name": name}
    if name in {"raw_exec", "exec"}:
        document["command"] = jobs.text(part.task.config, "command")
    head, middle, _ = part.plugin.stage_publish_base_dir.partition("/client/csi/")
    if middle:
        document["client_data_dir"] = head
    elif name == "raw_exec" and part.plugin.type != "controller":
        text = f"task_driver.client_data_dir of {part.plugin.id}: data_dir of the clients; no file contains it"
        remarks.add("missing", part.file, part.plugin.body.line, text)
    return document


def _meant(driver: drivers.Driver, roles: Mapping[str, model.Part], remarks: model.Remarks) -> dict[str, Any]:
    """Return the fields of the plugin from arguments and environment."""
    found = {role: meaning.read_meaning(part, driver.roles[role], driver, remarks) for role, part in roles.items()}  # type: ignore[index]
    document: dict[str, Any] = {}
    for name in sorted({name for each in found.values() for name in each.settings}):
        given = {role: each.settings.get(name) for role, each in found.items()}
        value = next(iter(_same(name, given, roles, remarks).values()), None)
        setting = _setting(name, value, driver)
        config = {**document.get("config", {}), **setting.pop("config", {})}
        document |= setting | ({"config": config} if config else {})
    environment = {role: each.environment for role, each in found.items()}
    document |= _same("environment", environment, roles, remarks)
    extra = {role: each.extra for role, each in found.items() if each.extra}
    return document | ({"extra_arguments": extra} if extra else {})


def _setting(name: str, value: str | None, driver: drivers.Driver) -> dict[str, Any]:
    if value is None or value == "":
        return {}
    if name == "extra_tags":
        pairs = (pair.partition(driver.tag_format.pair) for pair in value.split(driver.tag_format.separator))
        return {name: {key: text for key, _, text in pairs}}
    if name in _NUMBERS:
        usual = name == "log_verbosity" and value == str(_USUAL_VERBOSITY)
        return {name: int(value)} if value.isdigit() and not usual else {}
    if name in driver.settings:
        return {"config": {name: value}} if value != driver.settings[name].default else {}
    usual = name == "log_level" and value == driver.default_log_level
    return {name: value} if name in _OWN_FIELDS and "${" not in value and not usual else {}


def _counts(driver: drivers.Driver, roles: Mapping[str, model.Part], remarks: model.Remarks) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for name, part in roles.items():
        role = driver.roles[name]  # type: ignore[index]
        kind = role.job_type
        found = next((known for known in _JOB_TYPES if known == part.job.type), kind)
        if name == "monolith" and found != kind:
            kind = found
            document[name] = {"job_type": kind}
        if kind == "system" or part.job.type == "system":
            continue
        count = 1 if part.group.count is None else part.group.count
        if role.count_limit is not None and count > role.count_limit:
            text = f"count {count} becomes {role.count_limit}: {role.count_advice or 'more are not safe'}"
            remarks.add("changed", part.file, part.group.body.at("count"), text)
        elif count != role.default_count:
            document[name] = {**document.get(name, {}), "count": count}
            if count < role.default_count:
                text = (
                    f"count {count} is kept; without the key {name}.count it is {role.default_count}, "
                    "so that one survives the loss of a client"
                )
                remarks.add("note", part.file, part.group.body.at("count"), text)
    return document


def _network(driver: drivers.Driver, roles: Mapping[str, model.Part]) -> dict[str, Any]:
    containers = [(name, part) for name, part in roles.items() if part.task.driver in plugin_jobs.CONTAINERS]
    on_host = [name for name, part in containers if part.task.config.get("network_mode") == "host"]
    usual = [name for name, _ in containers if driver.roles[name].network_mode == "host"]  # type: ignore[index]
    return {"host_network": True} if set(on_host) - set(usual) else {}


def _resources(roles: Mapping[str, model.Part]) -> dict[str, Any]:
    found = {name: parts.resources(part) for name, part in roles.items()}
    if all(given == next(iter(found.values())) for given in found.values()):
        return {"resources": next(iter(found.values()))}
    return {name: {"resources": given} for name, given in found.items()}


def _complete(
    driver: drivers.Driver, roles: Mapping[str, model.Part], document: Mapping[str, Any], remarks: model.Remarks
) -> None:
    """Add a remark for each value that the driver needs and no file has."""
    part = next(iter(roles.values()))
    for wanted_role, role in driver.roles.items():
        if wanted_role not in roles:
            job = f"a {role.job_type} job is rendered for it, as {driver.called} needs one"
            text = f"no file runs the {wanted_role} of {part.plugin.id}: {job}"
            remarks.add("note", part.file, part.plugin.body.line, text)
    for text in lacking(driver, document):
        remarks.add("missing", part.file, part.plugin.body.line, text)


def lacking(driver: drivers.Driver, document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the required values of the *driver* that the plugin *document* lacks."""
    plugin_id = document["id"]
    if driver.uses_aws and "aws_region" not in document:
        yield f"aws_region of {plugin_id}: the region of its storage; no file contains it"
    for name, setting in driver.settings.items():
        if setting.default is None and name not in document.get("config", {}):
            yield f"config.{name} of {plugin_id}: {setting.text}"
    if driver.config_file is not None:
        what = f"the content of the driver's {driver.config_file.name}, secrets as {{from_secret: ITEM}}"
        yield f"config of {plugin_id}: {what}"
