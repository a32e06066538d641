"""
The ready-made stack: declare the components of a spec. The rules are in the plan.

`destroy` goes the other way: registrations, the check of health, node plugins, controllers (`plugin`), then storage.
"""

import asyncio
import dataclasses
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pulumi

from nomad_csi import errors
from nomad_csi.components import (
    ebs,
    efs,
    plugin,
    program,
    recorded,
    resources,
    scope,
    snapshot_schedules,
    volume,
)
from nomad_csi.hcl import documents
from nomad_csi.plan import model, storage
from nomad_csi.pulumi_state import stack_config
from nomad_csi.spec import draft, encrypted
from nomad_csi.spec import model as specs
from nomad_csi.text import foreign

PROGRAM_FAILED = 32
"""Exit code by which Pulumi's language host knows that the program has reported its errors itself."""


NAMESPACE = "nomad-csi"
"""Namespace of the stack's config, whatever the project is called."""


VolumeComponent = volume.CsiVolume | ebs.EbsVolume | efs.EfsVolume | volume.ExistingVolume

_COMPONENTS: Mapping[str, type[VolumeComponent]] = {
    "ebs": ebs.EbsVolume,
    "efs": efs.EfsVolume,
    "existing": volume.ExistingVolume,
    "create": volume.CsiVolume,
}
"""By the part of a volume in the spec that says where its storage comes from."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Storage:
    """The components of the ready stack."""

    plugins: Mapping[str, plugin.CsiPlugin]
    """By the id of the plugin."""
    file_systems: Mapping[str, efs.EfsFileSystem]
    """By the name in the spec."""
    volumes: Mapping[str, VolumeComponent]
    """By ``namespace/volume_id``."""


def storage_stack() -> Storage:
    """
    Declare what the stack's config asks for, or log every problem and end: all that a Pulumi program needs to do.

    Returns the components, for a program that goes on with their outputs. The config is that of the project where it
    has ``storage``, else that of the namespace `NAMESPACE`, so that it works in a project of any name; its keys are
    those of `declare`.
    """
    program.end_quietly()
    try:
        return declare(own_config())
    except errors.NomadCsiError as error:
        pulumi.log.error(foreign.visible(str(error)))
        sys.exit(PROGRAM_FAILED)


def own_config() -> pulumi.Config:
    """Return the config of the project where it has ``storage``, else that of `NAMESPACE`."""
    own = pulumi.Config()
    return own if own.get("storage") is not None else pulumi.Config(NAMESPACE)


def declare(config: pulumi.Config) -> Storage:
    """
    Declare everything under ``storage`` of *config*. Raises `errors.NomadCsiError` before anything is declared.

    Other keys: ``renderTo`` (folder for the rendered files; absent: none are written), ``templates``
    (folder with templates of one's own, below the project's), ``address``,
    ``token``, ``namespace`` and ``region`` of Nomad (default: the ``NOMAD_*`` variables).
    """
    document, key = _document(config), config.full_key("storage")
    declared = storage.Declared()
    plan = storage.plan_document(document, source=key, owner=program.owner(), declared=declared)
    if document.get("owner", program.owner()) != program.owner():
        allowed = f"{program.owner()}, this stack"
        problem = errors.Problem(path="owner", got=document["owner"], allowed=allowed, fix="remove it")
        raise errors.SpecError((problem,), key)
    files = {"render_to": config.get("renderTo") or ""}
    if templates := config.get("templates"):
        files["templates"] = str(Path(pulumi.get_root_directory(), templates))
        for job in (job for planned in plan.plugins for job in planned.jobs):
            documents.job_file(job, templates=files["templates"])  # refused before anything is made
    members = zip(draft.members(document, []), plan.volumes, strict=True)
    wanted = tuple(_StackVolume(path=path, written=written, plan=each) for (path, written), each in members)
    if elsewhere := tuple(_other_regions(document)):
        raise errors.SpecError(elsewhere, key, draft.ids(document))
    recorded.refuse_removed_owners({each.path: each.plan for each in wanted}, plan.file_systems)
    if wrong := scope.scope().add_spec((config.get("address"), config.get("region")), document, declared):
        raise errors.SpecError(wrong, key, draft.ids(document))
    provider = _provider(config)
    recorded.warn_of_removed()
    opts = pulumi.ResourceOptions(providers=[provider])
    # Plugins wait for storage that is declared after them, so that a tear-down ends with the storage.
    all_storage: asyncio.Future[Sequence[pulumi.Resource]] = asyncio.get_running_loop().create_future()
    after = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=all_storage))
    try:
        plugins = {
            planned.plugin_id: plugin.CsiPlugin(planned.plugin_id, _planned(written | files, planned), after)
            for written, planned in zip(document.get("plugins", ()), plan.plugins, strict=True)
        }
        systems = _file_systems(document, plan, opts)
        volumes = {each.plan.key: _volume(each, plugins, systems, files, opts) for each in wanted}
        _snapshots(plan, wanted, volumes, systems, opts, protect=document.get("protect", True))
        everything = (*systems.values(), *volumes.values())
        all_storage.set_result([resource for item in everything for resource in getattr(item, "storage", ())])
    finally:
        if not all_storage.done():
            all_storage.set_result([])  # of an error in between: or what waits for the storage would wait for ever
    pulumi.export("externalIds", {key: volume.external_id for key, volume in sorted(volumes.items())})
    return Storage(plugins=plugins, file_systems=systems, volumes=volumes)


@dataclasses.dataclass(frozen=True, kw_only=True)
class _StackVolume:
    """A volume of the spec."""

    path: str
    written: Mapping[str, Any]
    """As it was written, with the keys of its class."""

    plan: model.VolumePlan


def _planned(written: Mapping[str, Any], plan: Any, path: str = "") -> Any:
    """Return arguments of a component, with the plan that was made of them already: a class of arguments to mypy."""
    return program.Planned(written, plan, path)


def _document(config: pulumi.Config) -> Any:
    """Return the spec, with a placeholder for each string that the stack's config encrypts."""
    document, key = config.get_object("storage"), config.full_key("storage")
    if document is None:
        allowed = f"the spec under {key} in the stack's config"
        fix = "`nomad-csi init --pulumi python` writes an example; check the spelling of the key"
        raise errors.SpecError((errors.Problem(path="", got="nothing", allowed=allowed, fix=fix),), key)
    if not pulumi.runtime.is_config_secret(key):
        return document
    return stack_config.marked(document, _file(), key)


def _file() -> Path:
    """Return the file of the stack's config."""
    return stack_config.path_of(Path(pulumi.get_root_directory()), pulumi.get_stack(), os.environ)


def _file_systems(
    document: Mapping[str, Any], plan: model.StoragePlan, opts: pulumi.ResourceOptions
) -> dict[str, efs.EfsFileSystem]:
    """Declare the file systems that volumes share. Return them by their names."""
    declared = {}
    for name, system in plan.file_systems.items():
        aliases = [pulumi.Alias(name=system.moved_from)] if system.moved_from else []
        args = {"protect": document.get("protect", True)} | document["file_systems"][name]
        own = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(aliases=aliases))
        declared[name] = efs.EfsFileSystem(name, _planned(args, system, f"file_systems.{name}"), own)
    return declared


def _other_regions(document: Mapping[str, Any]) -> Iterator[errors.Problem]:
    """Yield a problem for each plugin of another region than that of the stack."""
    region = pulumi.Config("aws").get("region")
    for index, written in enumerate(document.get("plugins", ())):
        given = written.get("aws_region")
        if region and given and given != region:
            allowed = f"{region}, the aws:region of this stack"
            fix = "one stack works in one region: use another stack for the other"
            yield errors.Problem(path=f"plugins[{index}].aws_region", got=repr(given), allowed=allowed, fix=fix)


def _provider(config: pulumi.Config) -> resources.Provider:
    return resources.Provider(
        "nomad",
        address=config.get("address"),
        token=config.get_secret("token"),
        namespace=config.get("namespace"),
        region=config.get("region"),
        root=pulumi.get_root_directory(),
    )


def _snapshots(
    plan: model.StoragePlan,
    wanted: Sequence[_StackVolume],
    volumes: Mapping[str, VolumeComponent],
    shared: Mapping[str, efs.EfsFileSystem],
    opts: pulumi.ResourceOptions,
    *,
    protect: bool,
) -> None:
    """Declare a component of each schedule for the EBS volumes that name it, and one for the file systems."""
    for name, schedule in plan.schedules.items():
        named = [each.plan for each in wanted if name in each.written.get("snapshots", ())]
        disks = [each.source for each in named if isinstance(each.source, specs.EbsSpec)]
        key_arns = sorted({disk.kms_key_arn for disk in disks if disk.kms_key_arn})
        systems = [volumes[each.key] for each in named]
        arns = [system.file_system_arn for system in systems if isinstance(system, efs.EfsVolume)]
        systems_of = plan.file_systems.items()
        arns += [shared[each].file_system_arn for each, system in systems_of if name in system.snapshots]
        if disks:
            args: dict[str, Any] = {"kms_key_arns": key_arns} if key_arns else {}
            snapshot_schedules.EbsSnapshots(name, _planned(args, schedule), opts)
        if arns:
            args = {"file_system_arns": arns, "protect": protect}
            snapshot_schedules.EfsBackups(name, _planned(args, schedule), opts)


def _volume(
    wanted: _StackVolume,
    plugins: Mapping[str, plugin.CsiPlugin],
    systems: Mapping[str, efs.EfsFileSystem],
    files: Mapping[str, str],
    opts: pulumi.ResourceOptions,
) -> VolumeComponent:
    """Declare the component of a volume."""
    plan = wanted.plan
    written = encrypted.revealed(wanted.written, pulumi.Output.secret)
    source = next(name for name in _COMPONENTS if written.get(name) is not None)
    document = plan.registration
    args = {**written, **written[source], **files, "protect": plan.protect}
    args["plugin_id"] = plugins[document.plugin_id].plugin_id
    system = systems[args["file_system"]] if args.get("file_system") else None
    if system:
        args["file_system_id"] = system.file_system_id
    former = [pulumi.Alias(name=program.component_name(*plan.former_key))] if plan.former_key else []
    after = list(system.storage) if system else []
    own = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(aliases=former, depends_on=after))
    name = program.component_name(document.namespace, document.volume_id)
    path = f"{wanted.path} ({document.volume_id}).{source}"
    return _COMPONENTS[source](name, _planned(args, plan, path), own)
