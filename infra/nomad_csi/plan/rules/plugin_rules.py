"""Rules between a plugin of the spec and its driver, and between plugins."""

from collections.abc import Iterator, Mapping

from nomad_csi.errors import Problem
from nomad_csi.plan import plugins
from nomad_csi.plan.rules import argument_rules, known, secret_rules
from nomad_csi.spec import model as spec
from nomad_csi.spec import names

ROLES: tuple[spec.PluginRole, ...] = ("controller", "node", "monolith")


def check_plugin(plugin: spec.PluginSpec, driver: spec.DriverSpec, path: str) -> Iterator[Problem]:
    """Yield the problems of *plugin* with *driver*."""
    yield from known(
        _task_drivers(plugin, path),
        _roles(plugin, driver, path),
        _region(plugin, driver, path),
        _image(plugin, driver, path),
        _iam(plugin, driver, path),
        secret_rules.check(plugin, driver, path),
        argument_rules.check(plugin, driver, path),
        _constraints(plugin, path),
        _check_on_nodes(plugin, f"{path}.verify"),
        secret_rules.check_texts(plugin, driver, path),
    )


def _iam(plugin: spec.PluginSpec, driver: spec.DriverSpec, path: str) -> Iterator[Problem]:
    if plugin.iam and driver.storage != "ebs":
        allowed = f"no iam for {driver.name}: mounting needs no permission"
        fix = "remove it, or put it under efs.iam of a volume" if driver.storage == "efs" else "remove it"
        yield Problem(path=f"{path}.iam", got="one", allowed=allowed, fix=fix)


Others = Mapping[str, tuple[spec.PluginSpec, spec.DriverSpec | None]]
"""Plugins declared before, with their drivers, by path."""


def check_beside(
    plugin: spec.PluginSpec, driver: spec.DriverSpec | None, path: str, others: Others
) -> Iterator[Problem]:
    """Yield the conflicts of *plugin* with *others*."""
    twin = next((name for name, (other, _) in others.items() if other.id == plugin.id), None)
    if twin is not None:
        yield Problem(path=f"{path}.id", got=repr(plugin.id), allowed=f"an id of its own: {twin} has it already")
    yield from known(_job_ids(plugin, driver, path, others))


def _job_ids(plugin: spec.PluginSpec, driver: spec.DriverSpec | None, path: str, others: Others) -> Iterator[Problem]:
    """Yield each job with the id of another job of the spec. `check_beside` reports plugins with the same id."""
    taken: dict[str, tuple[str, str]] = {}
    for where, (other, other_driver) in others.items():
        if other.id != plugin.id and other.namespace == plugin.namespace:
            taken |= {
                plugins.job_id(other, name): (name, where) for name in (other_driver.roles if other_driver else ())
            }
    for role in driver.roles if driver else ():
        given = plugins.job_id(plugin, role)
        if given in taken:
            name, where = taken[given]
            allowed = f"an id of its own: the {name} job of {where} has it already"
            yield Problem(path=f"{path}.job_ids.{role}", got=repr(given), allowed=allowed)
        taken[given] = role, path


def _roles(plugin: spec.PluginSpec, driver: spec.DriverSpec, path: str) -> Iterator[Problem]:
    has = ", ".join(driver.roles)
    for name in ROLES:
        role = driver.roles.get(name)
        if role is None and name in plugin.model_fields_set:
            allowed = f"no {name} for {driver.name}, which has only: {has}"
            yield Problem(path=f"{path}.{name}", got="one", allowed=allowed, fix="remove it")
        if role is None or name == "node":
            continue
        given = getattr(plugin, name).count
        where = f"{path}.{name}.count"
        if given and plugins.job_type(plugin, name, role) == "system":
            allowed = "no count: a system job runs one instance on each eligible client"
            yield Problem(path=where, got=str(given), allowed=allowed, fix="remove it")
            continue
        if given and not role.count_minimum <= given <= (role.count_limit or given):
            limit = f"at least {role.count_minimum}" if given < role.count_minimum else f"at most {role.count_limit}"
            allowed = f"{limit} for {driver.name}: {role.count_advice}"
            yield Problem(path=where, got=str(given), allowed=allowed)


def _region(plugin: spec.PluginSpec, driver: spec.DriverSpec, path: str) -> Iterator[Problem]:
    where = f"{path}.aws_region"
    if driver.uses_aws and plugin.aws_region is None:
        yield Problem(path=where, got="nothing", allowed="a value", fix="add aws_region")
    if not driver.uses_aws and plugin.aws_region is not None:
        allowed = f"none: {driver.name} has no AWS region"
        yield Problem(path=where, got=repr(plugin.aws_region), allowed=allowed, fix="remove it")
    zone = plugin.availability_zone
    if zone and plugin.aws_region and not zone.startswith(plugin.aws_region):
        allowed = f"a zone of {plugin.aws_region}, the plugin's region"
        yield Problem(path=f"{path}.availability_zone", got=repr(zone), allowed=allowed)


def _task_drivers(plugin: spec.PluginSpec, path: str) -> Iterator[Problem]:
    yield from _task_driver(plugin, plugin.task_driver, f"{path}.task_driver")
    if plugin.task_driver.name == "exec":
        allowed = "docker, podman or raw_exec: what a task of exec mounts is not seen outside of it"
        fix = "put it under controller.task_driver, for the controller alone"
        yield Problem(path=f"{path}.task_driver.name", got="exec", allowed=allowed, fix=fix)
    if own := plugin.controller.task_driver:
        yield from _task_driver(plugin, own, f"{path}.controller.task_driver")


def _task_driver(plugin: spec.PluginSpec, task: spec.TaskDriverSpec, path: str) -> Iterator[Problem]:
    if task.name not in spec.CONTAINERS:
        if task.command is None:
            fix = "name the driver's binary on the clients"
            yield Problem(path=f"{path}.command", got="nothing", allowed=f"a command for {task.name}", fix=fix)
        if task.client_data_dir is None and task.name == "raw_exec":
            fix = "it is data_dir in the agent's configuration; no API reports it"
            allowed = "the clients' data directory for raw_exec"
            yield Problem(path=f"{path}.client_data_dir", got="nothing", allowed=allowed, fix=fix)
        if plugin.image and task is plugin.task_driver:
            allowed = "docker or podman where image is set"
            yield Problem(path=f"{path}.name", got=f"{task.name} with an image", allowed=allowed)
    elif task.command is not None or task.arguments:
        allowed = f"no command and no arguments for {task.name}: the image has its own"
        yield Problem(path=path, got="command or arguments", allowed=allowed, fix="use image and extra_arguments")


def _image(plugin: spec.PluginSpec, driver: spec.DriverSpec, path: str) -> Iterator[Problem]:
    if plugins.runs_image(plugin, driver) and not (plugin.image or driver.image):
        allowed = "an image, which the driver does not name"
        yield Problem(path=f"{path}.image", got="nothing", allowed=allowed, fix="add it")
    if plugins.is_image_unpinned(plugin):
        allowed = "an image with a tag other than latest, or a digest: or every client may run another version"
        yield Problem(path=f"{path}.image", got=repr(plugin.image), allowed=allowed)


def _constraints(plugin: spec.PluginSpec, path: str) -> Iterator[Problem]:
    for index, constraint in enumerate(plugin.constraints):
        where = f"{path}.constraints[{index}]"
        if not names.ATTRIBUTE.fullmatch(constraint.attribute):
            allowed = "one runtime variable of the client such as ${attr.cpu.arch}, ${meta.rack} or ${node.class}"
            yield Problem(path=f"{where}.attribute", got=repr(constraint.attribute), allowed=allowed)
        yield from secret_rules.job_text(constraint.value, f"{where}.value")


def _check_on_nodes(plugin: spec.PluginSpec, path: str) -> Iterator[Problem]:
    verify = plugin.verify
    asked = verify.on_nodes
    if asked is None:
        return
    if verify.evidence != "csi":
        allowed = "csi where on_nodes says how instances are asked"
        fix = "set it to csi, or remove on_nodes"
        yield Problem(path=f"{path}.evidence", got=repr(verify.evidence), allowed=allowed, fix=fix)
    if asked.image and not asked.state_dir:
        allowed = "the clients' state_dir with image: a container cannot find it"
        yield Problem(path=f"{path}.on_nodes.state_dir", got="nothing", allowed=allowed, fix="add it")
