"""
From a component's arguments to its plan, with the rules of the spec, and with values that are not known yet.

An output of another resource cannot be checked when the program runs. A placeholder value of the right form takes its
place for the rules; the output itself goes to the resources through `checked`, which checks it once it is known.
"""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

import pulumi
import pydantic

from nomad_csi import errors
from nomad_csi.drivers import catalogue
from nomad_csi.plan import jobs, model, plugin_plans, volumes
from nomad_csi.plan.rules import efs_rules, plugin_rules, snapshot_rules, volume_rules
from nomad_csi.spec import draft, encrypted, problems
from nomad_csi.spec import model as spec

_LATE = {
    "kms_key_arn": (spec.KmsKeyArn, "arn:aws:kms:us-east-1:000000000000:key/known-later"),
    "file_system_id": (spec.FileSystemId, "fs-00000000"),
    "subnet_id": (spec.SubnetId, "subnet-00000000"),
    "security_group_ids": (spec.SecurityGroupId, "sg-00000000"),
    "cidr_blocks": (spec.CidrBlock, "192.0.2.0/24"),
    "role_name": (spec.RoleName, "known-later"),
    "plugin_id": (spec.PluginId, "known-later"),
    "external_id": (spec.Text, ""),
    "schedule": (spec.ScheduleName, "known-later"),
    "secrets": (dict[str, spec.Text], {"known when registered": "later"}),
    "secret": (spec.Text, "known-later"),
    "mount_flag": (spec.Text, encrypted.PLACEHOLDER),
}
"""
Values that other resources may decide, or that are secret: their type, and a value of that type.

``secret`` is one of the secrets. A mount flag that is an output is one of those that stand in no file.
"""

PLACES = {
    "plugin_id": "plugin_id",
    "secrets": "secrets",
    "secrets.*": "secret",
    "mount_options.mount_flags[]": "mount_flag",
    "snapshots[]": "schedule",
    "iam.role_name": "role_name",
    "file_system_id": "file_system_id",
    "external_id": "external_id",
    "kms_key_arn": "kms_key_arn",
    "mount_targets[].subnet_id": "subnet_id",
    "clients.cidr_blocks[]": "cidr_blocks",
    "clients.security_group_ids[]": "security_group_ids",
}
"""The arguments that they may be, or be in. Anywhere else a value is needed when the program runs."""

_PARTS = ("ebs.", "efs.", "existing.", "create.")
"""Parts of a volume in the spec whose fields are arguments of the component."""


def owner() -> str:
    """Return ``project/stack``, the mark on everything that this program makes."""
    return f"{pulumi.get_project()}/{pulumi.get_stack()}"


def checked(name: str, value: pulumi.Input[Any]) -> pulumi.Input[Any]:
    """Return *value* of the argument *name*; where it is an output, one that fails if its value is not allowed."""
    if not isinstance(value, pulumi.Output):
        return value
    adapter: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(_LATE[name][0])
    return value.apply(lambda known: _validated(adapter, name, known))


def checked_external_id(described: Any, value: pulumi.Input[str]) -> pulumi.Input[str]:
    """Return the external id *value*; where it is an output, one that fails if the driver *described* has no such."""
    driver = _driver(described, [])
    if driver is None or not isinstance(value, pulumi.Output):
        return value
    rule = driver.external_id

    def known(external_id: str) -> str:
        if not rule.fits(external_id):
            problem = errors.Problem(path="external_id", got=problems.shown(external_id), allowed=rule.allowed)
            raise errors.SpecError((problem,))
        return external_id

    return value.apply(known)


def plugin_plan(name: str, args: Mapping[str, Any]) -> model.PluginPlan:
    """Return the plan of a plugin with the arguments *args*. Raises `errors.SpecError` with all problems."""
    plugin, found = _read(spec.PluginSpec, {"id": name} | dict(args))
    if plugin:
        driver = jobs.driver(plugin)
        found += (
            plugin_rules.check_plugin(plugin, driver, "")
            if driver
            else [catalogue.unknown(str(plugin.driver), "driver")]
        )
        if driver and not found:
            return plugin_plans.plan_plugin(plugin, driver)
    raise errors.SpecError(tuple(_component_problem(problem) for problem in found), f"CsiPlugin {name}")


def volume_plan(
    name: str, args: Mapping[str, Any], kind: Any, described: Any, document: Mapping[str, Any]
) -> model.VolumePlan:
    """
    Return the plan of the volume *name* of a component with the arguments *args* of the class *kind*.

    *described* is its driver, by name or by description, *document* the same volume as in the spec. Raises
    `errors.SpecError` with all problems.
    """
    unknown = _unknown(args, kind)
    volume, found = _read(spec.VolumeSpec, {"id": name} | dict(document))
    found = [*unknown, *found]
    driver = _driver(described, found)
    if driver and volume:
        ruled = [*volume_rules.check_volume(volume, driver, None, ""), *snapshot_rules.check(volume, None, "")]
        found += [problem for problem in ruled if not _is_late(problem, document)]
        if not found:
            return volumes.plan_volume(volume, driver, owner=owner())
    raise errors.SpecError(tuple(_component_problem(problem) for problem in found), _source(kind, name))


def file_system(name: str, args: Mapping[str, Any], kind: Any) -> spec.FileSystemSpec:
    """
    Return the file system *name* of a component with the arguments *args* of the class *kind*, and all its tags.

    Raises `errors.SpecError` with all problems.
    """
    found = _unknown(args, kind)
    value, wrong = _read(spec.FileSystemSpec, {key: args[key] for key in args if key in kind.__annotations__})
    if value is not None:
        wrong += [*efs_rules.check_settings(value, ""), *volume_rules.check_tags(value.tags, "")]
    if value is None or found or wrong:
        raise errors.SpecError(tuple(_component_problem(problem) for problem in (*found, *wrong)), _source(kind, name))
    tags = volumes.file_system_tags(name, value.tags, owner())
    return cast("spec.FileSystemSpec", value.model_copy(update={"tags": tags}))


def schedule(name: str, args: Mapping[str, Any], kind: Any, own: Sequence[str]) -> spec.SnapshotScheduleSpec:
    """
    Return the schedule *name* of a component with the arguments *args* of the class *kind*.

    *own* are arguments that a schedule of the spec does not have. Raises `errors.SpecError` with all problems.
    """
    _validated(pydantic.TypeAdapter(spec.ScheduleName), "name", name)
    found = _unknown(args, kind)
    written = {key: value for key, value in args.items() if key not in own and key in kind.__annotations__}
    value, wrong = _read(spec.SnapshotScheduleSpec, written)
    if value is None or found:
        raise errors.SpecError((*found, *wrong), _source(kind, name))
    return cast("spec.SnapshotScheduleSpec", value)


def _source(kind: Any, name: str) -> str:
    """Return the component *name* as errors call it: ``EbsVolume data`` for the class ``EbsVolumeArgs``."""
    return f"{kind.__name__.removesuffix('Args')} {name}"


def _driver(described: Any, found: list[errors.Problem]) -> spec.DriverSpec | None:
    if isinstance(described, Mapping):
        return draft.check(spec.DriverSpec, described, "driver", found)
    driver = catalogue.find(described) if isinstance(described, str) else None
    if driver is None:
        found.append(catalogue.unknown(str(described), "driver"))
    return driver


def _component_problem(problem: errors.Problem) -> errors.Problem:
    """Return *problem* with the path that its argument has: ``size_gib`` for ``ebs.size_gib``."""
    return dataclasses.replace(problem, path=argument(problem.path.removeprefix(".")))


def argument(path: str) -> str:
    """Return the argument whose value stands at *path* in the spec's document."""
    return path.removeprefix(next((part for part in _PARTS if path.startswith(part)), ""))


def _unknown(args: Mapping[str, Any], kind: Any) -> list[errors.Problem]:
    known = sorted(kind.__required_keys__ | kind.__optional_keys__)
    return [problems.unknown_key(key, known, problems.suggestion(key, known)) for key in args if key not in known]


def chosen(args: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return those of *args* that are named and given."""
    return {name: args[name] for name in names if args.get(name) is not None}


def _is_late(problem: errors.Problem, document: Mapping[str, Any]) -> bool:
    existing = document.get("existing") or {}
    return problem.path == ".existing.external_id" and isinstance(existing.get("external_id"), pulumi.Output)


def _read(kind: type[Any], document: Mapping[str, Any]) -> tuple[Any, list[errors.Problem]]:
    found: list[errors.Problem] = []
    plain = _plain(document, "", found)
    late = {problem.path for problem in found}
    ruled: list[errors.Problem] = []
    value = draft.check(kind, plain, "", ruled)
    found += [problem for problem in ruled if problem.path not in late]
    return (None if found else value), found


def _plain(value: Any, path: str, found: list[errors.Problem]) -> Any:
    """Return *value*, which stands at *path*, with a placeholder for each output."""
    if isinstance(value, pulumi.Output):
        place = re.sub(r"^secrets\..*", "secrets.*", re.sub(r"\[\d+\]", "[]", argument(path)))
        if place in PLACES:
            return _LATE[PLACES[place]][1]
        allowed = "a value that is known when the program runs, not an output"
        found.append(errors.Problem(path=path, got="an output", allowed=allowed))
        return None
    if isinstance(value, Mapping):
        return {name: _plain(item, f"{path}.{name}".lstrip("."), found) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, f"{path}[{index}]", found) for index, item in enumerate(value)]
    return value


def _validated(adapter: pydantic.TypeAdapter[Any], name: str, value: Any) -> Any:
    try:
        return adapter.validate_python(value)
    except pydantic.ValidationError as error:
        allowed = str((error.errors()[0].get("ctx") or {}).get("error") or error.errors()[0]["msg"])
        got = "[secret]" if name == "secrets" else problems.shown(value)
        raise errors.SpecError((errors.Problem(path=name, got=got, allowed=allowed),)) from None
