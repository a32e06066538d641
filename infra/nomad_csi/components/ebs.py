"""The component of an EBS volume."""

from collections.abc import Mapping, Sequence

import pulumi
import pulumi_aws as aws

from nomad_csi.components import arguments, aws_resources, identity, program, volume
from nomad_csi.components.argument_classes import EbsVolumeArgs
from nomad_csi.plan import model, snapshots
from nomad_csi.spec import model as spec


class EbsVolume(program.Component):
    """An encrypted EBS volume, registered with Nomad and pinned to its zone."""

    external_id: pulumi.Output[str]
    """The ``vol-`` id, which Nomad calls the external id."""
    registration_id: pulumi.Output[str]
    """``namespace/volume_id``, known once the volume is registered."""

    def __init__(self, name: str, args: EbsVolumeArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Declare the volume *name*, which is also its id unless ``volume_id`` says otherwise."""
        super().__init__("nomad-csi:index:EbsVolume", name, {}, opts)
        plan = volume.planned(name, args, EbsVolumeArgs, "aws-ebs", ebs=spec.EbsSpec)
        made = self._make(name, plan, args)
        self.storage: Sequence[pulumi.Resource] = [made]
        self.external_id = made.id
        self.registration_id = volume.register(self, name, plan, args, made.id, self.storage).id
        self.register_outputs({"externalId": self.external_id, "registrationId": self.registration_id})

    def _make(self, name: str, plan: model.VolumePlan, args: EbsVolumeArgs) -> aws.ebs.Volume:
        ebs = plan.source
        assert isinstance(ebs, spec.EbsSpec)  # noqa: S101  # planned with an ebs part
        return aws.ebs.Volume(
            name,
            availability_zone=ebs.availability_zone,
            size=ebs.size_gib,
            type=ebs.volume_type,
            iops=ebs.iops,
            throughput=ebs.throughput_mib_per_s,
            encrypted=ebs.encrypted,
            kms_key_id=arguments.checked("kms_key_arn", args.get("kms_key_arn")),
            tags=aws_resources.tagged(self, _tags(ebs, args.get("snapshots", ())), identity.ebs_stack_id(self)),
            opts=pulumi.ResourceOptions(parent=self, protect=plan.protect),
        )


def _tags(ebs: spec.EbsSpec, schedules: Sequence[pulumi.Input[str]]) -> pulumi.Input[Mapping[str, str]]:
    """Return the tags of the volume; those of schedules are known when the schedules are."""
    if not any(isinstance(name, pulumi.Output) for name in schedules):
        return dict(ebs.tags)
    own = {key: value for key, value in ebs.tags.items() if not key.startswith(snapshots.TAG_PREFIX)}
    known = pulumi.Output.all(*[arguments.checked("schedule", name) for name in schedules])
    return known.apply(lambda names: own | snapshots.tags(names, arguments.owner()))
