"""What every volume component does with its plan: the arguments they share, the registration, the volume file."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import pulumi

from nomad_csi.components import arguments, identity, resources
from nomad_csi.plan import model, volume_forms
from nomad_csi.render import documents
from nomad_csi.resources.frame import properties
from nomad_csi.spec import model as spec


def planned(
    name: str, args: Mapping[str, Any], kind: Any, described: Any, **source: type[spec.Model]
) -> model.VolumePlan:
    """
    Return the plan of the volume of the component *name* with the arguments *args* of the class *kind*.

    *described* is its driver, by name or by description; *source* the part of a volume in the spec that says where the
    storage comes from, such as ``ebs``, and its model. Raises `errors.SpecError` with all problems.
    """
    of_volume = spec.VolumeSpec.model_fields.keys() - {"id", *spec.SOURCES}
    parts = {part: arguments.chosen(args, *of_part.model_fields) for part, of_part in source.items()}
    document = arguments.chosen(args, *of_volume) | parts
    return arguments.volume_plan(args.get("volume_id") or name, args, kind, described, document)


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
    write_file(component, name, plan, args, external_id=external_id, plugin_id=plugin_id)
    return registration


def write_file(
    component: pulumi.ComponentResource,
    name: str,
    plan: model.VolumePlan,
    args: Mapping[str, Any],
    **known_later: pulumi.Input[str],
) -> None:
    """Write the volume file of *plan*, where *args* want one, once what is *known_later* of its registration is."""
    if not args.get("render_to"):
        return

    def rendered(known: dict[str, Any]) -> str:
        document = dataclasses.replace(plan.registration, **known)
        return documents.volume_file(document, made_by_plugin=plan.made_by_plugin, templates=args.get("templates"))

    path, content = f"{args['render_to']}/{plan.file_name}", pulumi.Output.all(**known_later).apply(rendered)
    resources.RenderedFile(name, path=path, content=content, opts=pulumi.ResourceOptions(parent=component))


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
    return {properties.python_name(name): value for name, value in written.items()} | {
        "plugin_id": plugin_id,
        "mount_options": mount,
        "secrets": args.get("secrets"),
        "owner": arguments.owner(),
        "owner_id": identity.stack_id(component),
        "adopt": plan.adopt,
    }
