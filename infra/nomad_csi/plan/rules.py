"""Rules that join a plugin or a volume of the spec with its driver, and those that go across the whole spec."""

import unicodedata
from collections.abc import Iterator, Mapping

from nomad_csi.drivers import model as drivers
from nomad_csi.errors import Problem
from nomad_csi.plan import ebs_rules, efs_rules
from nomad_csi.spec import model as spec

MAP_LIMIT_BYTES = 4096
"""Bytes of all keys and values of one map in a CSI call. Source: CSI specification 1.12, "Size Limits"."""

EXTERNAL_ID_LIMIT_BYTES = 128
"""Source: as above."""


RESERVED_TAG_PREFIXES = ("aws:", "ebs.csi.aws.com/", "kubernetes.io/", "nomad-csi:")
"""Source: EC2 API (``aws:``); aws-ebs-csi-driver, ``pkg/cloud/cloud.go``; `plan.volumes`."""


def check_plugin(plugin: spec.PluginSpec, driver: drivers.Driver, path: str) -> Iterator[Problem]:
    """Yield what is wrong with *plugin* under *driver*."""
    yield from _task_driver(plugin, f"{path}.task_driver")
    if "controller" not in driver.roles and "controller" in plugin.model_fields_set:
        allowed = f"no controller for {driver.name}, which has only a node plugin"
        yield Problem(path=f"{path}.controller", got="one", allowed=allowed, fix="remove it")
    if plugin.iam and driver.storage != "ebs":
        allowed = f"no iam for {driver.name}: mounting needs no permission"
        yield Problem(path=f"{path}.iam", got="one", allowed=allowed, fix="remove it")
    for name in ("controller", "node"):
        yield from _extra_arguments(plugin, driver, name, path)
    for key, value in plugin.environment.items():
        yield from _job_text(value, f"{path}.environment.{key}", shown=False)
        if key == "CSI_ENDPOINT":
            yield Problem(path=f"{path}.environment.{key}", got="a value", allowed="no CSI_ENDPOINT: Nomad sets it")
    for index, argument in enumerate(plugin.task_driver.arguments):
        yield from _job_text(argument, f"{path}.task_driver.arguments[{index}]")
    for field in ("image", "node_pool"):
        yield from _job_text(getattr(plugin, field) or "", f"{path}.{field}")
    for index, datacenter in enumerate(plugin.datacenters):
        yield from _job_text(datacenter, f"{path}.datacenters[{index}]")
    yield from _verify(plugin.verify, f"{path}.verify")


def _verify(verify: spec.VerifySpec, path: str) -> Iterator[Problem]:
    if verify.stable_s >= verify.timeout_s:
        allowed = f"less than timeout_s ({verify.timeout_s:g})"
        yield Problem(path=f"{path}.stable_s", got=f"{verify.stable_s:g}", allowed=allowed)


def _task_driver(plugin: spec.PluginSpec, path: str) -> Iterator[Problem]:
    task = plugin.task_driver
    yield from _job_text(task.command or "", f"{path}.command")
    yield from _job_text(task.client_data_dir or "", f"{path}.client_data_dir")
    if task.name == "raw_exec":
        if task.command is None:
            fix = "name the driver's binary on the clients"
            yield Problem(path=f"{path}.command", got="nothing", allowed="a command for raw_exec", fix=fix)
        if task.client_data_dir is None:
            fix = "it is data_dir in the agent's configuration; no API tells it"
            allowed = "the clients' data directory for raw_exec"
            yield Problem(path=f"{path}.client_data_dir", got="nothing", allowed=allowed, fix=fix)
        if plugin.image:
            yield Problem(path=f"{path}.name", got="raw_exec with an image", allowed="docker where image is set")
    elif task.command is not None or task.arguments:
        allowed = "no command and no arguments for docker: the image has its own"
        yield Problem(path=path, got="command or arguments", allowed=allowed, fix="use image and extra_arguments")


def _extra_arguments(
    plugin: spec.PluginSpec, driver: drivers.Driver, name: drivers.RoleName, path: str
) -> Iterator[Problem]:
    where = f"{path}.extra_arguments.{name}"
    given = getattr(plugin.extra_arguments, name)
    role = driver.roles.get(name)
    if role is None:
        if given:
            yield Problem(path=where, got="arguments", allowed=f"none: {driver.name} has no {name}")
        return
    rendered = {_flag(argument) for argument in role.arguments}
    for index, argument in enumerate(given):
        yield from _argument(argument, role, rendered, driver, f"{where}[{index}]")
        yield from _job_text(argument, f"{where}[{index}]")
    limits = {"volume-attach-limit", "reserved-volume-attachments"} & {_flag(argument) for argument in given}
    if len(limits) > 1:
        yield Problem(path=where, got="both", allowed="one of --volume-attach-limit and --reserved-volume-attachments")


def _argument(
    argument: str, role: drivers.Role, rendered: set[str], driver: drivers.Driver, path: str
) -> Iterator[Problem]:
    if not argument.startswith("--"):
        allowed = "a flag such as --name=value; a bare word makes the driver ignore or misread what follows"
        yield Problem(path=path, got=repr(argument), allowed=allowed)
    elif _flag(argument) in rendered:
        yield Problem(path=path, got=repr(argument), allowed=f"no --{_flag(argument)}: it is set already")
    elif _flag(argument) in role.unfit_flags:
        allowed = f"no --{_flag(argument)}: {role.unfit_flags[_flag(argument)]}"
        yield Problem(path=path, got=repr(argument), allowed=allowed)
    elif _flag(argument) not in role.flags:
        allowed = f"a flag of {driver.name} {driver.version}: {', '.join(sorted(role.flags - rendered))}"
        yield Problem(path=path, got=repr(argument), allowed=allowed)


def _flag(argument: str) -> str:
    return argument.lstrip("-").split("=", 1)[0]


def _job_text(value: str, path: str, *, shown: bool = True) -> Iterator[Problem]:
    """Yield why *value* cannot stand in a job file as it is."""
    got = repr(value) if shown else "[not shown]"
    if "${" in value or "%{" in value:
        allowed = "text without ${ or %{: Nomad would evaluate it, twice"
        yield Problem(path=path, got=got, allowed=allowed, fix="write the value itself")
    if not unicodedata.is_normalized("NFC", value):
        yield Problem(path=path, got=got, allowed="text in Unicode's NFC form, because job files are normalised to it")


def check_volume(volume: spec.VolumeSpec, driver: drivers.Driver, aws_region: str, path: str) -> Iterator[Problem]:
    """Yield what is wrong with *volume* under *driver* in *aws_region*."""
    yield from _source(volume, driver, path)
    yield from _zones(volume, aws_region, path)
    for index, capability in enumerate(volume.capabilities):
        mode = (capability.access_mode, capability.attachment_mode)
        if mode not in driver.modes:
            allowed = "one of " + ", ".join(sorted(" ".join(mode) for mode in driver.modes))
            where = f"{path}.capabilities[{index}]"
            yield Problem(
                path=where,
                got=" ".join(mode),
                allowed=f"{allowed} for {driver.name}",
                fix=driver.modes_advice,
            )
        elif volume.ebs and capability.access_mode.startswith("multi-node"):
            allowed = "a volume made elsewhere for multi-node access: only io1 and io2 volumes can be attached twice"
            fix = "make it with Multi-Attach and register it as existing"
            yield Problem(path=f"{path}.capabilities[{index}]", got=" ".join(mode), allowed=allowed, fix=fix)
    yield from _mount_options(volume, driver, f"{path}.mount_options")
    yield from _tags(volume, path)
    yield from _context(volume, driver, f"{path}.context")
    for name in ("context", "parameters", "secrets"):
        yield from _map_size(getattr(volume, name), f"{path}.{name}")


def _source(volume: spec.VolumeSpec, driver: drivers.Driver, path: str) -> Iterator[Problem]:
    for name in ("ebs", "efs"):
        if getattr(volume, name) is not None and driver.storage != name:
            allowed = f"{driver.storage} or existing under a plugin of {driver.name}"
            yield Problem(path=f"{path}.{name}", got=name, allowed=allowed, fix=f"check plugin_id {volume.plugin_id!r}")
    if volume.ebs:
        yield from ebs_rules.check(volume.ebs, f"{path}.ebs")
    if volume.efs:
        yield from efs_rules.check(volume.efs, f"{path}.efs")
    if volume.existing:
        yield from _existing(volume.existing, driver, f"{path}.existing")


def _existing(existing: spec.ExistingSpec, driver: drivers.Driver, path: str) -> Iterator[Problem]:
    external_id = existing.external_id
    rule = driver.external_id
    if not rule.pattern.fullmatch(external_id) or len(external_id.encode()) > EXTERNAL_ID_LIMIT_BYTES:
        yield Problem(path=f"{path}.external_id", got=repr(external_id), allowed=rule.allowed)
    if driver.topology_key and existing.availability_zone is None:
        fix = "add the zone of the volume"
        allowed = "a zone: without one Nomad places jobs where the volume cannot be attached"
        yield Problem(path=f"{path}.availability_zone", got="nothing", allowed=allowed, fix=fix)


def _zones(volume: spec.VolumeSpec, aws_region: str, path: str) -> Iterator[Problem]:
    zones = {}
    if volume.ebs:
        zones["ebs.availability_zone"] = volume.ebs.availability_zone
    if volume.existing and volume.existing.availability_zone:
        zones["existing.availability_zone"] = volume.existing.availability_zone
    for index, target in enumerate(volume.efs.mount_targets if volume.efs else ()):
        zones[f"efs.mount_targets[{index}].availability_zone"] = target.availability_zone
    for where, zone in zones.items():
        if not zone.startswith(aws_region):
            yield Problem(
                path=f"{path}.{where}", got=repr(zone), allowed=f"a zone of {aws_region}, the plugin's region"
            )


def _tags(volume: spec.VolumeSpec, path: str) -> Iterator[Problem]:
    for name, source in (("ebs", volume.ebs), ("efs", volume.efs)):
        for key in source.tags if source else ():
            if key.startswith(RESERVED_TAG_PREFIXES):
                allowed = (
                    f"no tag that begins with {', '.join(RESERVED_TAG_PREFIXES)}: they are AWS's, the driver's and ours"
                )
                yield Problem(path=f"{path}.{name}.tags.{key}", got="a tag", allowed=allowed, fix="remove it")


def _mount_options(volume: spec.VolumeSpec, driver: drivers.Driver, path: str) -> Iterator[Problem]:
    options = volume.mount_options
    if options.fs_type and options.fs_type not in driver.fs_types:
        allowed = f"one of {', '.join(sorted(filter(None, driver.fs_types)))} for {driver.name}"
        yield Problem(path=f"{path}.fs_type", got=repr(options.fs_type), allowed=allowed)
    attachments = {capability.attachment_mode for capability in volume.capabilities}
    if attachments == {"block-device"} and (options.fs_type or options.mount_flags):
        yield Problem(path=path, got="some", allowed="no mount options for a block device", fix="remove them")


def _context(volume: spec.VolumeSpec, driver: drivers.Driver, path: str) -> Iterator[Problem]:
    for key in volume.context:
        if key in driver.context.refused:
            fix = driver.context.refused[key]
            yield Problem(
                path=f"{path}.{key}",
                got=f"the key {key!r}",
                allowed=f"keys that {driver.name} takes",
                fix=fix,
            )
        elif driver.context.allowed is not None and key not in driver.context.allowed:
            allowed = f"one of {', '.join(sorted(driver.context.allowed))}; {driver.name} refuses others"
            yield Problem(path=f"{path}.{key}", got=f"the key {key!r}", allowed=allowed)


def _map_size(values: Mapping[str, object], path: str) -> Iterator[Problem]:
    plain = [value if isinstance(value, str) else value.get_secret_value() for value in values.values()]  # type: ignore[attr-defined]
    size = sum(len(text.encode()) for text in (*values, *plain))
    if size > MAP_LIMIT_BYTES:
        yield Problem(path=path, got=f"{size} bytes", allowed=f"at most {MAP_LIMIT_BYTES} bytes of keys and values")


def check_plugins(plugins: Mapping[str, spec.PluginSpec]) -> Iterator[Problem]:
    """Yield what two plugins cannot have in common. Keys are paths."""
    first: dict[str, str] = {}
    for path, plugin in plugins.items():
        if plugin.id in first:
            allowed = f"an id of its own: {first[plugin.id]} has it already"
            yield Problem(path=f"{path}.id", got=repr(plugin.id), allowed=allowed)
        first.setdefault(plugin.id, path)


def check_volumes(volumes: Mapping[str, spec.VolumeSpec], shared: frozenset[str]) -> Iterator[Problem]:
    """
    Yield what two volumes cannot have in common. Keys are paths.

    *shared* are the ids of plugins whose external ids may stand under several volume ids.
    """
    ids: dict[tuple[str, str], str] = {}
    external_ids: dict[str, str] = {}
    for path, volume in volumes.items():
        key = (volume.namespace, volume.id)
        if key in ids:
            allowed = f"an id of its own in namespace {volume.namespace}: {ids[key]} has it already"
            yield Problem(path=f"{path}.id", got=repr(volume.id), allowed=allowed)
        ids.setdefault(key, path)
        if volume.existing is None or volume.plugin_id in shared:
            continue
        external = volume.existing.external_id
        if external in external_ids:
            allowed = f"an external id of its own: {external_ids[external]} has it already"
            fix = "two ids for one volume would let two jobs mount it as if they were alone"
            yield Problem(path=f"{path}.existing.external_id", got=repr(external), allowed=allowed, fix=fix)
        external_ids.setdefault(external, path)
