"""Rules between a volume of the spec, its driver and its plugin, and between volumes."""

import dataclasses
import itertools
from collections.abc import Iterator, Mapping

from nomad_csi.drivers import catalogue, storage_identity
from nomad_csi.errors import Problem
from nomad_csi.plan import registration
from nomad_csi.plan import volumes as volume_plans
from nomad_csi.plan.rules import ebs_rules, efs_rules, known, secret_rules
from nomad_csi.spec import encrypted, names, problems
from nomad_csi.spec import model as spec

RESERVED_TAG_PREFIXES = ("aws:", "ebs.csi.aws.com/", "kubernetes.io/", "nomad-csi:")
"""Source: EC2 API (``aws:``); aws-ebs-csi-driver, ``pkg/cloud/cloud.go``; `plan.volumes`."""


def check_volume(
    volume: spec.VolumeSpec, driver: spec.DriverSpec, plugin: spec.PluginSpec | None, path: str
) -> Iterator[Problem]:
    """Yield the problems of *volume* with *driver*, and with *plugin* where that is known."""
    yield from known(
        *_sources(volume, driver, plugin, path),
        _zones(volume, driver, plugin, path),
        _capabilities(volume, driver, path),
        _mount_options(volume, driver, f"{path}.mount_options"),
        efs_rules.check_mount(volume, path) if driver.storage == "efs" else (),
        _tags(volume, path),
        _sharing(volume, driver, f"{path}.shares_storage"),
        _topologies(volume, driver, f"{path}.topologies"),
        secret_rules.check_volume(volume, path),
        _maps(volume, driver, path),
    )


def _maps(volume: spec.VolumeSpec, driver: spec.DriverSpec, path: str) -> Iterator[Problem]:
    secrets = {key: secret.get_secret_value() for key, secret in volume.secrets.items()}
    if volume.context or driver.context.required:
        yield from _check_keys(volume.context, _context(volume, driver), driver.name, f"{path}.context")
    if volume.parameters or driver.parameters.required:
        yield from _check_keys(volume.parameters, _parameters(volume, driver), driver.name, f"{path}.parameters")
    if secrets or driver.secrets.required:
        yield from _check_keys(secrets, driver.secrets, driver.name, f"{path}.secrets", is_secret=True)


_RELATIONS: Mapping[storage_identity.Relation, str] = {
    "same": "has it",
    "around": "has the storage that contains it",
    "within": "has a part of it",
}
"""What another volume has, whose storage is in this relation."""


class UsedIds:
    """Ids and storage in use, collected volume by volume; the same volume may come again once more of it is known."""

    def __init__(self) -> None:
        self._ids: dict[str, dict[str, str]] = {}
        self._storage: dict[str, storage_identity.Index[registration.StorageUser]] = {}
        self._moved: dict[str, spec.VolumeSpec] = {}

    def add(self, volume: spec.VolumeSpec, driver: spec.DriverSpec | None, path: str) -> Iterator[Problem]:
        """Add *volume*, at *path*, and yield its conflicts with earlier ones."""
        yield from known(self._add_id(volume, path))
        if driver is not None:
            yield from known(self._add_storage(volume, driver, path))

    def _add_id(self, volume: spec.VolumeSpec, path: str) -> Iterator[Problem]:
        earlier = self._ids.setdefault(volume.namespace, {}).setdefault(volume.id, path)
        if earlier != path:
            allowed = f"an id of its own in namespace {volume.namespace}: {earlier} has it already"
            yield Problem(path=f"{path}.id", got=repr(volume.id), allowed=allowed)
        if volume.moved_from is not None:
            self._moved[path] = volume

    def _add_storage(self, volume: spec.VolumeSpec, driver: spec.DriverSpec, path: str) -> Iterator[Problem]:
        where, given, identities = _identities(volume, driver)
        users = self._storage.setdefault(driver.provider, storage_identity.Index())
        wanted = registration.StorageUser(
            name=path, access_modes=access_modes(volume, driver), shares=volume.shares_storage
        )
        kind = "an external id" if volume.existing else "a folder"
        for relation, has in _RELATIONS.items():
            fixes = (
                (other.name, fix)
                for other in users.find(identities, relation)
                if other.name != path and (fix := registration.sharing_refusal(wanted, other, relation))
            )
            for other, fix in itertools.islice(fixes, 1):
                allowed = f"{kind} of its own: {other} {has} already"
                yield Problem(path=f"{path}.{where}", got=repr(given), allowed=allowed, fix=fix)
        users.add(identities, wanted)

    def check_moved(self) -> Iterator[Problem]:
        """Yield the problems of former ids: one is in use by a volume, or named by two volumes."""
        named: dict[tuple[str, str], str] = {}
        for path, volume in self._moved.items():
            namespace, volume_id = key = volume.former_key or ("", "")
            where, given = f"{path}.moved_from", repr(volume.moved_from)
            if volume.create is not None:
                yield Problem(
                    path=where,
                    got=given,
                    allowed="nothing for a volume that its plugin creates: another id gets new storage, which is empty",
                    fix=f"keep the id {'/'.join(key)}, or copy the data into a new volume",
                )
            if present := self._ids.get(namespace, {}).get(volume_id):
                allowed = f"an id that no volume of the spec has now: {present} has it"
                yield Problem(path=where, got=given, allowed=allowed, fix="remove moved_from once `up` has run")
            elif key in named:
                yield Problem(path=where, got=given, allowed=f"a former id of its own: {named[key]} names it, too")
            named.setdefault(key, path)


def _identities(
    volume: spec.VolumeSpec, driver: spec.DriverSpec
) -> tuple[str, str, frozenset[storage_identity.StorageIdentity]]:
    """Return the key of *volume* that names its storage, its value, and the identities; none where it is created."""
    if volume.existing:
        external_id = volume.existing.external_id
        return "existing.external_id", external_id, storage_identity.identities(external_id, volume.context, driver)
    if volume.efs and volume.efs.access_point and not volume.efs.makes_file_system:
        system = volume.efs.file_system_id or f"file_systems.{volume.efs.file_system}"
        path = volume.efs.access_point.path
        identity = storage_identity.StorageIdentity(container=system, path=storage_identity.folders(path))
        return "efs.access_point.path", volume_plans.efs_location(system, path), frozenset((identity,))
    return "", "", frozenset()


def access_modes(volume: spec.VolumeSpec, driver: spec.DriverSpec) -> tuple[str, ...]:
    """Return the access modes that claims of *volume* may use."""
    return tuple(item.access_mode for item in volume.capabilities) or driver.default_mode[:1]


def _sources(
    volume: spec.VolumeSpec, driver: spec.DriverSpec, plugin: spec.PluginSpec | None, path: str
) -> Iterator[Iterator[Problem]]:
    """Yield the rules for where the storage comes from."""
    yield _possible(volume, driver, plugin, path)
    if ebs := volume.ebs:
        yield ebs_rules.check(ebs, f"{path}.ebs")
    if efs := volume.efs:
        yield efs_rules.check(efs, f"{path}.efs")
    if existing := volume.existing:
        yield _existing(volume, existing, driver, f"{path}.existing")
    if create := volume.create:
        yield _deletion(create, driver, f"{path}.create")
        yield _created(volume, create, driver, path)
        yield _may_create(driver, plugin, f"{path}.create")


def _possible(
    volume: spec.VolumeSpec, driver: spec.DriverSpec, plugin: spec.PluginSpec | None, path: str
) -> Iterator[Problem]:
    possible = [name for name in spec.SOURCES if _can(driver, name)]
    for name in spec.SOURCES:
        if getattr(volume, name) is not None and name not in possible:
            allowed = f"{' or '.join(possible)} under a plugin of {driver.name}"
            fix = f"check plugin_id {(plugin.id if plugin else volume.plugin_id)!r}"
            code = "volume-only-created" if name == "existing" else ""
            yield Problem(path=f"{path}.{name}", got=name, allowed=allowed, fix=fix, code=code)


def _may_create(driver: spec.DriverSpec, plugin: spec.PluginSpec | None, path: str) -> Iterator[Problem]:
    if driver.storage == "ebs" and plugin and plugin.iam and not plugin.iam.create_volumes:
        allowed = f"no volume that {driver.name} creates: the policy in iam of plugin {plugin.id} does not allow it to"
        fix = "add create_volumes: true to that iam, or write ebs"
        yield Problem(path=path, got="one", allowed=allowed, fix=fix)


def _created(volume: spec.VolumeSpec, create: spec.CreateSpec, driver: spec.DriverSpec, path: str) -> Iterator[Problem]:
    if driver.needs_capacity and not create.least_bytes:
        allowed, code = f"a capacity: {driver.name} creates no volume without one", "capacity-missing"
        yield Problem(path=f"{path}.create", got="none", allowed=allowed, fix="add capacity_min_gib", code=code)
    if volume.context:
        allowed = "none: the plugin writes the context of a volume that it makes"
        code = "context-without-effect"
        yield Problem(path=f"{path}.context", got="some", allowed=allowed, fix="use parameters", code=code)
    if driver.topology_key and not create.availability_zone and not volume.topologies:
        allowed = f"a zone: {driver.name} makes a volume in one"
        where, code = f"{path}.create.availability_zone", "topology-missing"
        yield Problem(path=where, got="nothing", allowed=allowed, fix="add the zone", code=code)


def _can(driver: spec.DriverSpec, source: str) -> bool:
    if source in ("ebs", "efs"):
        return driver.storage == source
    return driver.registers if source == "existing" else driver.creates


def _existing(
    volume: spec.VolumeSpec, existing: spec.ExistingSpec, driver: spec.DriverSpec, path: str
) -> Iterator[Problem]:
    external_id = existing.external_id
    rule = driver.external_id
    if not rule.fits(external_id):
        where, code = f"{path}.external_id", "external-id-form"
        yield Problem(path=where, got=repr(external_id), allowed=rule.allowed, code=code)
    form = rule.form(external_id)
    zoned = driver.topology_key and (form is None or form.zoned)
    if zoned and existing.availability_zone is None and not volume.topologies:
        fix = "add the zone of the volume"
        allowed = "a zone: without one Nomad places jobs where the volume cannot be attached"
        where, code = f"{path}.availability_zone", "topology-missing"
        yield Problem(path=where, got="nothing", allowed=allowed, fix=fix, code=code)


def _zones(
    volume: spec.VolumeSpec, driver: spec.DriverSpec, plugin: spec.PluginSpec | None, path: str
) -> Iterator[Problem]:
    zones = {}
    for name, source in (("ebs", volume.ebs), ("existing", volume.existing), ("create", volume.create)):
        if source and source.availability_zone:
            zones[f"{name}.availability_zone"] = source.availability_zone
    for index, target in enumerate(volume.efs.mount_targets if volume.efs else ()):
        zones[f"efs.mount_targets[{index}].availability_zone"] = target.availability_zone
    region = plugin.aws_region or "" if plugin else ""
    for where, zone in zones.items():
        if names.AWS_REGION.fullmatch(zone):
            allowed, code = f"a zone of this region, such as {zone}a", "topology-zone-region"
            yield Problem(path=f"{path}.{where}", got=repr(zone), allowed=allowed, code=code)
        elif not zone.startswith(region) and driver.uses_aws:
            yield Problem(path=f"{path}.{where}", got=repr(zone), allowed=f"a zone of {region}, the plugin's region")
        elif plugin and plugin.availability_zone and not volume.efs and zone != plugin.availability_zone:
            allowed = f"{plugin.availability_zone}, the only zone that plugin {plugin.id} serves"
            yield Problem(path=f"{path}.{where}", got=repr(zone), allowed=allowed)


def _capabilities(volume: spec.VolumeSpec, driver: spec.DriverSpec, path: str) -> Iterator[Problem]:
    form = driver.external_id.form(volume.existing.external_id) if volume.existing else None
    modes = driver.modes | {(item.access_mode, item.attachment_mode) for item in (form.capabilities if form else ())}
    for index, capability in enumerate(volume.capabilities):
        mode = (capability.access_mode, capability.attachment_mode)
        where = f"{path}.capabilities[{index}]"
        if mode not in modes:
            allowed = "one of " + ", ".join(sorted(" ".join(mode) for mode in modes))
            allowed = f"{allowed} for {driver.name}"
            fix, code = driver.modes_advice, "access-mode-unserved"
            yield Problem(path=where, got=" ".join(mode), allowed=allowed, fix=fix, code=code)
        elif volume.ebs and capability.access_mode.startswith("multi-node"):
            allowed = "a volume made elsewhere for multi-node access: only io1 and io2 volumes can be attached twice"
            fix = "make it with Multi-Attach and register it as existing"
            yield Problem(path=where, got=" ".join(mode), allowed=allowed, fix=fix)


def _sharing(volume: spec.VolumeSpec, driver: spec.DriverSpec, path: str) -> Iterator[Problem]:
    if not volume.shares_storage:
        return
    modes = access_modes(volume, driver)
    if volume.create:
        yield Problem(path=path, got="true", allowed="no such key: a plugin creates new storage")
    elif not registration.is_shareable(modes):
        yield Problem(path=path, got=", ".join(modes), allowed="it only with access modes for several nodes")


def _tags(volume: spec.VolumeSpec, path: str) -> Iterator[Problem]:
    for name, source in (("ebs", volume.ebs), ("efs", volume.efs)):
        if source:
            yield from check_tags(source, f"{path}.{name}")


def check_tags(source: spec.EbsSpec | spec.EfsSettings, path: str) -> Iterator[Problem]:
    """Yield the reserved tags of the storage *source*, at *path*, which the operator may not set."""
    for key in source.tags:
        if key.startswith(RESERVED_TAG_PREFIXES):
            prefixes = ", ".join(RESERVED_TAG_PREFIXES)
            allowed = f"no tag that begins with {prefixes}: they are AWS's, the driver's and ours"
            yield Problem(path=f"{path}.tags.{key}", got="a tag", allowed=allowed, fix="remove it")


def _mount_options(volume: spec.VolumeSpec, driver: spec.DriverSpec, path: str) -> Iterator[Problem]:
    options = volume.mount_options
    if options.fs_type and driver.fs_types is not None and options.fs_type not in driver.fs_types:
        allowed = f"one of {', '.join(sorted(filter(None, driver.fs_types)))} for {driver.name}"
        yield Problem(path=f"{path}.fs_type", got=repr(options.fs_type), allowed=allowed, code="fs-type-unknown")
    for index, flag in enumerate(options.mount_flags):
        for start, fix in driver.refused_mount_flags.items():
            if flag.lower().startswith(start):
                where, code = f"{path}.mount_flags[{index}]", "mount-flag-refused"
                allowed = f"flags that {driver.name} takes"
                yield Problem(path=where, got=repr(flag), allowed=allowed, fix=fix, code=code)
    attachments = {capability.attachment_mode for capability in volume.capabilities}
    if attachments == {"block-device"} and (options.fs_type or options.mount_flags):
        allowed, code = "no mount options for a block device", "mount-options-on-block"
        yield Problem(path=path, got="some", allowed=allowed, fix="remove them", code=code)


def _topologies(volume: spec.VolumeSpec, driver: spec.DriverSpec, path: str) -> Iterator[Problem]:
    keys = {driver.topology_key, *driver.topology_keys} - {None}
    for index, segments in enumerate(volume.topologies):
        where = f"{path}[{index}]"
        for key, value in segments.items():
            if keys and key not in keys:
                allowed = f"a key that {driver.name} reports: {', '.join(sorted(map(str, keys)))}"
                yield Problem(path=f"{where}.{key}", got="the key", allowed=allowed, code="topology-key-unknown")
            elif names.AWS_REGION.fullmatch(value):
                allowed, code = f"a zone of this region, such as {value}a", "topology-zone-region"
                yield Problem(path=f"{where}.{key}", got=repr(value), allowed=allowed, code=code)


def _context(volume: spec.VolumeSpec, driver: spec.DriverSpec) -> spec.KeysSpec:
    """Return the context keys of *driver*; none are required for a volume that it creates, as it sets the context."""
    keys = volume_plans.context_keys(volume, driver)
    return _optional(keys) if volume.create else keys


def _parameters(volume: spec.VolumeSpec, driver: spec.DriverSpec) -> spec.KeysSpec:
    """Return the parameter keys of *driver*; none are required unless it creates the volume."""
    return driver.parameters if volume.create else _optional(driver.parameters)


def _optional(keys: spec.KeysSpec) -> spec.KeysSpec:
    return keys.model_copy(update={"required": frozenset(), "required_with": {}})


# Storage that is deleted with its volume: who deletes it, and who confirms that it is unused.


def _deletion(create: spec.CreateSpec, driver: spec.DriverSpec, path: str) -> Iterator[Problem]:
    """Yield the problems of the deletion settings in *create*; none where the storage is kept."""
    how = create.deletion
    if create.on_destroy == "keep" or how is None:
        return
    if how.aws_region and not driver.uses_aws:
        allowed = f"none: the storage of {driver.name} is not of AWS"
        yield Problem(path=f"{path}.deletion.aws_region", got=repr(how.aws_region), allowed=allowed, fix="use endpoint")
    facts = catalogue.deletion(driver.provider)
    if how.endpoint and not (facts and facts.refuses_in_use) and not how.accept_unguarded:
        allowed = f"true: the storage of {driver.name} does not refuse to be deleted while it is in use"
        fix = "accept it, if no job can claim the volume meanwhile"
        yield Problem(path=f"{path}.deletion.accept_unguarded", got="false", allowed=allowed, fix=fix)
    if how.endpoint and facts and not facts.takes_snapshots and not how.skip_final_snapshot:
        allowed = "true: the driver takes no snapshots"
        yield Problem(path=f"{path}.deletion.skip_final_snapshot", got="false", allowed=allowed)


# The schedules that a volume names.


def check_snapshots(
    volume: spec.VolumeSpec, schedules: Mapping[str, spec.SnapshotScheduleSpec] | None, path: str
) -> Iterator[Problem]:
    """Yield the problems of the schedules that *volume* names; *schedules* are ``None`` where they are unknown."""
    if not volume.snapshots:
        return
    if not (volume.ebs or (volume.efs and volume.efs.makes_file_system)):
        allowed = "none: only EBS volumes and file systems that Pulumi makes are copied on a schedule"
        name = volume.efs.file_system if volume.efs else None
        fix = f"use file_systems.{name}.snapshots" if name else "make a policy for it beside this spec"
        yield Problem(path=f"{path}.snapshots", got=", ".join(volume.snapshots), allowed=allowed, fix=fix)
        return
    yield from check_schedules(volume.snapshots, schedules, path, is_efs=volume.efs is not None)


def check_schedules(
    names: tuple[str, ...],
    schedules: Mapping[str, spec.SnapshotScheduleSpec] | None,
    path: str,
    *,
    is_efs: bool,
) -> Iterator[Problem]:
    """Yield the problems of the schedules *names* of the storage at *path*, a file system where *is_efs*."""
    for index, name in enumerate(names if schedules is not None else ()):
        yield from _schedule(name, schedules or {}, f"{path}.snapshots[{index}]", is_efs=is_efs)


def _schedule(
    name: str, schedules: Mapping[str, spec.SnapshotScheduleSpec], path: str, *, is_efs: bool
) -> Iterator[Problem]:
    if name not in schedules:
        yield problems.unknown_name(path, name, schedules, "schedule", "add it under snapshots")
    elif is_efs and schedules[name].keep_days is None:
        allowed = "a schedule with keep_days: AWS Backup keeps copies of a file system for days, not by number"
        fix = f"add a schedule with keep_days instead of keep, or give {name} keep_days"
        yield Problem(path=path, got=f"{name}, which has keep", allowed=allowed, fix=fix)


# The maps of a volume: keys that its driver accepts, requires or refuses.


_CODES: Mapping[str, tuple[str, str, str]] = {
    "context": ("context-key-unknown", "context-value-unknown", "context-key-missing"),
    "parameters": ("parameter-unknown", "parameter-value-unknown", "parameter-missing"),
    "secrets": ("", "", ""),
}
"""Codes of the findings in a file, by map: a refused key, a refused value, a missing key."""


def _check_keys(
    values: Mapping[str, str], keys: spec.KeysSpec, driver: str, path: str, *, is_secret: bool = False
) -> Iterator[Problem]:
    """Yield the problems of the map *values*, at *path*, for a *driver* that accepts *keys*; a secret is not shown."""
    unknown, unknown_value, missing = _CODES[path.rpartition(".")[2]]
    for key, value in values.items():
        where = f"{path}.{key}"
        fix = keys.entry(keys.refused, key)
        known = keys.entry(keys.values, key)
        if fix is not None:
            allowed = f"keys that {driver} takes"
            yield Problem(path=where, got=f"the key {key!r}", allowed=allowed, fix=fix, code=unknown)
        elif not keys.takes(key):
            allowed = f"one of {', '.join(sorted(keys.allowed or ()))}; {driver} refuses others"
            close = problems.suggestion(key, keys.allowed or ())
            fix = f"did you mean {close}?" if close else ""
            yield Problem(path=where, got=f"the key {key!r}", allowed=allowed, fix=fix, code=unknown)
        elif known is not None and value not in known and value != encrypted.PLACEHOLDER:
            allowed = f"one of {', '.join(sorted(known))} for {driver}"
            got = "[secret]" if is_secret else repr(value)
            yield Problem(path=where, got=got, allowed=allowed, code=unknown_value)
    for problem in _missing(values, keys, driver, path, is_secret=is_secret):
        yield dataclasses.replace(problem, code=missing)


def _missing(
    values: Mapping[str, str], keys: spec.KeysSpec, driver: str, path: str, *, is_secret: bool
) -> Iterator[Problem]:
    for key, cause in keys.missing(values).items():
        allowed = f"a value, without which {driver} cannot use the volume"
        if cause:
            allowed = f"a value, which {cause}{'' if is_secret else f' {values[cause]!r}'} calls for"
        yield Problem(path=f"{path}.{key}", got="nothing", allowed=allowed, fix=f"add {key.replace('|', ' or ')}")
