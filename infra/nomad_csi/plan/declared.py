"""
What a program declares, component by component, by the rules of a spec: those between two of them run with the second.

In a spec all plugins and file systems are known before the first volume. A program declares them in any order, and some
of their values are known later (`plan.unknown`): then the component is added again.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nomad_csi.errors import Problem
from nomad_csi.plan import jobs
from nomad_csi.plan.rules import efs_rules, plugin_rules, snapshot_rules, volume_rules
from nomad_csi.plan.unknown import UnknownValueError, known
from nomad_csi.spec import draft as drafts
from nomad_csi.spec import model as spec


@dataclasses.dataclass(frozen=True, kw_only=True)
class _DeclaredVolume:
    volume: spec.VolumeSpec
    driver: spec.DriverSpec


class Declared:
    """The plugins, file systems and volumes that a program has declared so far for one cluster, by their names."""

    def __init__(self) -> None:
        self._plugins: dict[str, spec.PluginSpec] = {}
        self._drivers: dict[str, spec.DriverSpec | None] = {}
        self._systems: dict[str, spec.FileSystemSpec] = {}
        self._volumes: dict[str, _DeclaredVolume] = {}
        self._plugin_ids: dict[str, str] = {}
        """Those of volumes, as far as they are known."""
        self._taken = volume_rules.UsedIds()

    def add_plugin(self, name: str, plugin: spec.PluginSpec, driver: spec.DriverSpec) -> Iterator[Problem]:
        """
        Add *plugin*, and yield its problems, those with other plugins, and those of the volumes that it serves.

        *name* is that of the component in errors: ``CsiPlugin ebs0``.
        """
        self._plugins[name], self._drivers[name] = plugin, driver
        among = plugin_rules.check_plugins(self._plugins, self._drivers)
        wrong = [
            *plugin_rules.check_plugin(plugin, driver, ""),
            *(dataclasses.replace(problem, path=problem.path.removeprefix(name)) for problem in among),
            *self._placed(self._served(plugin.id)),
        ]
        if wrong:
            del self._plugins[name], self._drivers[name]  # nothing else is told of it
        yield from wrong

    def add_spec(self, document: Mapping[str, Any]) -> Iterator[Problem]:
        """Add all of a sound spec *document*, and yield the problems with what is there already."""
        drivers: dict[str, spec.DriverSpec] = {}
        head = drafts.read({key: value for key, value in document.items() if key != "volumes"})
        for path, plugin in head.plugins.items():
            if driver := jobs.driver(plugin):
                drivers[plugin.id] = driver
                yield from _below(path, self.add_plugin(path, plugin, driver))
        for name, system in (head.file_systems or {}).items():
            yield from _below(f"file_systems.{name}", self.add_file_system(name, system))
        for path, volume in drafts.each_volume(document, []):
            if volume and volume.plugin_id in drivers:
                yield from _below(path, self.set_plugin(path, volume.plugin_id))
                yield from _below(path, self.add_volume(path, volume, drivers[volume.plugin_id]))

    def add_file_system(self, name: str, system: spec.FileSystemSpec) -> Iterator[Problem]:
        """Add the file system *name*, and yield its problems, and those of the volumes in it."""
        self._systems[name] = system
        yield from efs_rules.check_settings(system, "")
        yield from known(volume_rules.check_tags(system, ""))
        yield from self._placed(other for other, item in self._volumes.items() if _file_system(item.volume) == name)

    def add_volume(self, name: str, volume: spec.VolumeSpec, driver: spec.DriverSpec) -> Iterator[Problem]:
        """
        Add *volume*, and yield its problems, and those with what is there already.

        *driver* is that of its component, which may differ from that of its plugin (`set_plugin`).
        """
        self._volumes[name] = _DeclaredVolume(volume=volume, driver=driver)
        if wrong := (*self._rules(name), *self._taken.add(volume, driver, "", name)):
            del self._volumes[name]  # nothing else is told of it
        yield from wrong

    def set_plugin(self, name: str, plugin_id: str) -> Iterator[Problem]:
        """Set the plugin of the volume *name*, and yield the problems of the two."""
        self._plugin_ids[name] = plugin_id
        if name in self._volumes:
            yield from self._rules(name)

    def _served(self, plugin_id: str) -> list[str]:
        """Return the names of the volumes of the plugin *plugin_id*."""
        return [name for name in self._volumes if self._plugin_ids.get(name) == plugin_id]

    def _placed(self, volumes: Iterable[str]) -> Iterator[Problem]:
        """Yield the problems of *volumes* with their names, for the declaration of another component."""
        for name in volumes:
            for problem in self._rules(name):
                yield dataclasses.replace(problem, path=f"{name}{problem.path}")

    def _rules(self, name: str) -> Iterator[Problem]:
        """Yield the problems of the volume *name*, its plugin and its file system, as far as these are declared."""
        item = self._volumes[name]
        plugin, driver = self._plugin(name)
        system = _file_system(item.volume)
        yield from volume_rules.check_volume(item.volume, driver, plugin, "")
        yield from known(
            snapshot_rules.check(item.volume, None, ""),
            efs_rules.check_named(item.volume, self._systems if system in self._systems else None, plugin, ""),
        )

    def _plugin(self, volume: str) -> tuple[spec.PluginSpec | None, spec.DriverSpec]:
        """Return the plugin of *volume*, where it is declared, and the driver that counts."""
        own = self._volumes[volume].driver
        for name, plugin in self._plugins.items():
            if plugin.id == self._plugin_ids.get(volume):
                return plugin, self._drivers[name] or own
        return None, own

    def lacking_keys(self, name: str) -> Iterator[str]:
        """
        Yield a sentence for each volume with a customer key that the policy of its plugin lacks.

        *name* is that of the volume, or of the plugin. It is no problem: another policy of the role may have the key.
        """
        volumes = self._served(self._plugins[name].id) if name in self._plugins else [name]
        for other in filter(self._volumes.__contains__, volumes):
            plugin, ebs = self._plugin(other)[0], self._volumes[other].volume.ebs
            if plugin and ebs and (key := _lacking_key(ebs, plugin)):
                yield (
                    f"the policy of plugin {plugin.id} lacks the key of {other}, {key}: EC2 will not attach it; add "
                    f"the key to iam.kms_key_arns of {plugin.id}"
                )


def _below(path: str, problems: Iterable[Problem]) -> Iterator[Problem]:
    """Yield *problems*, those without a name of another component below *path*."""
    for problem in problems:
        yield dataclasses.replace(problem, path=f"{path}{problem.path}") if problem.path.startswith(".") else problem


def _lacking_key(ebs: spec.EbsSpec, plugin: spec.PluginSpec) -> str | None:
    try:
        return ebs.kms_key_arn if plugin.iam and ebs.kms_key_arn not in plugin.iam.kms_key_arns else None
    except UnknownValueError:
        return None


def _file_system(volume: spec.VolumeSpec) -> str | None:
    """Return the name of the file system of the program that *volume* is in."""
    return volume.efs.file_system if volume.efs else None
