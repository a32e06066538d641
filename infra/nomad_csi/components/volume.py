"""
What every volume component does with its plan: the arguments they share, the registration, the volume file.

The components without AWS resources of their own are here, too: `ExistingVolume` and `CsiVolume`.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, TypeVar

import pulumi

from nomad_csi.components import arguments, identity, lifting, program, recorded, resources
from nomad_csi.components.argument_classes import CsiVolumeArgs, ExistingVolumeArgs
from nomad_csi.plan import model, registration, snippet
from nomad_csi.spec import base, names
from nomad_csi.spec import model as spec
from nomad_csi.volumes import volume_properties

Plan = lifting.Lifted[model.VolumePlan]

_DEPENDS_ON = {
    "name": ("name", "volume_id"),
    "required_topologies": ("topologies", "availability_zone"),
    **dict.fromkeys(
        ("capacity_min_bytes", "capacity_max_bytes"),
        ("capacity_min_gib", "capacity_min_bytes", "capacity_max_gib", "capacity_max_bytes"),
    ),
}
"""Properties of a registration that depend on other arguments than that of their name."""

_SEPARATE = ("pluginId", "secrets", "mountOptions", "externalId")
"""Properties of a registration that do not come from the plan."""


class VolumeBlock(TypedDict):
    """The ``volume`` block of a job's group. Names are those of the block."""

    type: str
    """``csi``."""
    source: str
    """Nomad's id of the volume."""
    access_mode: str
    """The first of the volume's capabilities."""
    attachment_mode: str
    """The first of the volume's capabilities."""
    read_only: bool
    """Whether the access mode is one for readers."""


class VolumeMount(TypedDict):
    """The ``volume_mount`` block of a task. Names are those of the block."""

    volume: str
    """Name of the ``volume`` block."""
    destination: str
    """``/NAME``, or ``/dev/NAME`` for a block device. Choose another one where the task wants it elsewhere."""
    read_only: bool
    """As in the ``volume`` block."""


class Claim(TypedDict):
    """How a job uses a volume."""

    namespace: str
    """Namespace of the volume; the job must be in the same."""
    name: str
    """Name of the ``volume`` block."""
    volume: VolumeBlock
    """The ``volume`` block of the job's group."""
    volume_mount: VolumeMount
    """The ``volume_mount`` block of each task that uses the volume."""


class Volume(program.Component):
    """What all components of a volume have."""

    external_id: pulumi.Output[str]
    """The id that the plugin knows the storage by."""
    registration_id: pulumi.Output[str]
    """``namespace/volume_id``, known once the volume is registered: what depends on it can claim the volume."""
    volume_id: pulumi.Output[str]
    """Nomad's id of the volume."""
    namespace: pulumi.Output[str]
    """Nomad namespace of the volume."""
    volume_hcl: pulumi.Output[str]
    """The volume file, as ``nomad volume register`` or ``create`` reads it; secrets are only named."""
    claim: pulumi.Output[Claim]
    """The blocks of a job that uses the volume, known once the volume is registered."""


SourceT = TypeVar("SourceT", spec.EbsSpec, spec.EfsSpec, spec.CreateSpec)


def source(planned: model.VolumePlan, kind: type[SourceT]) -> SourceT:
    """Return the storage of a plan, which was made with a part of this *kind*."""
    assert isinstance(planned.source, kind)  # noqa: S101  # see above
    return planned.source


def key(plan: Plan) -> lifting.Later[str]:
    """Return ``namespace/volume_id``."""
    return plan.part(lambda planned: planned.key, "namespace", "volume_id")


def protects(args: Mapping[str, Any]) -> bool:
    """Return whether the storage is neither deleted nor replaced."""
    return bool(args.get("protect", True))


def register(  # noqa: PLR0917  # called by our own components only
    component: program.Component,
    name: str,
    plan: Plan,
    args: Mapping[str, Any],
    external_id: pulumi.Input[str],
    storage: Sequence[pulumi.Resource] = (),
    *,
    plugin_id: pulumi.Input[str],
    location: pulumi.Input[str] | None = None,
    is_part: bool = False,
) -> resources.VolumeRegistration:
    """
    Register the volume of *plan* and write its file, as children of *component*.

    *storage* is what the component makes, and is there first; *location* which data it is, where its id does not show.
    *is_part*: it makes a part of a file system that stays without it.
    """
    fate: dict[str, Any] = {
        "location": location,
        "owned": bool(storage),
        **({"retained": True} if component.is_retained else {}),
        **({"part": True} if is_part else {}),
    }
    registration = resources.VolumeRegistration(
        name,
        **document_inputs(component, plan, plugin_id, args) | {"external_id": external_id},
        protect=protects(args),
        storage=fate
        | {
            "shared": plan.part(lambda planned: planned.registration.shares_storage, "shares_storage"),
            "settings": plan.part(lambda planned: list(planned.context_settings), "context"),
        },
        opts=component.child(depends_on=list(storage)),
    )
    recorded.refuse_handed_over(registration, fate)
    recorded.note_registration(component, name, plan)
    write_file(component, name, plan, args, external_id=external_id, plugin_id=plugin_id)
    return registration


def outputs(
    plan: Plan,
    args: Mapping[str, Any],
    registration_id: pulumi.Output[str],
    external_id: pulumi.Input[str],
    /,
    **own: pulumi.Input[str],
) -> dict[str, pulumi.Input[Any]]:
    """Return the outputs that all volumes have; *own* values are in the registration only."""
    claim = plan.part(
        lambda planned: snippet.make_snippet([planned.registration], planned.registration.volume_id).blocks(),
        *("namespace", "volume_id", "capabilities"),
    )
    return {
        "external_id": external_id,
        "registration_id": registration_id,
        "volume_id": plan.part(lambda planned: planned.registration.volume_id, "volume_id"),
        "namespace": plan.part(lambda planned: planned.registration.namespace, "namespace"),
        "volume_hcl": content(plan, args, **own),
        "claim": pulumi.Output.all(claim, registration_id).apply(lambda known: known[0]),
    }


def write_file(
    component: program.Component, name: str, plan: Plan, args: Mapping[str, Any], **own: pulumi.Input[str]
) -> None:
    """Write the volume file of *plan*, where *args* want one, with its *own* values in the registration."""
    if not args.get("render_to"):
        return
    path = plan.part(lambda planned: f"{args['render_to']}/{planned.file_name}", "namespace", "volume_id")
    resources.RenderedFile(name, path=path, content=content(plan, args, **own), opts=component.child())


def content(plan: Plan, args: Mapping[str, Any], **own: pulumi.Input[str]) -> pulumi.Output[str]:
    """Return the volume file of *plan*, with its *own* values in the registration."""

    def rendered(planned: model.VolumePlan, **known: Any) -> str:
        from nomad_csi.hcl import documents  # noqa: PLC0415  # a volume that is not there yet has no file

        document = dataclasses.replace(planned.registration, **known)
        return documents.volume_file(document, made_by_plugin=planned.made_by_plugin, templates=args.get("templates"))

    return pulumi.Output.all(planned=plan.whole, **own).apply(lambda known: rendered(**known))


def document_inputs(
    component: program.Component, plan: Plan, plugin_id: pulumi.Input[str], args: Mapping[str, Any]
) -> dict[str, Any]:
    """
    Return the registration of *plan* as arguments of a resource class, without what a plugin writes itself.

    What may be secret comes from *args*: the plan has placeholders for it.
    """
    flags = arguments.mount_flags(args) if args.get("mount_options") is not None else []
    fs_type = plan.part(lambda planned: planned.registration.mount_options.fs_type or None, "mount_options.fs_type")
    mount = {"fsType": fs_type, "mountFlags": flags}
    return {names.python_name(name): value for name, value in _document(plan).items() if value} | {
        "plugin_id": plugin_id,
        "mount_options": {name: value for name, value in mount.items() if value},
        "secrets": arguments.checked("secrets", args["secrets"]) if args.get("secrets") else None,
        "owner": program.owner(),
        "owner_id": identity.stack_id(component),
        "adopt": plan.part(lambda planned: planned.adopt, "adopt"),
    }


def _document(plan: Plan) -> dict[str, Any]:
    """Return the properties of a registration that come from *plan*; those without a value may be missing."""
    if not isinstance(plan.whole, pulumi.Output):
        return {name: value for name, value in _form(plan.whole).items() if name not in _SEPARATE}
    every = dict.fromkeys(item.property.partition(".")[0] for item in registration.FIELDS)
    inputs = {}
    for name in every.keys() - set(_SEPARATE):
        argument = names.python_name(name)
        depends_on = _DEPENDS_ON.get(argument, (argument,))
        inputs[name] = plan.part(lambda planned, name=name: _form(planned).get(name), *depends_on)  # type: ignore[misc]
    return inputs


def _form(planned: model.VolumePlan) -> dict[str, Any]:
    return registration.write(planned.registration, "property")


class ExistingVolume(Volume):
    """Storage that exists already, registered with Nomad. It is never deleted."""

    external_id: pulumi.Output[str]
    """As given."""

    def __init__(self, name: str, args: ExistingVolumeArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Declare the volume *name*, which is also its id unless ``volume_id`` says otherwise."""
        super().__init__("nomad-csi:index:ExistingVolume", name, {}, opts)
        described = args.get("driver", "")
        plan = arguments.volume_plan(self, name, args, ExistingVolumeArgs, described, existing=spec.ExistingSpec)
        external_id = plan.part(lambda planned: planned.registration.external_id, "external_id")
        plugin_id = arguments.plugin_id(self, name, args)
        registration = register(self, name, plan, args, external_id, plugin_id=plugin_id)
        own = {"external_id": external_id, "plugin_id": plugin_id}
        self.finish(**outputs(plan, args, registration.id, external_id, **own))


class CsiVolume(Volume):
    """A volume that its plugin creates through Nomad. Data is kept on removal unless ``on_destroy`` is ``delete``."""

    external_id: pulumi.Output[str]
    """The id that the plugin gave it."""
    capacity_bytes: pulumi.Output[int]
    """How large the plugin made it; 0 where it does not say."""
    context: pulumi.Output[Mapping[str, str]]
    """The volume context, as the plugin answered."""
    topologies: pulumi.Output[Sequence[Mapping[str, Mapping[str, str]]]]
    """Places where the volume can be attached, each with its ``segments``; none: anywhere."""

    def __init__(self, name: str, args: CsiVolumeArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Declare the volume *name*, which is also its id unless ``volume_id`` says otherwise."""
        super().__init__("nomad-csi:index:CsiVolume", name, {}, opts)
        plan = arguments.volume_plan(self, name, args, CsiVolumeArgs, args.get("driver", ""), create=spec.CreateSpec)
        plugin_id = arguments.plugin_id(self, name, args)
        volume = resources.CreatedVolume(
            name,
            **document_inputs(self, plan, plugin_id, args),
            availability_zone=plan.part(
                lambda planned: _create(planned).availability_zone, "availability_zone", "topologies"
            ),
            on_destroy=plan.part(lambda planned: str(_create(planned).on_destroy), "on_destroy", "deletion"),
            deletion=plan.part(lambda planned: _deletion(_create(planned).deletion), "deletion"),
            opts=self.child(protect=protects(args)),
        )
        write_file(self, name, plan, args, plugin_id=plugin_id)
        self.finish(
            **outputs(plan, args, volume.id, volume.external_id, plugin_id=plugin_id),
            capacity_bytes=volume.capacity_bytes.apply(lambda known: int(known or 0)),
            context=volume.context.apply(lambda known: known or {}),
            topologies=volume.topologies.apply(lambda known: known or []),
        )


def _create(planned: model.VolumePlan) -> spec.CreateSpec:
    return source(planned, spec.CreateSpec)


def _deletion(how: spec.DeletionSpec | None) -> Mapping[str, Any] | None:
    """Return *how* as a property of the resource, without what is not given."""
    fields = base.fields_of(volume_properties.VolumeDeletion)
    given = {name: getattr(how, names.python_name(name), None) for name in fields}
    return {name: value for name, value in given.items() if value} if how else None
