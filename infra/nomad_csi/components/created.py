"""The component of a volume that the CSI plugin makes, asked through Nomad."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import pulumi

from nomad_csi.components import arguments, program, resources, volume
from nomad_csi.components.argument_classes import CsiVolumeArgs
from nomad_csi.plan import model, registration
from nomad_csi.render import documents
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
        made = self._created(name, plan, args)
        self.external_id, self.registration_id = made.external_id, made.id
        self.register_outputs({"externalId": self.external_id, "registrationId": self.registration_id})

    def _created(self, name: str, plan: model.VolumePlan, args: CsiVolumeArgs) -> resources.CreatedVolume:
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
        if args.get("render_to"):
            path = f"{args['render_to']}/{plan.file_name}"
            content = _file(plan.registration, plugin_id, args.get("templates"))
            resources.RenderedFile(name, path=path, content=content, opts=pulumi.ResourceOptions(parent=self))
        return made


def _file(
    document: registration.VolumeRegistration, plugin_id: pulumi.Input[str], templates: str | None
) -> pulumi.Output[str]:
    """Return the volume file, rendered once the id of the plugin is known."""

    def rendered(known: str) -> str:
        whole = dataclasses.replace(document, plugin_id=known)
        return documents.volume_file(whole, made_by_plugin=True, templates=templates)

    return pulumi.Output.from_input(plugin_id).apply(rendered)


def _deletion(how: spec.DeletionSpec | None) -> Mapping[str, Any] | None:
    """Return *how* as an argument of the resource class, without what is not said."""
    return {name: value for name, value in how.model_dump().items() if value} if how else None
