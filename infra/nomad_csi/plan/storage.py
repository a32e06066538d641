"""
All that a spec, or a program of components, declares for one cluster: every rule, and the plan of a spec.

A rule between two items runs with the second. In a spec all plugins and file systems are known before the first volume.
A program declares them in any order, and some of their values are known later (`plan.rules`): then the component is
added again.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from nomad_csi import errors
from nomad_csi.drivers import catalogue
from nomad_csi.plan import model, plugins, volumes
from nomad_csi.plan.rules import efs_rules, known, plugin_rules, volume_rules
from nomad_csi.spec import draft as drafts
from nomad_csi.spec import encrypted, problems
from nomad_csi.spec import model as spec

_OF_ANOTHER = "add it under plugins; for a plugin of another stack, declare the volume with a component"
"""Fix of a volume whose plugin is not in the spec: the rules between the two need its driver."""


def plan_document(
    document: Any, *, source: str = "", owner: str = "", declared: "Declared | None" = None
) -> model.StoragePlan:
    """
    Return the plan of a spec *document*: a mapping with ``plugins``, ``volumes`` and ``protect``.

    Strings in it may be `encrypted.Encrypted` where they stay secret.

    *source* names the document in errors; *owner* (``project/stack``) goes into AWS tags. What the document declares is
    added to *declared*.
    Raises `errors.SpecError` with all problems of the spec's values and rules.
    """
    if exposed := tuple(encrypted.check(document)):
        raise errors.SpecError(drafts.fold_sets(exposed, document), source, drafts.ids(document))
    problem_list: list[errors.Problem] = []
    plan = (declared or Declared()).add_spec(document, problem_list, owner=owner)
    if plan is None:
        raise errors.SpecError(drafts.fold_sets(problem_list, document), source, drafts.ids(document))
    return plan


class Declared:
    """The plugins, file systems and volumes declared so far for one cluster, by their paths in errors."""

    def __init__(self) -> None:
        self._plugins: dict[str, tuple[spec.PluginSpec, spec.DriverSpec | None]] = {}
        self._by_id: dict[str, tuple[spec.PluginSpec, spec.DriverSpec | None]] = {}
        self._systems: dict[str, spec.FileSystemSpec] = {}
        self._volumes: dict[str, tuple[spec.VolumeSpec, spec.DriverSpec]] = {}
        self._plugin_ids: dict[str, str] = {}
        """Those that volumes got later than their other values."""
        self._taken = volume_rules.UsedIds()

    def add_spec(
        self, document: Any, problem_list: list[errors.Problem], *, owner: str = ""
    ) -> model.StoragePlan | None:
        """Add all of a spec *document*, append its problems to *problem_list*; return its plan, ``None`` with any."""
        head = drafts.read(document)
        problem_list.extend(head.problems)
        if not isinstance(document, Mapping):
            return None
        problem_list.extend(self._add_head(head))
        own: list[tuple[spec.VolumeSpec, spec.DriverSpec]] = []
        for path, volume in drafts.each_volume(document, problem_list):
            if volume is None:
                continue
            plugin, driver = self._by_id.get(volume.plugin_id, (None, None))
            if head.has_all_plugins and plugin is None:
                where = f"{path}.plugin_id"
                problem_list.append(problems.unknown_name(where, volume.plugin_id, self._by_id, "plugin", _OF_ANOTHER))
            problem_list.extend(_check_volume(volume, driver, plugin, head.file_systems, head.snapshots, path=path))
            problem_list.extend(self._taken.add(volume, driver, path))
            if driver:
                own.append((volume, driver))
                self._volumes[path] = volume, driver
        problem_list.extend(self._taken.check_moved())
        if problem_list:
            return None
        return model.StoragePlan(
            plugins=tuple(
                plugins.plan_plugin(plugin, driver, [volume for volume, _ in own if volume.plugin_id == plugin.id])
                for path, (plugin, driver) in self._plugins.items()
                if path in head.plugins and driver
            ),
            volumes=tuple(
                volumes.plan_volume(volume, driver, protect=head.protect, owner=owner) for volume, driver in own
            ),
            file_systems={
                name: volumes.tagged_file_system(name, system, owner)
                for name, system in (head.file_systems or {}).items()
            },
            schedules=head.snapshots or {},
        )

    def _add_head(self, head: drafts.Draft) -> Iterator[errors.Problem]:
        for path, plugin in head.plugins.items():
            yield from self.add_plugin(path, plugin, plugins.driver(plugin))
        for name, system in (head.file_systems or {}).items():
            path = f"file_systems.{name}"
            yield from self.add_file_system(name, system, path)
            yield from volume_rules.check_schedules(system.snapshots, head.snapshots, path, is_efs=True)
        yield from efs_rules.check_moved(head.file_systems or {})

    def add_plugin(
        self, path: str, plugin: spec.PluginSpec, driver: spec.DriverSpec | None
    ) -> Iterator[errors.Problem]:
        """Add *plugin*, and yield its problems, those with other plugins, and those of the volumes that it serves."""
        others = {name: item for name, item in self._plugins.items() if name != path}
        self._plugins[path] = plugin, driver
        self._by_id[plugin.id] = plugin, driver
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
        for other, (volume, _) in self._volumes.items():
            if volume.efs and volume.efs.file_system == name:
                yield from self._check(other)

    def add_volume(self, path: str, volume: spec.VolumeSpec, driver: spec.DriverSpec) -> Iterator[errors.Problem]:
        """
        Add *volume*, and yield its problems, and those with what is declared already.

        *driver* is that of its component, which may differ from that of its plugin.
        """
        self._volumes[path] = volume, driver
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
            plugin, ebs = self._used(name)[0], self._volumes[name][0].ebs
            if plugin and plugin.iam and ebs:
                yield from known(_lacking_key(name, ebs, plugin.id, plugin.iam))

    def _served(self, plugin_id: str) -> list[str]:
        """Return the paths of the volumes of the plugin *plugin_id*."""
        return [path for path in self._volumes if self._plugin_id(path) == plugin_id]

    def _plugin_id(self, path: str) -> str:
        return self._plugin_ids.get(path) or self._volumes[path][0].plugin_id

    def _used(self, path: str) -> tuple[spec.PluginSpec | None, spec.DriverSpec]:
        """Return the plugin of the volume at *path*, where it is declared, and the driver that counts."""
        plugin, driver = self._by_id.get(self._plugin_id(path), (None, None))
        return plugin, driver or self._volumes[path][1]

    def _check(self, path: str) -> Iterator[errors.Problem]:
        """Yield the problems of the volume at *path*, its plugin and its file system, as far as these are declared."""
        volume, (plugin, driver) = self._volumes[path][0], self._used(path)
        is_declared = volume.efs is not None and volume.efs.file_system in self._systems
        yield from _check_volume(volume, driver, plugin, self._systems if is_declared else None, path=path)


def _check_volume(
    volume: spec.VolumeSpec,
    driver: spec.DriverSpec | None,
    plugin: spec.PluginSpec | None,
    systems: Mapping[str, spec.FileSystemSpec] | None,
    schedules: Mapping[str, spec.SnapshotScheduleSpec] | None = None,
    *,
    path: str,
) -> Iterator[errors.Problem]:
    """Yield the problems of *volume*, and those with what it names; ``None``: unknown."""
    if driver:
        yield from volume_rules.check_volume(volume, driver, plugin, path)
    yield from known(
        volume_rules.check_snapshots(volume, schedules, path), efs_rules.check_named(volume, systems, plugin, path)
    )


def _lacking_key(name: str, ebs: spec.EbsSpec, plugin_id: str, iam: spec.IamSpec) -> Iterator[str]:
    if ebs.kms_key_arn and ebs.kms_key_arn not in iam.kms_key_arns:
        yield (
            f"the policy of plugin {plugin_id} lacks the key of {name}, {ebs.kms_key_arn}: EC2 will not attach it; add "
            f"the key to iam.kms_key_arns of {plugin_id}"
        )
