"""
All that a spec, or a program of components, declares for one cluster: every rule, and the plan of a spec.

A rule between two items runs with the second. In a spec all plugins and file systems are known before the first volume.
A program declares them in any order, and some of their values are known later (`plan.unknown`): then the component is
added again.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nomad_csi import errors
from nomad_csi.drivers import catalogue
from nomad_csi.plan import jobs, model, plugin_plans, volumes
from nomad_csi.plan.rules import efs_rules, plugin_rules, volume_rules
from nomad_csi.plan.unknown import UnknownValueError, known
from nomad_csi.spec import draft as drafts
from nomad_csi.spec import encrypted, names, problems
from nomad_csi.spec import model as spec

_OF_ANOTHER = "add it under plugins; for a plugin of another stack, declare the volume with a component"
"""Fix of a volume whose plugin is not in the spec: the rules between the two need its driver."""


def plan_document(document: Any, *, source: str = "", owner: str = "") -> model.StoragePlan:
    """
    Return the plan of a spec *document*: a mapping with ``plugins``, ``volumes`` and ``protect``.

    Strings in it may be `encrypted.Encrypted` where they stay secret.

    *source* names the document in errors; *owner* (``project/stack``) goes into AWS tags.
    Raises `errors.SpecError` with all problems of the spec's values and rules.
    """
    exposed = tuple(encrypted.check(document))
    found: list[errors.Problem] = []
    plan = Declared().add_spec(document, found, owner=owner, keep=False)
    wrong = [*exposed, *(problem for problem in found if not any(_overlaps(problem, other) for other in exposed))]
    if wrong or plan is None:
        raise errors.SpecError(drafts.fold_sets(wrong, document), source, drafts.ids(document))
    return plan


def _overlaps(problem: errors.Problem, other: errors.Problem) -> bool:
    return other.path.startswith(problem.path) or problem.path.startswith(other.path)


@dataclass(frozen=True, kw_only=True)
class _UsedPlugin:
    plugin: spec.PluginSpec | None
    """``None`` where it has an invalid value."""

    driver: spec.DriverSpec | None
    """``None`` where it is unknown."""


@dataclass(frozen=True, kw_only=True)
class _KnownVolume:
    volume: spec.VolumeSpec
    driver: spec.DriverSpec


class Declared:
    """The plugins, file systems and volumes declared so far for one cluster, by their paths in errors."""

    def __init__(self) -> None:
        self._plugins: dict[str, tuple[spec.PluginSpec, spec.DriverSpec | None]] = {}
        self._by_id: dict[str, _UsedPlugin] = {}
        self._systems: dict[str, spec.FileSystemSpec] = {}
        self._volumes: dict[str, _KnownVolume] = {}
        self._plugin_ids: dict[str, str] = {}
        """Those that volumes got later than their other values."""
        self._taken = volume_rules.UsedIds()

    def add_spec(
        self, document: Any, found: list[errors.Problem], *, owner: str = "", keep: bool = True
    ) -> model.StoragePlan | None:
        """
        Add all of a spec *document*, append its problems to *found*, and return its plan; ``None`` with any problem.

        Unless *keep*, each volume is read, checked and planned before the next, so that only the plans
        stay in memory.
        """
        head = drafts.read(document)
        found.extend(head.problems)
        if not isinstance(document, Mapping):
            return None
        found.extend(self._add_head(head))
        are_plugins_known = self._add_invalid(head) and isinstance(document.get("plugins", []), list | tuple)
        planned: list[model.VolumePlan] = []
        # All volumes of a plugin with a policy, which names them; else one that the plugin creates, if there is any.
        served: dict[str, list[spec.VolumeSpec]] = {plugin.id: [] for plugin in head.plugins.values()}
        for path, volume in drafts.each_volume(document, found):
            if volume is None:
                continue
            used = self._by_id.get(volume.plugin_id, _UsedPlugin(plugin=None, driver=None))
            if are_plugins_known and volume.plugin_id not in self._by_id:
                where = f"{path}.plugin_id"
                found.append(problems.unknown_name(where, volume.plugin_id, self._by_id, "plugin", _OF_ANOTHER))
            found.extend(_check_volume(volume, used, head.file_systems, head.snapshots, path))
            found.extend(self._taken.add(volume, used.driver, path))
            if found or not (used.plugin and used.driver):
                continue
            planned.append(volumes.plan_volume(volume, used.driver, protect=head.protect, owner=owner))
            if used.plugin.iam or (volume.create and not served[volume.plugin_id]):
                served[volume.plugin_id].append(volume)
            if keep:
                self._volumes[path] = _KnownVolume(volume=volume, driver=used.driver)
        found.extend(self._taken.check_moved())
        return None if found else self._plan(head, served, planned, owner)

    def _add_head(self, head: drafts.Draft) -> Iterator[errors.Problem]:
        for path, plugin in head.plugins.items():
            yield from self.add_plugin(path, plugin, jobs.driver(plugin))
        for name, system in (head.file_systems or {}).items():
            path = f"file_systems.{name}"
            yield from self.add_file_system(name, system, path)
            yield from volume_rules.check_schedules(system.snapshots, head.snapshots, path, is_efs=True)
        yield from efs_rules.check_moved(head.file_systems or {})

    def _add_invalid(self, head: drafts.Draft) -> bool:
        """Add the ids of plugins with an invalid value, for the rules of their volumes. Return whether all have one."""
        ids = []
        for written in head.invalid_plugins:
            plugin_id = written.get("id") if isinstance(written, Mapping) else None
            if isinstance(plugin_id, str) and names.PLUGIN_ID.fullmatch(plugin_id):
                self._by_id[plugin_id] = _UsedPlugin(plugin=None, driver=_written_driver(written.get("driver")))
                ids.append(plugin_id)
        return len(ids) == len(head.invalid_plugins)

    def _plan(
        self,
        head: drafts.Draft,
        served: Mapping[str, Sequence[spec.VolumeSpec]],
        planned: Iterable[model.VolumePlan],
        owner: str,
    ) -> model.StoragePlan:
        """Return the plan of a spec without problems."""
        plugins = []
        for path, (plugin, driver) in self._plugins.items():
            if path in head.plugins and driver:
                plugins.append(plugin_plans.plan_plugin(plugin, driver, served[plugin.id]))
        return model.StoragePlan(
            plugins=tuple(plugins),
            volumes=tuple(planned),
            file_systems={
                name: volumes.tagged_file_system(name, system, owner)
                for name, system in (head.file_systems or {}).items()
            },
            schedules=head.snapshots or {},
        )

    def add_plugin(
        self, path: str, plugin: spec.PluginSpec, driver: spec.DriverSpec | None
    ) -> Iterator[errors.Problem]:
        """Add *plugin*, and yield its problems, those with other plugins, and those of the volumes that it serves."""
        others = {name: item for name, item in self._plugins.items() if name != path}
        self._plugins[path] = plugin, driver
        self._by_id[plugin.id] = _UsedPlugin(plugin=plugin, driver=driver)
        if driver is None:
            yield catalogue.unknown(str(plugin.driver), f"{path}.driver")
        else:
            yield from plugin_rules.check_plugin(plugin, driver, path)
        yield from plugin_rules.check_beside(plugin, driver, path, others)
        for name in self._served(plugin.id):
            yield from self._check(name)

    def add_file_system(self, name: str, system: spec.FileSystemSpec, path: str) -> Iterator[errors.Problem]:
        """Add the file system *name*, and yield its problems, and those of the volumes in it."""
        self._systems[name] = system
        yield from efs_rules.check_settings(system, path)
        yield from known(volume_rules.check_tags(system, path))
        for other, item in self._volumes.items():
            if item.volume.efs and item.volume.efs.file_system == name:
                yield from self._check(other)

    def add_volume(self, path: str, volume: spec.VolumeSpec, driver: spec.DriverSpec) -> Iterator[errors.Problem]:
        """
        Add *volume*, and yield its problems, and those with what is declared already.

        *driver* is that of its component, which may differ from that of its plugin.
        """
        self._volumes[path] = _KnownVolume(volume=volume, driver=driver)
        if wrong := (*self._check(path), *self._taken.add(volume, driver, path)):
            del self._volumes[path]  # or each component that is declared after it has its problems, too
        yield from wrong

    def set_plugin(self, path: str, plugin_id: str) -> Iterator[errors.Problem]:
        """Set the plugin of the volume at *path*, and yield the problems of the two."""
        self._plugin_ids[path] = plugin_id
        if path in self._volumes:
            yield from self._check(path)

    def lacking_keys(self, path: str) -> Iterator[str]:
        """
        Yield a sentence for each volume with a customer key that the policy of its plugin lacks.

        *path* is that of the volume, or of the plugin. It is no problem: another policy of the role may have the key.
        """
        served = self._served(self._plugins[path][0].id) if path in self._plugins else [path]
        for name in filter(self._volumes.__contains__, served):
            plugin, ebs = self._used(name).plugin, self._volumes[name].volume.ebs
            if plugin and plugin.iam and ebs and (key := _lacking_key(ebs, plugin.iam)):
                yield (
                    f"the policy of plugin {plugin.id} lacks the key of {name}, {key}: EC2 will not attach it; add "
                    f"the key to iam.kms_key_arns of {plugin.id}"
                )

    def _served(self, plugin_id: str) -> list[str]:
        """Return the paths of the volumes of the plugin *plugin_id*."""
        return [path for path in self._volumes if self._plugin_id(path) == plugin_id]

    def _plugin_id(self, path: str) -> str:
        return self._plugin_ids.get(path) or self._volumes[path].volume.plugin_id

    def _used(self, path: str) -> _UsedPlugin:
        """Return the plugin of the volume at *path*, where it is declared, and the driver that counts."""
        own = self._volumes[path].driver
        found = self._by_id.get(self._plugin_id(path), _UsedPlugin(plugin=None, driver=None))
        return _UsedPlugin(plugin=found.plugin, driver=found.driver or own)

    def _check(self, path: str) -> Iterator[errors.Problem]:
        """Yield the problems of the volume at *path*, its plugin and its file system, as far as these are declared."""
        volume = self._volumes[path].volume
        is_declared = volume.efs is not None and volume.efs.file_system in self._systems
        yield from _check_volume(volume, self._used(path), self._systems if is_declared else None, None, path)


def _written_driver(written: Any) -> spec.DriverSpec | None:
    """Return the driver of a plugin that has an invalid value, if that is not its driver."""
    if isinstance(written, Mapping):
        return drafts.check(spec.DriverSpec, written, "", [])
    return catalogue.DRIVERS.get(str(written))


def _check_volume(
    volume: spec.VolumeSpec,
    used: _UsedPlugin,
    systems: Mapping[str, spec.FileSystemSpec] | None,
    schedules: Mapping[str, spec.SnapshotScheduleSpec] | None,
    path: str,
) -> Iterator[errors.Problem]:
    """Yield the problems of *volume*, and those with what it names; ``None``: unknown."""
    if used.driver:
        yield from volume_rules.check_volume(volume, used.driver, used.plugin, path)
    yield from known(
        volume_rules.check_snapshots(volume, schedules, path), efs_rules.check_named(volume, systems, used.plugin, path)
    )


def _lacking_key(ebs: spec.EbsSpec, iam: spec.IamSpec) -> str | None:
    try:
        return None if ebs.kms_key_arn in iam.kms_key_arns else ebs.kms_key_arn
    except UnknownValueError:
        return None
