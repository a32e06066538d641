"""The component of an EBS volume."""

from collections.abc import Sequence
from typing import Any

import pulumi
import pulumi_aws as aws

from nomad_csi.components import arguments, identity, recorded, volume
from nomad_csi.components.argument_classes import EbsVolumeArgs
from nomad_csi.plan import model, recorded_storage
from nomad_csi.spec import model as spec


class EbsVolume(volume.Volume):
    """An encrypted EBS volume, registered with Nomad and pinned to its zone."""

    external_id: pulumi.Output[str]
    """The ``vol-`` id, which Nomad calls the external id."""
    arn: pulumi.Output[str]
    """ARN of the EBS volume."""
    availability_zone: pulumi.Output[str]
    """Zone of the EBS volume."""
    size_gib: pulumi.Output[int]
    """Size of the EBS volume in GiB."""
    kms_key_arn: pulumi.Output[str]
    """ARN of the key that encrypts it; empty where it is not encrypted."""

    def __init__(self, name: str, args: EbsVolumeArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Declare the volume *name*, which is also its id unless ``volume_id`` says otherwise."""
        super().__init__("nomad-csi:index:EbsVolume", name, {}, opts)
        plan = arguments.volume_plan(self, name, args, EbsVolumeArgs, "aws-ebs", ebs=spec.EbsSpec)
        disk = self._make(name, plan, is_protected=volume.protects(args))
        self.storage: Sequence[pulumi.Resource] = [disk]
        plugin_id = arguments.plugin_id(self, name, args)
        registration = volume.register(self, name, plan, args, disk.id, self.storage, plugin_id=plugin_id)
        self.finish(
            **volume.outputs(plan, args, registration.id, disk.id, external_id=disk.id, plugin_id=plugin_id),
            arn=disk.arn,
            availability_zone=disk.availability_zone,
            size_gib=disk.size,
            kms_key_arn=disk.kms_key_id.apply(lambda known: known or ""),
        )

    def _make(self, name: str, plan: volume.Plan, *, is_protected: bool) -> aws.ebs.Volume:
        def value(argument: str) -> Any:
            return plan.part(lambda planned: getattr(planned.source, argument), argument)

        kind = recorded_storage.EBS_VOLUME
        tags = plan.part(lambda planned: dict(_ebs(planned).tags), "tags", "snapshots", "volume_id", "namespace")
        return aws.ebs.Volume(
            name,
            availability_zone=value("availability_zone"),
            size=recorded.guarded(value("size_gib"), kind, self, name, plan, _ebs, is_protected=is_protected),
            type=value("volume_type"),
            iops=value("iops"),
            throughput=value("throughput_mib_per_s"),
            encrypted=value("encrypted"),
            kms_key_id=value("kms_key_arn"),
            tags=identity.tagged(self, tags, identity.ebs_stack_id(self)),
            opts=self.child(protect=is_protected),
        )


def _ebs(plan: model.VolumePlan) -> spec.EbsSpec:
    return volume.source(plan, spec.EbsSpec)
