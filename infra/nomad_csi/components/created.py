"""The component of a volume that the CSI plugin makes, asked through Nomad."""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi

from nomad_csi.components import arguments, resources, volume
from nomad_csi.components.argument_classes import CsiVolumeArgs
from nomad_csi.plan import model
from nomad_csi.spec import base, names
from nomad_csi.spec import model as spec
from nomad_csi.volumes import volume_properties


class CsiVolume(volume.Volume):
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
        made = resources.CreatedVolume(
            name,
            **volume.document_inputs(self, plan, plugin_id, args),
            availability_zone=plan.part(
                lambda made: _create(made).availability_zone, "availability_zone", "topologies"
            ),
            on_destroy=plan.part(lambda made: str(_create(made).on_destroy), "on_destroy", "deletion"),
            deletion=plan.part(lambda made: _deletion(_create(made).deletion), "deletion"),
            opts=self.child(protect=volume.protects(args)),
        )
        volume.write_file(self, name, plan, args, plugin_id=plugin_id)
        self.finish(
            **volume.outputs(plan, args, made.id, made.external_id, plugin_id=plugin_id),
            capacity_bytes=made.capacity_bytes.apply(lambda known: int(known or 0)),
            context=made.context.apply(lambda known: known or {}),
            topologies=made.topologies.apply(lambda known: known or []),
        )


def _create(made: model.VolumePlan) -> spec.CreateSpec:
    return volume.source(made, spec.CreateSpec)


def _deletion(how: spec.DeletionSpec | None) -> Mapping[str, Any] | None:
    """Return *how* as a property of the resource, without what is not said."""
    fields = base.fields_of(volume_properties.VolumeDeletion)
    given = {name: getattr(how, names.python_name(name), None) for name in fields}
    return {name: value for name, value in given.items() if value} if how else None
