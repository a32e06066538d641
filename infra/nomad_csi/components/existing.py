"""The component of a volume whose storage exists already."""

import pulumi

from nomad_csi.components import arguments, volume
from nomad_csi.components.argument_classes import ExistingVolumeArgs
from nomad_csi.spec import model as spec


class ExistingVolume(volume.Volume):
    """Storage that exists already, registered with Nomad. It is never deleted."""

    external_id: pulumi.Output[str]
    """As given."""

    def __init__(self, name: str, args: ExistingVolumeArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Declare the volume *name*, which is also its id unless ``volume_id`` says otherwise."""
        super().__init__("nomad-csi:index:ExistingVolume", name, {}, opts)
        described = args.get("driver", "")
        plan = arguments.volume_plan(self, name, args, ExistingVolumeArgs, described, existing=spec.ExistingSpec)
        external_id = plan.part(lambda made: made.registration.external_id, "external_id")
        plugin_id = arguments.plugin_id(self, name, args)
        registration = volume.register(self, name, plan, args, external_id, plugin_id=plugin_id)
        own = {"external_id": external_id, "plugin_id": plugin_id}
        self.finish(**volume.outputs(plan, args, registration.id, external_id, **own))
