"""
From a component's arguments to its plan, with the rules of the spec.

Every argument, and every part of one, may be an output, except those of `PLAIN`. Where none is, the plan is made at
once, and all problems are reported together before anything is declared; where one is, see `lifting`.
"""

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import pulumi
import pydantic

from nomad_csi import errors
from nomad_csi.components import lifting
from nomad_csi.drivers import catalogue
from nomad_csi.plan import jobs, model, plugin_plans, volumes
from nomad_csi.plan.rules import efs_rules, plugin_rules, snapshot_rules, volume_rules
from nomad_csi.spec import draft, encrypted, problems
from nomad_csi.spec import model as spec

SubjectT = TypeVar("SubjectT")
PlanT = TypeVar("PlanT")

PLAIN = {
    "driver": "it decides which jobs there are, and which rules hold",
    "iam": "whether it is there decides whether there is a policy; its fields may be outputs",
    "iam.required": "it decides whether there is a file system policy",
    "access_point": "whether it is there decides whether there is an access point; its fields may be outputs",
    "mount_targets": "their number decides how many there are; the fields of each may be outputs",
    "mount_targets[]": "it decides that there is one; its fields may be outputs",
    "protect": "Pulumi needs it when the program runs, as it does the resource option of that name",
    "render_to": "whether it is there decides whether there are files",
    "templates": "they are read when the program runs",
}
"""Arguments that are no outputs, each with the reason. All others may be outputs, as a whole and in every part."""

_WHOLE = {"iam": "mapping", "access_point": "mapping", "mount_targets": "list", "mount_targets[]": "mapping"}
"""Those of `PLAIN` in which outputs may be; the others may be read from the config."""

ALLOWED = "a value that is known when the program runs, not an output"

_SEPARATE: Mapping[str, Any] = {
    "plugin_id": spec.PluginId,
    "secrets": dict[str, spec.Text],
    "mount_flags": list[spec.Text],
    "kms_key_arn": spec.KmsKeyArn | None,
    "kms_key_arns": list[spec.KmsKeyArn],
    "file_system_arns": list[spec.Word],
}
"""
Types of arguments that are no part of a plan.

Storage is there before the plugin, whose id is known once it is healthy; a secret would make the whole plan secret; the
others are those of a schedule that a schedule of the spec does not have.
"""

_PLUGIN_ID = "known-later"
_SECRETS = {"known when registered": encrypted.PLACEHOLDER}

_PARTS = ("ebs.", "efs.", "existing.", "create.")
"""Parts of a volume in the spec whose fields are arguments of the component."""

_OTHERS: Mapping[str, Mapping[str, Any]] = {
    "ebs": {"availability_zone": "us-east-1a", "size_gib": 125},
    "existing": {"external_id": ""},
    "create": {"capacity_min_gib": 1},
    "efs": {
        "mount_targets": [{"availability_zone": "us-east-1a"}],
        "clients": {"cidr_blocks": ["192.0.2.0/24"]},
    },
    "file_system_id": {"file_system_id": "fs-00000000", "access_point": {"path": "/", "uid": 0, "gid": 0}},
    "iam": {"role_name": "other"},
}
"""Required arguments, by source, in a sketch of a plan: the part that is wanted depends on others."""


def owner() -> str:
    """Return ``project/stack``, the mark on everything that this program makes."""
    return f"{pulumi.get_project()}/{pulumi.get_stack()}"


def checked(name: str, value: pulumi.Input[Any], source: str = "") -> pulumi.Input[Any]:
    """Return *value* of the argument *name* of *source*, which is no part of a plan. Fails if it is not allowed."""
    adapter: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(_SEPARATE[name])
    return lifting.when_known(value, lambda known: _validated(adapter, name, known, source))


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Planner(Generic[SubjectT, PlanT]):
    """How the plan of a component is made."""

    source: str
    """The component as errors call it: ``EbsVolume data``."""

    identity: str = "name"
    """What says the id: the argument ``volume_id``, or the name of the component."""

    read: Callable[[Mapping[str, Any], list[errors.Problem]], SubjectT | None]
    """Returns the subject that arguments describe, or adds problems."""

    check: Callable[[SubjectT], Iterable[errors.Problem]]
    """Returns the problems of rules between arguments."""

    build: Callable[[SubjectT], PlanT]
    complete: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    """Adds required arguments to some of the arguments, for a sketch."""

    def lifted(self, args: Mapping[str, Any], found: Sequence[errors.Problem]) -> lifting.Lifted[PlanT]:
        """Return the plan of *args*, of which problems were *found*. Raises `errors.SpecError` with all problems."""
        found = [*found, *_plain_outputs(args, "")]
        if late := set(_late(args, "")):
            known: list[errors.Problem] = []
            self.read(_without_outputs(args), known)
            self._refuse([*found, *(item for item in known if not _concerns(self._named(item).path, late))])
        return lifting.Lifted(arguments=args, plan=lambda known: self._plan(known, found), sketch=self._sketch)

    def _plan(self, args: Mapping[str, Any], found: Sequence[errors.Problem]) -> PlanT:
        wrong = list(found)
        subject = self.read(args, wrong)
        self._refuse([*wrong, *(self.check(subject) if subject else ())])
        return self.build(subject)  # type: ignore[arg-type]  # without problems there is one

    def _sketch(self, args: Mapping[str, Any]) -> PlanT:
        wrong: list[errors.Problem] = []
        subject = self.read(self.complete(args), wrong)
        self._refuse(wrong)
        return self.build(subject)  # type: ignore[arg-type]  # as above

    def _refuse(self, found: Iterable[errors.Problem]) -> None:
        if named := tuple(map(self._named, found)):
            raise errors.SpecError(named, self.source)

    def _named(self, problem: errors.Problem) -> errors.Problem:
        """Return *problem* with the path that its argument has: ``size_gib`` for ``ebs.size_gib``."""
        path = argument(problem.path.removeprefix("."))
        return dataclasses.replace(problem, path=self.identity if path == "id" else path)


def plugin_plan(name: str, args: Mapping[str, Any]) -> lifting.Lifted[model.PluginPlan]:
    """Return the plan of a plugin with the arguments *args*. Raises `errors.SpecError` with all problems."""

    def read(known: Mapping[str, Any], found: list[errors.Problem]) -> tuple[spec.PluginSpec, spec.DriverSpec] | None:
        plugin = draft.check(spec.PluginSpec, {"id": name} | dict(known), "", found)
        driver = jobs.driver(plugin) if plugin else None
        if plugin and driver is None:
            found.append(catalogue.unknown(str(plugin.driver), "driver"))
        return (plugin, driver) if plugin and driver else None

    def complete(known: Mapping[str, Any]) -> Mapping[str, Any]:
        iam = {"iam": {**_OTHERS["iam"], **known["iam"]}} if "iam" in known else {}
        zone = {"aws_region": "us-east-1"} if iam else {}
        return {"driver": args.get("driver"), **zone, **known, **iam}

    planner = _Planner(
        source=f"CsiPlugin {name}",
        read=read,
        check=lambda subject: plugin_rules.check_plugin(*subject, ""),
        build=lambda subject: plugin_plans.plan_plugin(*subject),
        complete=complete,
    )
    return planner.lifted(args, ())


def plugin_driver(driver: Any) -> spec.DriverSpec:
    """Return the *driver* of a plan, given by name or by description: its roles have a job each."""
    described = _driver(driver, [])
    assert described is not None  # noqa: S101  # the plan was made with it
    return described


def volume_plan(
    name: str, args: Mapping[str, Any], kind: Any, described: Any, **source: type[spec.Model]
) -> lifting.Lifted[model.VolumePlan]:
    """
    Return the plan of the volume of the component *name* with the arguments *args* of the class *kind*.

    *described* is its driver, by name or by description; *source* the part of a volume in the spec that says where the
    storage comes from, such as ``ebs``, and its model. Outputs that are no part of the plan (see `checked`) have
    placeholders in it. Raises `errors.SpecError` with all problems.
    """
    [(part, of_part)] = source.items()
    of_volume = spec.VolumeSpec.model_fields.keys() - {"id", *spec.SOURCES}

    def read(known: Mapping[str, Any], found: list[errors.Problem]) -> tuple[spec.VolumeSpec, spec.DriverSpec] | None:
        document = chosen(known, *of_volume) | {part: chosen(known, *of_part.model_fields)}
        volume = draft.check(spec.VolumeSpec, {"id": known.get("volume_id") or name} | document, "", found)
        driver = _driver(described, found)
        return (volume, driver) if volume and driver else None

    def check(subject: tuple[spec.VolumeSpec, spec.DriverSpec]) -> Iterable[errors.Problem]:
        volume, driver = subject
        yield from volume_rules.check_volume(volume, driver, None, "")
        yield from snapshot_rules.check(volume, None, "")

    def complete(known: Mapping[str, Any]) -> Mapping[str, Any]:
        others = _OTHERS["file_system_id" if args.get("file_system_id") is not None else part]
        if known.get("capacity_min_bytes") is not None:
            others = {}
        iam = {"iam": {**_OTHERS["iam"], **known["iam"]}} if "iam" in known else {}
        return {"plugin_id": _PLUGIN_ID, **others, **known, **iam}

    planner = _Planner(
        source=f"{kind.__name__.removesuffix('Args')} {name}",
        read=read,
        check=check,
        build=lambda subject: volumes.plan_volume(*subject, owner=owner()),
        complete=complete,
        identity="name" if args.get("volume_id") is None else "volume_id",
    )
    return planner.lifted(_without_separate(args), _unknown(args, kind))


def file_system(name: str, args: Mapping[str, Any], kind: Any) -> lifting.Lifted[spec.FileSystemSpec]:
    """
    Return the file system *name* of a component with the arguments *args* of the class *kind*, and all its tags.

    Raises `errors.SpecError` with all problems.
    """

    def read(known: Mapping[str, Any], found: list[errors.Problem]) -> spec.FileSystemSpec | None:
        given = {key: known[key] for key in known if key in kind.__annotations__}
        return draft.check(spec.FileSystemSpec, given, "", found)

    def check(system: spec.FileSystemSpec) -> Iterable[errors.Problem]:
        yield from efs_rules.check_settings(system, "")
        yield from volume_rules.check_tags(system.tags, "")

    def build(system: spec.FileSystemSpec) -> spec.FileSystemSpec:
        return system.model_copy(update={"tags": volumes.file_system_tags(name, system.tags, owner())})

    def complete(known: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**known, "iam": {**_OTHERS["iam"], **known["iam"]}} if "iam" in known else known

    planner = _Planner(
        source=f"{kind.__name__.removesuffix('Args')} {name}", read=read, check=check, build=build, complete=complete
    )
    return planner.lifted(args, _unknown(args, kind))


def schedule(
    name: str, args: Mapping[str, Any], kind: Any, own: Sequence[str]
) -> lifting.Lifted[spec.SnapshotScheduleSpec]:
    """
    Return the schedule *name* of a component with the arguments *args* of the class *kind*.

    *own* are arguments that a schedule of the spec does not have. Raises `errors.SpecError` with all problems.
    """
    _validated(pydantic.TypeAdapter(spec.ScheduleName), "name", name, f"{kind.__name__.removesuffix('Args')} {name}")

    def read(known: Mapping[str, Any], found: list[errors.Problem]) -> spec.SnapshotScheduleSpec | None:
        written = {key: value for key, value in known.items() if key not in own and key in kind.__annotations__}
        return draft.check(spec.SnapshotScheduleSpec, written, "", found)

    planner: _Planner[spec.SnapshotScheduleSpec, spec.SnapshotScheduleSpec] = _Planner(
        source=f"{kind.__name__.removesuffix('Args')} {name}",
        read=read,
        check=lambda _: (),
        build=lambda item: item,
        complete=lambda known: known,
    )
    return planner.lifted(args, _unknown(args, kind))


def _driver(described: Any, found: list[errors.Problem]) -> spec.DriverSpec | None:
    if isinstance(described, Mapping):
        return draft.check(spec.DriverSpec, described, "driver", found)
    driver = catalogue.find(described) if isinstance(described, str) else None
    if driver is None:
        found.append(catalogue.unknown(str(described), "driver"))
    return driver


def argument(path: str) -> str:
    """Return the argument whose value stands at *path* in the spec's document."""
    return path.removeprefix(next((part for part in _PARTS if path.startswith(part)), ""))


def _unknown(args: Mapping[str, Any], kind: Any) -> list[errors.Problem]:
    known = sorted(kind.__required_keys__ | kind.__optional_keys__)
    return [problems.unknown_key(key, known, problems.suggestion(key, known)) for key in args if key not in known]


def chosen(args: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return those of *args* that are named and given."""
    return {name: args[name] for name in names if args.get(name) is not None}


# Outputs in arguments.


def _without_separate(args: Mapping[str, Any]) -> dict[str, Any]:
    """Return *args* with a placeholder for each output that is no part of a plan."""
    found = dict(args)
    if lifting.is_output(args.get("plugin_id")):
        found["plugin_id"] = _PLUGIN_ID
    if lifting.has_output(secrets := args.get("secrets")):
        found["secrets"] = dict.fromkeys(secrets, encrypted.PLACEHOLDER) if isinstance(secrets, Mapping) else _SECRETS
    options = args.get("mount_options")
    if lifting.is_output(options):
        found["mount_options"] = pulumi.Output.from_input(options).apply(_hide_flags)
    elif isinstance(options, Mapping) and lifting.has_output(flags := options.get("mount_flags")):
        listed = flags if isinstance(flags, list | tuple) else [flags]
        hidden = [encrypted.PLACEHOLDER if lifting.is_output(flag) else flag for flag in listed]
        found["mount_options"] = {**options, "mount_flags": hidden}
    return found


def _hide_flags(options: Any) -> Any:
    """Return *options* for mounting with a placeholder for each flag: any of an output may be secret."""
    flags = options.get("mount_flags") if isinstance(options, Mapping) else None
    return {**options, "mount_flags": [encrypted.PLACEHOLDER for _ in flags]} if flags else options


def mount_flags(args: Mapping[str, Any]) -> pulumi.Input[Sequence[str]]:
    """Return the mount flags in the arguments of a volume; what is an output of them fails if it is not allowed."""
    options = args.get("mount_options") or {}
    if not lifting.is_output(options):
        return checked("mount_flags", options.get("mount_flags") or [])
    flags = pulumi.Output.from_input(options).apply(lambda known: (known or {}).get("mount_flags") or [])
    return pulumi.Output.from_input(checked("mount_flags", flags)).apply(lambda known: known or None)


def _late(value: Any, path: str) -> Iterable[str]:
    """Yield the path of each output in *value*, which stands at *path*."""
    if lifting.is_output(value):
        yield path
    for name, item in _items(value, path):
        yield from _late(item, name)


def _plain_outputs(value: Any, path: str) -> Iterable[errors.Problem]:
    """Yield a problem for each output where none can be."""
    place = re.sub(r"\[\d+\]", "[]", path)
    if lifting.is_output(value) and place in PLAIN:
        instead = f"the {_WHOLE[place]} itself" if place in _WHOLE else "the value, or read it from pulumi.Config"
        yield errors.Problem(path=path, got="an output", allowed=ALLOWED, fix=f"write {instead}: {PLAIN[place]}")
    for name, item in _items(value, path):
        yield from _plain_outputs(item, name)


def _items(value: Any, path: str) -> Iterable[tuple[str, Any]]:
    if isinstance(value, Mapping):
        yield from ((f"{path}.{name}".lstrip("."), item) for name, item in value.items())
    elif isinstance(value, list | tuple):
        yield from ((f"{path}[{index}]", item) for index, item in enumerate(value))


def _without_outputs(value: Any) -> Any:
    """Return *value* with nothing instead of outputs; the items of a list keep their places."""
    if isinstance(value, Mapping):
        return {name: _without_outputs(item) for name, item in value.items() if not lifting.is_output(item)}
    if isinstance(value, list | tuple):
        return [_without_outputs(item) for item in value]
    return None if lifting.is_output(value) else value


def _concerns(path: str, late: Iterable[str]) -> bool:
    """Return whether a problem at *path* may be that of an argument that is not known yet."""
    return path in ("", *spec.SOURCES) or any(f"{item}.".startswith((f"{path}.", f"{path}[")) for item in late)


def _validated(adapter: pydantic.TypeAdapter[Any], name: str, value: Any, source: str = "") -> Any:
    try:
        return adapter.validate_python(value)
    except pydantic.ValidationError as error:
        allowed = str((error.errors()[0].get("ctx") or {}).get("error") or error.errors()[0]["msg"])
        got = "[secret]" if name in ("secrets", "mount_flags") else problems.shown(value)
        raise errors.SpecError((errors.Problem(path=name, got=got, allowed=allowed),), source) from None
