"""The custom resource `VolumeRegistration`: a volume that exists already, as Nomad is to hold it."""

from collections.abc import Mapping
from typing import Any

from nomad_csi import errors, nomad
from nomad_csi.deploy import (
    asking,
    cluster_identity,
    compare,
    properties,
    resource,
    secret_safety,
    volume_changes,
    volume_comparison,
    volume_document,
    volume_ownership,
    volume_properties,
    volume_removal,
)
from nomad_csi.nomad import volumes


class VolumeRegistration:
    """A CSI volume as Nomad holds it. Deleting it deregisters the volume and leaves the storage alone."""

    token = "nomad-csi:index:VolumeRegistration"  # noqa: S105  # Pulumi's word for a type's name
    description = "A CSI volume as Nomad holds it. Deleting it deregisters the volume and leaves the storage alone."
    inputs = volume_properties.INPUTS
    outputs = volume_properties.OUTPUTS
    secret_properties = properties.secret_names(inputs)

    def check(self, news: Mapping[str, Any]) -> tuple[resource.Properties, tuple[resource.Failure, ...]]:
        """Return *news* with namespace and name filled in, and everything that is wrong with it."""
        return volume_properties.check(self.inputs, news)

    def diff(
        self, identity: str, old_inputs: Mapping[str, Any], old_outputs: Mapping[str, Any], news: Mapping[str, Any]
    ) -> resource.Difference:
        """Compare inputs; what Nomad cannot change after the first registration replaces it."""
        hidden = ("mountOptions.mountFlags",) if old_outputs.get("foreignMountFlags") else ()
        return compare.difference(
            self.inputs,
            old_inputs,
            news,
            ignored=frozenset({"adopt"}),
            also_updates=hidden,
            also_replaces=_emptied(old_inputs, news),
            notice=f"deregisters {identity} first; refused while it is claimed",
        )

    def preview(self, news: Mapping[str, Any]) -> tuple[str, resource.Properties]:
        """Return the id, and the inputs; what Nomad will say of the volume is not known."""
        unknown = {"controllerRequired": resource.UNKNOWN} | volume_ownership.unknown(news)
        return resource.identity(news["namespace"], news["volumeId"]), _recorded(news) | unknown

    def create(self, context: resource.Context, news: Mapping[str, Any]) -> tuple[str, resource.Properties]:
        """
        Register the volume, or take over an equal registration.

        Raises `errors.RefusedError` where it differs, and where it is another stack's.
        """
        client = context.connect()
        secret_safety.refuse(client, _identity(news), news)
        if "owner" in news:
            cluster_identity.of(client, make=True)
        found = volumes.get(client, news["namespace"], news["volumeId"])
        if found is None:
            volume_changes.register(context, client, news, is_new=True)
        else:
            volume_changes.take_over(context, client, found, news)
        return _identity(news), _observed(client, news)

    def read(
        self, context: resource.Context, identity: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any]
    ) -> tuple[resource.Properties, resource.Properties] | None:
        """Return what Nomad holds; redacted parts stay as recorded, and so does all when Nomad is out of reach."""
        namespace, volume_id = asking.split_identity(identity, "namespace/volume_id")
        client = context.connect()
        with asking.KeptIfUnreachable(context, client, f"volume {identity}", is_recorded=bool(inputs)):
            if secret_safety.is_at_risk(client, inputs):
                context.warn(f"volume {identity} was not compared: it has secrets, and {secret_safety.risk(client)}")
                return dict(inputs), dict(outputs)
            volume = volumes.get(client, namespace, volume_id)
            if volume is not None and volume.has_mount_flags and not inputs:
                context.warn(
                    f"Nomad does not show the mount flags of {identity}, nor whether it has secrets: "
                    "write them into the program, or the next update drops them"
                )
            found = None if volume is None else _live(volume, inputs)
            return volume_ownership.seen(context, client, identity, outputs, found)
        return dict(inputs), dict(outputs)

    def update(
        self, context: resource.Context, identity: str, old_outputs: Mapping[str, Any], news: Mapping[str, Any]
    ) -> resource.Properties:
        """Register the volume again with what changed. Raises `errors.RefusedError` where Nomad would not take it."""
        client = context.connect()
        volume_ownership.refuse_other_cluster(client, identity, old_outputs)
        volume_ownership.refuse_others(client, news, old_outputs)
        secret_safety.refuse(client, identity, news)
        found = volumes.get(client, news["namespace"], news["volumeId"])
        volume_changes.refuse_impossible(context, found, news)
        volume_changes.register(context, client, news, is_new=found is None, found=found, recorded=old_outputs)
        return _observed(client, news)

    def delete(self, context: resource.Context, identity: str, outputs: Mapping[str, Any]) -> None:
        """
        Deregister the volume, then remove its mark.

        Raises `errors.RefusedError` while it is claimed, when it is another one by now, or another stack's.
        """
        namespace, volume_id = asking.split_identity(identity, "namespace/volume_id")
        client = context.connect()
        volume_ownership.refuse_other_cluster(client, identity, outputs)
        volume = volumes.get(client, namespace, volume_id)
        if volume is not None:
            volume_ownership.refuse_others(client, outputs, outputs)
            volume_removal.remove(context, client, volume, outputs)
        volume_ownership.unmark(context, client, outputs)


def _identity(inputs: Mapping[str, Any]) -> str:
    return f"{inputs['namespace']}/{inputs['volumeId']}"


def _recorded(news: Mapping[str, Any]) -> resource.Properties:
    """Return the part of *news* that describes the object."""
    return {name: value for name, value in news.items() if name != "adopt"}


def _emptied(old_inputs: Mapping[str, Any], news: Mapping[str, Any]) -> frozenset[str]:
    """Return ``context`` where it is to become empty: Nomad keeps the old one then."""
    return frozenset({"context"} if "context" in old_inputs and "context" not in news else ())


def _observed(client: nomad.Nomad, news: Mapping[str, Any]) -> resource.Properties:
    """Return the outputs after a registration; what follows it must not lose the id."""
    if secret_safety.is_at_risk(client, news):
        listed = secret_safety.listed(client, news["namespace"], news["volumeId"])
        return _outputs(news, listed) | volume_ownership.outputs(client, news)
    try:
        volume = volumes.get(client, news["namespace"], news["volumeId"])
    except errors.NomadApiError as error:
        reason = f"registered, but not seen afterwards: {error}"
        raise resource.InitFailedError(_identity(news), _outputs(news, None), (reason,)) from error
    if volume is None:
        reason = "registered, but gone again: something else deregisters it"
        raise resource.InitFailedError(_identity(news), _outputs(news, None), (reason,))
    return _outputs(news, volume) | volume_ownership.outputs(client, news)


def _outputs(inputs: Mapping[str, Any], volume: volumes.Volume | volumes.ListedVolume | None) -> resource.Properties:
    return _recorded(inputs) | {"controllerRequired": volume is not None and volume.controller_required}


def _live(volume: volumes.Volume, recorded: Mapping[str, Any]) -> tuple[resource.Properties, resource.Properties]:
    """Return inputs and outputs of *volume*, with the parts that Nomad never shows as *recorded*."""
    shown = volume_document.to_inputs(volume_document.of_volume(volume))
    live, foreign = volume_comparison.as_recorded(volume, shown, recorded)
    return live, _outputs(live, volume) | foreign
