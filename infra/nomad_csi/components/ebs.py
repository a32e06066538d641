"""The component of an EBS volume."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pulumi
import pulumi_aws as aws

from nomad_csi import errors
from nomad_csi.components import arguments, aws_resources, identity, lifting, recorded, volume
from nomad_csi.components.argument_classes import EbsVolumeArgs
from nomad_csi.plan import model, replacement
from nomad_csi.plan.rules import ebs_rules
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
        is_protected = volume.protects(args)

        def check(planned: model.VolumePlan, found: Mapping[str, Any]) -> Iterator[errors.Problem]:
            wanted, present = volume.source(planned, spec.EbsSpec), _present(found)
            if is_protected:
                yield from replacement.check_protected(replacement.EBS_VOLUME, wanted, found, "")
            if present:
                yield from ebs_rules.check_change(present, wanted, None, "")

        refused = recorded.refused(self, name, replacement.EBS_VOLUME, plan, check)
        made = self._make(name, plan, refused, is_protected=is_protected)
        _say_change(made, plan)
        self.storage: Sequence[pulumi.Resource] = [made]
        plugin_id = arguments.plugin_id(self, name, args)
        registration = volume.register(self, name, plan, args, made.id, self.storage, plugin_id=plugin_id)
        self.finish(
            **volume.outputs(plan, args, registration.id, made.id, external_id=made.id, plugin_id=plugin_id),
            arn=made.arn,
            availability_zone=made.availability_zone,
            size_gib=made.size,
            kms_key_arn=made.kms_key_id.apply(lambda known: known or ""),
        )

    def _make(
        self, name: str, plan: volume.Plan, refused: pulumi.Output[None], *, is_protected: bool
    ) -> aws.ebs.Volume:
        def value(argument: str) -> Any:
            return plan.part(lambda made: getattr(made.source, argument), argument)

        tags = plan.part(_tags, "tags", "snapshots", "volume_id", "namespace")
        return aws.ebs.Volume(
            name,
            availability_zone=value("availability_zone"),
            size=lifting.after(refused, value("size_gib")),
            type=value("volume_type"),
            iops=value("iops"),
            throughput=value("throughput_mib_per_s"),
            encrypted=value("encrypted"),
            kms_key_id=value("kms_key_arn"),
            tags=aws_resources.tagged(self, tags, identity.ebs_stack_id(self)),
            opts=self.child(protect=is_protected),
        )


def _say_change(made: aws.ebs.Volume, plan: volume.Plan) -> None:
    """Say in the row of the EBS volume, in a preview, what changes: the engine names only the properties."""
    if pulumi.runtime.is_dry_run():
        known = pulumi.Output.all(made.urn, identity.state(), plan.whole)
        known.apply(lambda values: _say(made, values[1].get(values[0]) or {}, values[2]))


def _say(made: aws.ebs.Volume, found: Mapping[str, Any], plan: model.VolumePlan) -> None:
    present = _present(found)
    if present and (words := ebs_rules.describe_change(present, volume.source(plan, spec.EbsSpec))):
        pulumi.log.info(words, made, ephemeral=True)


def _present(found: Mapping[str, Any]) -> ebs_rules.Present | None:
    """Return the EBS volume that has the outputs *found*; ``None``: it is new."""
    if not {"arn", "availabilityZone", "encrypted", "size", "type"} <= found.keys():
        return None
    return ebs_rules.Present(
        external_id=str(found["arn"]).rpartition("/")[2],
        availability_zone=found["availabilityZone"],
        encrypted=found["encrypted"],
        size_gib=int(found["size"]),
        volume_type=found["type"],
        iops=_whole(found.get("iops")),
        throughput_mib_per_s=_whole(found.get("throughput")),
    )


def _whole(value: float | None) -> int | None:
    """Return a number of the state, which has floats; ``None`` where EC2 has no such setting."""
    return int(value) if value else None


def _tags(made: model.VolumePlan) -> dict[str, str]:
    return dict(volume.source(made, spec.EbsSpec).tags)
