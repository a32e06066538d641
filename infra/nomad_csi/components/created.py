"""The component of a volume that the CSI plugin makes, asked through Nomad."""

from collections.abc import Mapping
from typing import Any

import pulumi

from nomad_csi.components import arguments, program, resources, volume
from nomad_csi.components.argument_classes import CsiVolumeArgs
from nomad_csi.spec import model as spec


class CsiVolume(program.Component):
    """A volume that its plugin creates through Nomad. Data is kept on removal unless ``on_destroy`` is ``delete``."""

    external_id: pulumi.Output[str]
    """The id that the plugin gave it."""
    registration_id: pulumi.Output[str]
    """``namespace/volume_id``, known once the volume is there."""

    def __init__(self, name: str, args: CsiVolumeArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Declare the volume *name*, which is also its id unless ``volume_id`` says otherwise."""
        super().__init__("nomad-csi:index:CsiVolume", name, {}, opts)
        plan = volume.planned(name, args, CsiVolumeArgs, args.get("driver", ""), create=spec.CreateSpec)
        create = plan.source
        assert isinstance(create, spec.CreateSpec)  # noqa: S101  # planned with a create part
        plugin_id = arguments.checked("plugin_id", args["plugin_id"])
        made = resources.CreatedVolume(
            name,
            **volume.document_inputs(self, plan, plugin_id, args),
            availability_zone=create.availability_zone,
            on_destroy=create.on_destroy,
            deletion=_deletion(create.deletion),
            opts=pulumi.ResourceOptions(parent=self, protect=plan.protect),
        )
        volume.write_file(self, name, plan, args, plugin_id=plugin_id)
        self.external_id, self.registration_id = made.external_id, made.id
        self.register_outputs({"externalId": self.external_id, "registrationId": self.registration_id})


def _deletion(how: spec.DeletionSpec | None) -> Mapping[str, Any] | None:
    """Return *how* as an argument of the resource class, without what is not said."""
    return {name: value for name, value in how.model_dump().items() if value} if how else None
