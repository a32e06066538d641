"""The ready-made stack: declare the components of a spec, in order. The rules are in the plan."""

import asyncio
import dataclasses
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pulumi

from nomad_csi import errors
from nomad_csi.components import efs, from_spec, plugin, preflight, program, resources, snapshots
from nomad_csi.plan import model, storage
from nomad_csi.pulumi_state import stack_config
from nomad_csi.render import documents
from nomad_csi.spec import draft, encrypted, names
from nomad_csi.spec import model as specs
from nomad_csi.text import foreign

PROGRAM_FAILED = 32
"""Exit code by which Pulumi's language host knows that the program has reported its errors itself."""


NAMESPACE = "nomad-csi"
"""Namespace of the stack's config, whatever the project is called."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Storage:
    """The components of the ready stack."""

    plugins: Mapping[str, plugin.CsiPlugin]
    """By the id of the plugin."""
    file_systems: Mapping[str, efs.EfsFileSystem]
    """By the name in the spec."""
    volumes: Mapping[str, from_spec.VolumeComponent]
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
    _refuse_encrypted(config)
    document, key = _document(config), config.full_key("storage")
    try:
        return _declare(config, document)
    except errors.SpecError as error:
        if error.source != key:
            raise
        raise stack_config.located(error, document, _file(), key, os.environ) from None


def _declare(config: pulumi.Config, document: Any) -> Storage:
    key = config.full_key("storage")
    plan = storage.plan_document(document, source=key, owner=program.owner())
    if document.get("owner", program.owner()) != program.owner():
        allowed = f"{program.owner()}, this stack"
        problem = errors.Problem(path="owner", got=document["owner"], allowed=allowed, fix="remove it")
        raise errors.SpecError((problem,), key)
    files = {"render_to": config.get("renderTo") or ""} | _templates(config, plan)
    read = draft.read(document)
    try:
        _read_and_plan(read, plan)
    except errors.SpecError as error:
        raise errors.SpecError(error.problems, key, draft.ids(document)) from None
    opts = pulumi.ResourceOptions(providers=[_provider(config)])
    # Plugins wait for storage that is declared after them, so that a tear-down ends with the storage.
    made: asyncio.Future[Sequence[pulumi.Resource]] = asyncio.get_running_loop().create_future()
    after = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=made))
    try:
        plugins = _plugins(read, files, after)
        systems = _file_systems(read, document, opts)
        volumes = _volumes(read, plugins, systems, files, opts)
        _snapshots(read, volumes, systems, opts)
        everything = (*systems.values(), *volumes.values())
        made.set_result([resource for item in everything for resource in getattr(item, "storage", ())])
    finally:
        made.cancel()  # of an error in between: or what waits for the storage would wait for ever
    pulumi.export("externalIds", {key: volume.external_id for key, volume in sorted(volumes.items())})
    by_id = {read.plugins[path].id: component for path, component in plugins.items()}
    return Storage(plugins=by_id, file_systems=systems, volumes=volumes)


def _refuse_encrypted(config: pulumi.Config) -> None:
    """Raise `errors.SpecError` with every key that is encrypted, and whose value stands in the state in clear."""
    keys = ("address", "namespace", "region", "renderTo", "templates")
    problems = tuple(
        errors.Problem(path=name, got="an encrypted value", allowed="text in clear", fix="set it without --secret")
        for name in keys
        if pulumi.runtime.is_config_secret(config.full_key(name))
    )
    if problems:
        raise errors.SpecError(problems, "the stack's config")


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


def _templates(config: pulumi.Config, plan: model.StoragePlan) -> dict[str, str]:
    """Return the argument for templates of one's own, if there are any, after a try of them on every job of *plan*."""
    given = config.get("templates")
    if not given:
        return {}
    folder = str(Path(pulumi.get_root_directory(), given))
    for job in (job for plugin_plan in plan.plugins for job in plugin_plan.jobs):
        documents.job_file(job, templates=folder)
    return {"templates": folder}


def _plugins(read: draft.Draft, files: from_spec.Files, opts: pulumi.ResourceOptions) -> dict[str, plugin.CsiPlugin]:
    """Declare the plugins. Return them by their path in the document."""
    declared = {}
    for path, spec in read.plugins.items():
        served = [volume for volume in read.volumes.values() if volume.plugin_id == spec.id]
        args = from_spec.plugin_args(read.written[path], served, files=files)
        declared[path] = plugin.CsiPlugin(spec.id, args, opts)
    return declared


def _file_systems(read: draft.Draft, document: Any, opts: pulumi.ResourceOptions) -> dict[str, efs.EfsFileSystem]:
    """Declare the file systems that volumes share. Return them by their names."""
    declared = {}
    for name, spec in (read.file_systems or {}).items():
        aliases = [pulumi.Alias(name=spec.moved_from)] if spec.moved_from else []
        args = from_spec.file_system_args(document["file_systems"][name], protect=read.protect)
        own = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(aliases=aliases))
        declared[name] = efs.EfsFileSystem(name, args, own)
    return declared


def _read_and_plan(read: draft.Draft, plan: model.StoragePlan) -> None:
    regions = {spec.aws_region for spec in read.plugins.values() if spec.aws_region}
    aws_config = pulumi.Config("aws")
    provider_region = aws_config.get("region")
    for path, spec in read.plugins.items():
        if provider_region and spec.aws_region and spec.aws_region != provider_region:
            allowed = f"{provider_region}, the aws:region of this stack"
            fix = "one stack works in one region: use another stack for the other"
            problem = errors.Problem(path=f"{path}.aws_region", got=repr(spec.aws_region), allowed=allowed, fix=fix)
            raise errors.SpecError((problem,), names.STACK_CONFIG_KEY)
    preflight.refuse_removed_owners(read.volumes, read.file_systems or {})
    if read.file_systems or any(volume.ebs or volume.efs for volume in read.volumes.values()):
        paths = {f"{volume.namespace}/{volume.id}": f"{path}.ebs" for path, volume in read.volumes.items()}
        wanted = {
            volume.key: preflight.PlannedEbsVolume(path=paths[volume.key], volume=volume.source)
            for volume in plan.volumes
            if isinstance(volume.source, specs.EbsSpec)
        }
        preflight.refuse_what_cannot_be(regions, wanted, profile=aws_config.get("profile"))


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
    read: draft.Draft,
    volumes: Mapping[str, from_spec.VolumeComponent],
    shared: Mapping[str, efs.EfsFileSystem],
    opts: pulumi.ResourceOptions,
) -> None:
    """Declare a component of each schedule for the EBS volumes that name it, and one for the file systems."""
    for name, schedule in (read.snapshots or {}).items():
        named = [spec for spec in read.volumes.values() if name in spec.snapshots]
        key_arns = sorted({spec.ebs.kms_key_arn for spec in named if spec.ebs and spec.ebs.kms_key_arn})
        systems = [volumes[f"{spec.namespace}/{spec.id}"] for spec in named if spec.efs]
        arns = [system.file_system_arn for system in systems if isinstance(system, efs.EfsVolume)]
        arns += [
            shared[each].file_system_arn for each, spec in (read.file_systems or {}).items() if name in spec.snapshots
        ]
        args: Any = schedule.model_dump(exclude_none=True)
        if any(spec.ebs for spec in named):
            snapshots.EbsSnapshots(name, args | ({"kms_key_arns": key_arns} if key_arns else {}), opts)
        if arns:
            snapshots.EfsBackups(name, args | {"file_system_arns": arns, "protect": read.protect}, opts)


def _volumes(
    read: draft.Draft,
    plugins: Mapping[str, plugin.CsiPlugin],
    systems: Mapping[str, efs.EfsFileSystem],
    files: from_spec.Files,
    opts: pulumi.ResourceOptions,
) -> dict[str, from_spec.VolumeComponent]:
    by_id = {spec.id: (read.written[path]["driver"], plugins[path].plugin_id) for path, spec in read.plugins.items()}
    volumes = {}
    for path, spec in read.volumes.items():
        driver, plugin_id = by_id[spec.plugin_id]
        written = encrypted.revealed(read.written[path], pulumi.Output.secret)
        system = systems[spec.efs.file_system] if spec.efs and spec.efs.file_system else None
        component, args = from_spec.volume_component(
            written,
            driver,
            plugin_id=plugin_id,
            protect=read.protect,
            files=files,
            file_system_id=system.file_system_id if system else None,
        )
        name, former = from_spec.component_name(spec.namespace, spec.id), spec.former_key
        aliases = [pulumi.Alias(name=from_spec.component_name(*former))] if former else []
        after = system.storage if system else ()
        own = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(aliases=aliases, depends_on=list(after)))
        volumes[f"{spec.namespace}/{spec.id}"] = component(name, args, own)  # type: ignore[arg-type]  # they belong together
    return volumes
