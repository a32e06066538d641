"""What every volume component does with its plan: the arguments they share, the registration, the volume file."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import pulumi

from nomad_csi.components import arguments, identity, resources
from nomad_csi.plan import model, volume_forms, volumes
from nomad_csi.render import documents
from nomad_csi.spec import model as spec


class Capability(TypedDict):
    """One way in which allocations may use the volume."""

    access_mode: str
    """One of Nomad's five access modes, such as ``single-node-writer``."""
    attachment_mode: NotRequired[str]
    """``file-system`` (default) or ``block-device``."""


class MountOptions(TypedDict):
    """How the file system is mounted."""

    fs_type: NotRequired[str]
    """Such as ``ext4``. Absent: the driver's default."""
    mount_flags: NotRequired[Sequence[pulumi.Input[str]]]
    """Such as ``["noatime"]``. Flags that are outputs, such as secrets, are not written to volume files."""


class VolumeArgs(TypedDict):
    """What all volumes have in common; the fields are those of a volume in the spec."""

    plugin_id: pulumi.Input[str]
    """The plugin that serves the volume. Pass ``plugin_id`` of a `CsiPlugin`: known once the plugin is healthy."""
    volume_id: NotRequired[str]
    """Nomad's id of the volume. Default: the component's name."""
    namespace: NotRequired[str]
    """Nomad namespace of the volume. Default: ``default``."""
    name: NotRequired[str]
    """Shown by Nomad. Default: the id."""
    capabilities: NotRequired[Sequence[Capability]]
    """Ways in which allocations may use the volume. Default: the driver's."""
    mount_options: NotRequired[MountOptions]
    """How the file system is mounted."""
    topologies: NotRequired[Sequence[Mapping[str, str]]]
    """Segments of each place where it can be attached, in place of those of the availability zone."""
    context: NotRequired[Mapping[str, str]]
    """``volume_context`` of every CSI call."""
    parameters: NotRequired[Mapping[str, str]]
    """Passed to the controller when it validates the volume."""
    secrets: NotRequired[pulumi.Input[Mapping[str, pulumi.Input[str]]]]
    """CSI secrets. Encrypted in the state, and not written to files."""
    adopt: NotRequired[bool]
    """Take over a registration of the same id that differs or belongs to another stack. Default: false."""
    shares_storage: NotRequired[bool]
    """Allow another volume id for the same storage; only with access modes for several nodes. Default: false."""
    protect: NotRequired[bool]
    """Whether the storage is neither deleted nor replaced, and the volume not pointed at other data. Default: true."""
    render_to: NotRequired[str]
    """Folder, below the provider's root, for the volume file. Absent: no file is written."""
    templates: NotRequired[str]
    """Folder with your own templates, which override the built-in ones."""


def document(args: Mapping[str, Any], source: str, kind: type[spec.Model]) -> dict[str, Any]:
    """Return the volume of the spec that *args* describe: the fields of *kind*, its *source*, apart."""
    of_volume = spec.VolumeSpec.model_fields.keys() - {"id", *spec.SOURCES}
    return arguments.chosen(args, *of_volume) | {source: arguments.chosen(args, *kind.model_fields)}


def register(  # noqa: PLR0917  # called by our own components only
    component: pulumi.ComponentResource,
    name: str,
    plan: model.VolumePlan,
    args: Mapping[str, Any],
    external_id: pulumi.Input[str],
    storage: Sequence[pulumi.Resource] = (),
    *,
    location: pulumi.Input[str] | None = None,
    is_part: bool = False,
    after: Sequence[pulumi.Resource] = (),
) -> resources.VolumeRegistration:
    """
    Register the volume of *plan* and write its file, as children of *component*.

    *storage* is what the component makes, and is there first, as *after* is; *location* which data it is, where its id
    does not show. *is_part*: it makes a part of a file system that stays without it.
    """
    plugin_id = arguments.checked("plugin_id", args["plugin_id"])
    child = pulumi.ResourceOptions(parent=component)
    registration = resources.VolumeRegistration(
        name,
        **document_inputs(component, plan, plugin_id, args) | {"external_id": external_id},
        protect=plan.protect,
        storage={
            "location": location,
            "owned": bool(storage),
            **({"part": True} if is_part else {}),
            "shared": plan.registration.shares_storage,
            "settings": list(plan.context_settings),
        },
        opts=pulumi.ResourceOptions(parent=component, depends_on=[*storage, *after]),
    )
    if args.get("render_to"):
        known = pulumi.Output.all(external_id, plugin_id)
        content = known.apply(lambda values: _file(plan, values[0], values[1], args.get("templates")))
        resources.RenderedFile(name, path=f"{args['render_to']}/{plan.file_name}", content=content, opts=child)
    return registration


def document_inputs(
    component: pulumi.ComponentResource, plan: model.VolumePlan, plugin_id: pulumi.Input[str], args: Mapping[str, Any]
) -> dict[str, Any]:
    """
    Return the registration of *plan* as arguments of a resource class, without what a plugin writes itself.

    What may be secret comes from *args*: the plan has placeholders for it.
    """
    options = plan.registration.mount_options
    document = dataclasses.replace(
        plan.registration, mount_options=dataclasses.replace(options, mount_flags=()), secrets={}
    )
    written = volume_forms.write(document, "property")
    flags = list((args.get("mount_options") or {}).get("mount_flags") or ())
    mount = written.pop("mountOptions", {}) | ({"mountFlags": flags} if flags else {})
    return {resources.in_python(name): value for name, value in written.items()} | {
        "plugin_id": plugin_id,
        "mount_options": mount,
        "secrets": args.get("secrets"),
        "owner": arguments.owner(),
        "owner_id": identity.stack_id(component),
        "adopt": plan.adopt,
    }


def _file(plan: model.VolumePlan, external_id: str, plugin_id: str, templates: str | None) -> str:
    document = volumes.with_external_id(plan, external_id, plugin_id=plugin_id)
    return documents.volume_file(document, templates=templates)
