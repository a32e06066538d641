"""
From a component's arguments to its plan, with the rules of the spec.

Every argument, and every part of one, may be an output, except those of `PLAIN`. Where none is, the plan is made at
once, and all problems are reported together before anything is declared; where one is, see `lifting`.
"""

import dataclasses
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import pulumi
import pydantic

from nomad_csi import errors
from nomad_csi.components import lifting, program, scope
from nomad_csi.drivers import catalogue
from nomad_csi.plan import model, plugins, rules, storage, volumes
from nomad_csi.spec import draft, encrypted, names, problems
from nomad_csi.spec import model as spec

ModelT = TypeVar("ModelT", bound=spec.Model)
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

FILES = frozenset({"render_to", "templates"})
"""Arguments about files."""

ALLOWED = "a value that is known when the program runs, not an output"

_SEPARATE: Mapping[str, Any] = {
    "plugin_id": spec.PluginId,
    "secrets": dict[str, spec.Text],
    "mount_flags": list[spec.Text],
    "kms_key_arn": spec.KmsKeyArn | None,
    "kms_key_arns": list[spec.KmsKeyArn],
    "file_system_arns": list[spec.Word],
    "file_system_id": spec.FileSystemId,
}
"""
Types of arguments that are no part of a plan.

Storage is there before the plugin, whose id is known once it is healthy; a secret would make the whole plan secret; the
others are those of a schedule that a schedule of the spec does not have.
"""

_PLUGIN_ID = "known-later"
_SECRETS = {"known when registered": encrypted.PLACEHOLDER}

_PLACEHOLDERS: Mapping[str, Any] = {
    "availability_zone": "us-east-1a",
    "path": "/",
    "uid": 0,
    "gid": 0,
    "role_name": "other",
}
"""Values by key where an output is, and the spec wants one: only to read the rest. No rule sees them."""

_PARTS = ("ebs.", "efs.", "existing.", "create.")
"""Parts of a volume in the spec whose fields are arguments of the component."""

_SYSTEM = re.compile(r"\bfile_systems\.([\w-]+)")
_OF_SYSTEM = re.compile(rf"{_SYSTEM.pattern}\.([a-z_]+(?:\.[a-z_]+)*)")
"""How a spec names a file system, and a key of it."""

_OTHERS: Mapping[str, Mapping[str, Any]] = {
    "ebs": {"availability_zone": "us-east-1a", "size_gib": 125},
    "existing": {"external_id": ""},
    "create": {"capacity_min_gib": 1},
    "efs": {
        "mount_targets": [{"availability_zone": "us-east-1a"}],
        "clients": {"cidr_blocks": ["192.0.2.0/24"]},
    },
    "file_system_id": {"file_system_id": "fs-00000000", "access_point": {"path": "/", "uid": 0, "gid": 0}},
}
"""Required arguments, by source, in a sketch of a plan: the part that is wanted depends on others."""

_INSTEAD = {"capacity_min_gib": "capacity_min_bytes", "file_system_id": "file_system"}
"""Required arguments -> what may be given instead."""

_IAM = {"role_name": "other"}


def plugin_id(component: pulumi.ComponentResource, name: str, args: Mapping[str, Any]) -> pulumi.Input[str]:
    """
    Return the id of the plugin of the volume *name*, whose component has the arguments *args*.

    As an output it fails once it is known, if it is not allowed, or is that of a plugin that cannot serve the volume.
    """
    given = checked("plugin_id", args["plugin_id"])
    own = scope.scope()
    if isinstance(args, program.Planned) or not lifting.is_output(given) or own.component_of(args["plugin_id"]):
        return given
    called, declared = f"{type(component).__name__} {name}", own.declared(component)

    def checked_again(known: str) -> str:
        if wrong := tuple(declared.set_plugin(called, known)):
            raise errors.SpecError(tuple(of_argument(problem, called) for problem in wrong), called)
        _warn_of_keys(own, declared, called)
        return known

    return lifting.when_known(given, checked_again)


def checked(name: str, value: pulumi.Input[Any], source: str = "") -> pulumi.Input[Any]:
    """Return *value* of the argument *name* of *source*, which is no part of a plan. Fails if it is not allowed."""
    adapter: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(_SEPARATE[name])
    return lifting.when_known(value, lambda known: _validated(adapter, name, known, source))


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Planner(Generic[ModelT, PlanT]):
    """How the plan of a component is made."""

    source: str
    """The component as errors call it: ``EbsVolume data``."""

    identity: str = "name"
    """What says the id: the argument ``volume_id``, or the name of the component."""

    model: type[ModelT]
    """The part of a spec that the arguments describe."""

    document: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    """Returns arguments as the spec has them."""

    declare: Callable[[ModelT], Iterable[errors.Problem]]
    """Returns the problems of rules, also those with what else the program declares."""

    build: Callable[[ModelT], PlanT]
    others: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """Required arguments, for a sketch of some of the arguments."""

    part: str = ""
    """The part of the model that has the arguments *of_part*: ``ebs``."""

    of_part: Collection[str] = ()

    def lifted(self, args: Mapping[str, Any], earlier: Sequence[errors.Problem] = ()) -> lifting.Lifted[PlanT]:
        """Return the plan of *args*; *earlier* are problems of theirs. Raises `errors.SpecError` with all problems."""
        earlier = [*earlier, *_plain_outputs(args, ())]
        return lifting.Lifted(
            args,
            plan=lambda known: self.build(_sound(self._judged(known, earlier))),
            judge=lambda known: self._judged(known, earlier),
            sketch=self._sketch,
        )

    def _read(self, args: Mapping[str, Any], wrong: list[errors.Problem]) -> ModelT | None:
        return draft.check(self.model, self.document(args), "", wrong)

    def _completed(self, args: Mapping[str, Any]) -> Mapping[str, Any]:
        others = {key: value for key, value in self.others.items() if args.get(_INSTEAD.get(key, key)) is None}
        iam = {"iam": {**_IAM, **args["iam"]}} if "iam" in args else {}
        return {**others, **args, **iam}

    def _judged(self, args: Mapping[str, Any], earlier: Sequence[errors.Problem]) -> ModelT | None:
        """
        Return what *args* describe. Raises the problems of what is known of it.

        Outputs have placeholders in it; ``None``: too little is known yet.
        """
        late = set(_late(args, ()))
        wrong: list[errors.Problem] = []
        model = self._read(_without_outputs(args), wrong)
        paths = {errors.path_of("", location) for location in late}
        wrong = [item for item in wrong if not late or not _concerns(self._named(item).path, paths)]
        misspelt = {item.fix for item in earlier}
        wrong = [*earlier, *(item for item in wrong if f"did you mean {self._named(item).path}?" not in misspelt)]
        if model is None and not wrong:
            model = self._read(self._completed(_without_outputs(args, in_place=False)), [])
        if model is not None:
            wrong += self.declare(rules.partly(model, {self._location(each) for each in late}))
        self._refuse(wrong)
        return model

    def _location(self, argument: rules.Location) -> rules.Location:
        """Return where the value of an *argument* is in the model."""
        return (self.part, *argument) if argument[0] in self.of_part else argument

    def _sketch(self, args: Mapping[str, Any]) -> PlanT:
        wrong: list[errors.Problem] = []
        model = self._read(self._completed(args), wrong)
        self._refuse(wrong)
        return self.build(_sound(model))

    def _refuse(self, wrong: Iterable[errors.Problem]) -> None:
        if named := tuple(map(self._named, wrong)):
            raise errors.SpecError(named, self.source)

    def _named(self, problem: errors.Problem) -> errors.Problem:
        """Return *problem* with the path that its argument has: ``size_gib`` for ``ebs.size_gib``."""
        named = of_argument(problem, self.source)
        return dataclasses.replace(named, path=self.identity) if named.path == "id" else named


def _sound(model: ModelT | None) -> ModelT:
    assert model is not None  # noqa: S101  # all of it is known, and without problems there is one
    return model


def plugin_plan(
    component: pulumi.ComponentResource, name: str, args: Mapping[str, Any]
) -> lifting.Lifted[model.PluginPlan]:
    """Return the plan of the plugin *name* with the arguments *args*. Raises `errors.SpecError` with all problems."""
    if isinstance(args, program.Planned):
        return lifting.ready(args)
    source, own, described = f"CsiPlugin {name}", scope.scope(), args.get("driver")

    def declare(plugin: spec.PluginSpec) -> Iterable[errors.Problem]:
        try:
            driver = plugins.driver(plugin)
        except rules.UnknownValueError:  # the image: its version is not known
            driver = plugin_driver(described)
        declared = own.declared(component)
        yield from declared.add_plugin(source, plugin, driver)
        _warn_of_keys(own, declared, source)

    def build(plugin: spec.PluginSpec) -> model.PluginPlan:
        return plugins.plan_plugin(plugin, plugins.driver(plugin) or plugin_driver(plugin.driver))

    planner = _Planner(
        source=source,
        model=spec.PluginSpec,
        document=lambda known: {"id": name} | dict(known),
        declare=declare,
        build=build,
        others={"driver": described, **({"aws_region": "us-east-1"} if "iam" in args else {})},
    )
    return planner.lifted({key: value for key, value in args.items() if key not in FILES})


def _warn_of_keys(own: scope.Scope, declared: storage.Declared, name: str) -> None:
    for sentence in declared.lacking_keys(name):
        own.warn_once(sentence)


def plugin_driver(driver: Any) -> spec.DriverSpec:
    """Return the *driver* of a plan, given by name or by description: its roles have a job each."""
    described = _driver(driver, [])
    assert described is not None  # noqa: S101  # the plan was made with it
    return described


def volume_plan(
    component: pulumi.ComponentResource,
    name: str,
    args: Mapping[str, Any],
    kind: Any,
    described: Any,
    **source: type[spec.Model],
) -> lifting.Lifted[model.VolumePlan]:
    """
    Return the plan of the volume of *component*, called *name*, with the arguments *args* of the class *kind*.

    *described* is its driver, by name or by description; *source* the part of a volume in the spec that says where the
    storage comes from, such as ``ebs``, and its model. Outputs that are no part of the plan (see `checked`) have
    placeholders in it. Raises `errors.SpecError` with all problems.
    """
    if isinstance(args, program.Planned):
        return lifting.ready(args)
    [(part, of_part)] = source.items()
    of_volume = spec.VolumeSpec.model_fields.keys() - {"id", *spec.SOURCES}
    wrong = _unknown(args, kind)
    driver = _driver(described, wrong)
    own, called = scope.scope(), f"{kind.__name__.removesuffix('Args')} {name}"

    def document(known: Mapping[str, Any]) -> Mapping[str, Any]:
        own_part = {part: chosen(known, *of_part.model_fields)}
        return {"id": known.get("volume_id") or name} | chosen(known, *of_volume) | own_part

    def declare(volume: spec.VolumeSpec) -> Iterable[errors.Problem]:
        if driver is None:
            return
        declared = own.declared(component)
        yield from declared.add_volume(called, volume, driver)
        _warn_of_keys(own, declared, called)

    planner = _Planner(
        source=called,
        model=spec.VolumeSpec,
        document=document,
        declare=declare,
        build=lambda volume: volumes.plan_volume(volume, driver, owner=program.owner()),  # type: ignore[arg-type]  # else refused
        others={"plugin_id": _PLUGIN_ID, **_OTHERS[part if args.get("file_system_id") is None else "file_system_id"]},
        identity="name" if args.get("volume_id") is None else "volume_id",
        part=part,
        of_part=of_part.model_fields,
    )
    return planner.lifted(_without_separate(args, own), wrong)


def file_system(
    component: pulumi.ComponentResource, name: str, args: Mapping[str, Any], kind: Any
) -> lifting.Lifted[spec.FileSystemSpec]:
    """
    Return the file system *name* of *component* with the arguments *args* of the class *kind*, and all its tags.

    Raises `errors.SpecError` with all problems.
    """
    if isinstance(args, program.Planned):
        return lifting.ready(args)
    declared, source = scope.scope().declared(component), f"{kind.__name__.removesuffix('Args')} {name}"
    planner = _Planner(
        source=source,
        model=spec.FileSystemSpec,
        document=lambda known: chosen(known, *kind.__annotations__),
        declare=lambda system: declared.add_file_system(name, system, source),
        build=lambda system: volumes.tagged_file_system(name, system, program.owner()),
    )
    return planner.lifted(args, _unknown(args, kind))


def schedule(
    name: str, args: Mapping[str, Any], kind: Any, own: Sequence[str]
) -> lifting.Lifted[spec.SnapshotScheduleSpec]:
    """
    Return the schedule *name* of a component with the arguments *args* of the class *kind*.

    *own* are arguments that a schedule of the spec does not have. Raises `errors.SpecError` with all problems.
    """
    if isinstance(args, program.Planned):
        return lifting.ready(args)
    source = f"{kind.__name__.removesuffix('Args')} {name}"
    _validated(pydantic.TypeAdapter(spec.ScheduleName), "name", name, source)
    planner: _Planner[spec.SnapshotScheduleSpec, spec.SnapshotScheduleSpec] = _Planner(
        source=source,
        model=spec.SnapshotScheduleSpec,
        document=lambda known: chosen(known, *(kind.__annotations__.keys() - own)),
        declare=lambda _: (),
        build=lambda item: item,
    )
    return planner.lifted(args, _unknown(args, kind))


def _driver(described: Any, wrong: list[errors.Problem]) -> spec.DriverSpec | None:
    if isinstance(described, Mapping):
        return draft.check(spec.DriverSpec, described, "driver", wrong)
    driver = catalogue.find(described) if isinstance(described, str) else None
    if driver is None:
        unknown_driver = catalogue.unknown(str(described), "driver")
        wrong.append(unknown_driver if described else dataclasses.replace(unknown_driver, got="nothing"))
    return driver


def of_argument(problem: errors.Problem, source: str = "") -> errors.Problem:
    """
    Return *problem* of a part of a spec in the words of a program: ``size_gib`` for ``ebs.size_gib``.

    *source* is the component whose problem it is, as errors call it; that of another keeps its path.
    """
    path = problem.path.removeprefix(f"{source}.")
    path = path.removeprefix(next(filter(path.startswith, _PARTS), ""))
    fix = _OF_SYSTEM.sub(r"\2 of EfsFileSystem \1", problem.fix).replace("efs.iam of a volume", "iam of an EfsVolume")
    return dataclasses.replace(problem, path=path, got=_SYSTEM.sub(r"EfsFileSystem \1", problem.got), fix=fix)


def _unknown(args: Mapping[str, Any], kind: Any) -> list[errors.Problem]:
    known = sorted(kind.__required_keys__ | kind.__optional_keys__)
    return [problems.unknown_key(key, known, problems.suggestion(key, known)) for key in args if key not in known]


def chosen(args: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return those of *args* that are named and given."""
    return {name: args[name] for name in names if args.get(name) is not None}


# Outputs in arguments.


def _without_separate(args: Mapping[str, Any], own: scope.Scope) -> dict[str, Any]:
    """
    Return *args* as a spec has them: with the names of components whose outputs they have.

    There is a placeholder for each other output that is no part of a plan.
    """
    written = dict(args)
    if lifting.is_output(plugin_id := args.get("plugin_id")):
        written["plugin_id"] = own.component_of(plugin_id) or _PLUGIN_ID
    system = own.component_of(args.get("file_system_id"))
    if system and names.FILE_SYSTEM_NAME.fullmatch(system):
        del written["file_system_id"]
        written["file_system"] = system
    if lifting.has_output(secrets := args.get("secrets")):
        written["secrets"] = dict.fromkeys(secrets, encrypted.PLACEHOLDER) if isinstance(secrets, Mapping) else _SECRETS
    options = args.get("mount_options")
    if lifting.is_output(options):
        written["mount_options"] = pulumi.Output.from_input(options).apply(_hide_flags)
    elif isinstance(options, Mapping) and lifting.has_output(flags := options.get("mount_flags")):
        listed = flags if isinstance(flags, list | tuple) else [flags]
        hidden = [encrypted.PLACEHOLDER if lifting.is_output(flag) else flag for flag in listed]
        written["mount_options"] = {**options, "mount_flags": hidden}
    return written


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


def _late(value: Any, at: rules.Location) -> Iterable[rules.Location]:
    """Yield where each output in *value* is; *value* itself is *at* that location of the arguments."""
    if lifting.is_output(value):
        yield at
    for step, item in _items(value):
        yield from _late(item, (*at, step))


def _plain_outputs(value: Any, at: rules.Location) -> Iterable[errors.Problem]:
    """Yield a problem for each output where none can be."""
    path = errors.path_of("", at)
    pattern = re.sub(r"\[\d+\]", "[]", path)
    if lifting.is_output(value) and pattern in PLAIN:
        instead = f"the {_WHOLE[pattern]} itself" if pattern in _WHOLE else "the value, or read it from pulumi.Config"
        yield errors.Problem(path=path, got="an output", allowed=ALLOWED, fix=f"write {instead}: {PLAIN[pattern]}")
    for step, item in _items(value):
        yield from _plain_outputs(item, (*at, step))


def _items(value: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(value, Mapping):
        return value.items()
    return enumerate(value) if isinstance(value, list | tuple) else ()


def _without_outputs(value: Any, *, in_place: bool = True) -> Any:
    """Return *value* with placeholders instead of outputs, or nothing; ``None`` is *in_place* of an item of a list."""
    if isinstance(value, Mapping):
        values = {
            name: _PLACEHOLDERS.get(name) if lifting.is_output(item) else _without_outputs(item, in_place=in_place)
            for name, item in value.items()
        }
        return {name: item for name, item in values.items() if item is not None}
    if isinstance(value, list | tuple):
        items = value if in_place else [item for item in value if not lifting.is_output(item)]
        return [_without_outputs(item, in_place=in_place) for item in items]
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
