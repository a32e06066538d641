"""Whose a volume is, for the resources that register it: marks taken, looked at and given up; and which cluster."""

from collections.abc import Mapping
from typing import Any

from nomad_csi import errors, nomad
from nomad_csi.deploy import (
    batch_look,
    cluster_identity,
    mark_upkeep,
    registration_ownership,
    resource,
    volume_properties,
)

Claimant = registration_ownership.Claimant
State = tuple[resource.Properties, resource.Properties]
"""Inputs and outputs."""


def claimant(news: Mapping[str, Any], recorded: Mapping[str, Any]) -> Claimant:
    """Return who wants the volume of *news*; *recorded* are its outputs of before, empty where it is new here."""
    return Claimant(
        owner=str(news.get("owner", "")),
        former=str(recorded.get("owner", "")),
        adopts=bool(news.get("adopt")),
        is_recorded=bool(recorded),
    )


def refuse_others(client: nomad.Nomad, news: Mapping[str, Any], recorded: Mapping[str, Any]) -> None:
    """Raise `errors.RefusedError` where the volume of *news* is another stack's, and is not to be adopted."""
    key, who = _key(news), claimant(news, recorded)
    owner = registration_ownership.of(client).look([key]).owners.get(key, "")
    if not who.may_have(owner):
        raise refusal(key, owner, who)


def mark(
    context: resource.Context, client: nomad.Nomad, news: Mapping[str, Any], recorded: Mapping[str, Any] | None = None
) -> registration_ownership.Taken:
    """Mark the volume of *news* as its owner's. Raises `errors.RefusedError` where it is another's."""
    key, who = _key(news), claimant(news, recorded or {})
    taken = registration_ownership.of(client).take([key], who, context.warn)
    if key in taken.refused:
        raise refusal(key, taken.refused[key], who)
    return taken


def take_back(
    client: nomad.Nomad,
    taken: registration_ownership.Taken,
    answers: Mapping[batch_look.Key, errors.NomadApiError | None],
    who: Claimant,
    tell: registration_ownership.Tell,
) -> None:
    """
    Remove the marks that were made for registrations which did not happen, as *answers* say; what fails is told.

    The mark of a volume that somebody else has registered meanwhile stays: another run of the same stack relies on it.
    """
    fresh = taken.fresh & answers.keys()
    refused = [key for key in sorted(fresh) if (error := answers[key]) is not None and error.kind != "ambiguous"]
    if not refused:
        return
    try:
        mark_upkeep.release(client, refused, who, tell)
    except errors.NomadApiError as problem:
        tell(f"{problem}; the owner marks of {', '.join(map('/'.join, refused))} stay")


def lost(key: batch_look.Key, owner: str) -> errors.RefusedError:
    """Return what to say of a volume that is registered as wanted, and became that of *owner* in the same moment."""
    whose = registration_ownership.sentence(key, owner)
    return errors.RefusedError(f"{whose} by now, and was registered by this one: look which of them is to have it")


def unmark(context: resource.Context, client: nomad.Nomad, recorded: Mapping[str, Any]) -> None:
    """Remove the mark of the volume *recorded*, unless it is registered again; one of another stays."""
    if recorded.get("owner"):
        mark_upkeep.release(client, [_key(recorded)], claimant(recorded, {}), context.warn)


def refusal(key: batch_look.Key, owner: str, who: Claimant) -> errors.RefusedError:
    """Return the refusal of a volume with the mark of *owner* to *who*."""
    whose = registration_ownership.sentence(key, owner)
    if who.is_recorded:
        return errors.RefusedError(
            f"{whose} now; nothing was changed: set adopt: true to take it back, or remove it from this stack with "
            "`pulumi state delete`"
        )
    return errors.RefusedError(f"{whose}; nothing was changed: set adopt: true to take it over, or choose another id")


def refuse_other_cluster(client: nomad.Nomad, identity: str, recorded: Mapping[str, Any]) -> None:
    """Raise `errors.RefusedError` where the volume was *recorded* in another cluster than answers now."""
    cluster_identity.refuse_other(client, f"volume {identity}", recorded, is_there=False)


def is_in_other_cluster(client: nomad.Nomad, identity: str, recorded: Mapping[str, Any]) -> bool:
    """Return whether the volume was *recorded* in another cluster than answers now."""
    return bool(_another_cluster(client, identity, recorded))


def unknown(news: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of `outputs` is not known before the volume is registered."""
    return dict.fromkeys(volume_properties.OWNERSHIP, resource.UNKNOWN) if news.get("owner") else {}


def outputs(client: nomad.Nomad, news: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is to be recorded of a volume with an owner: which cluster holds it, and whether it is marked."""
    if not news.get("owner"):
        return {}
    is_marked = registration_ownership.of(client).seen(_key(news)) == news["owner"]
    return {"cluster": cluster_identity.of(client), "marked": is_marked}


def seen(
    context: resource.Context, client: nomad.Nomad, identity: str, recorded: Mapping[str, Any], found: State | None
) -> State | None:
    """
    Return the inputs and outputs *found*, with the owner that the mark in the cluster says; *recorded* are old outputs.

    A lost mark takes the owner out of the inputs, so that it is set again. One of another stack is told of. Raises
    `errors.RefusedError` where the volume was recorded in another cluster, and this one has one of that id too.
    """
    if found is None:
        if why := _another_cluster(client, identity, recorded):
            context.warn(f"{why}, which has no such volume; what is left in the other is not in this stack any more")
        return None
    inputs, live = found
    if recorded and "owner" not in inputs:
        return found
    refuse_other_cluster(client, identity, recorded)
    now = _as_marked(context, inputs, recorded, registration_ownership.of(client).seen(_key(inputs)))
    shown = {name: value for name, value in live.items() if name != "owner"}
    return now, shown | ({"owner": now["owner"]} if "owner" in now else {}) | outputs(client, now)


def _as_marked(
    context: resource.Context, inputs: resource.Properties, recorded: Mapping[str, Any], owner: str | None
) -> resource.Properties:
    """Return *inputs* with the *owner* that a mark names; one that is not known, or not ours, changes nothing."""
    if not recorded:
        return inputs | ({"owner": owner} if owner else {})
    if owner and owner != inputs["owner"]:
        context.warn(
            f"{registration_ownership.sentence(_key(inputs), owner)} now, not to {inputs['owner']} as recorded"
        )
    if owner == "" and recorded.get("marked"):
        return {name: value for name, value in inputs.items() if name != "owner"}
    return inputs


def _another_cluster(client: nomad.Nomad, identity: str, recorded: Mapping[str, Any]) -> str:
    """Return in words that the volume was *recorded* in another cluster than answers now; empty where it was not."""
    return cluster_identity.elsewhere(client, f"volume {identity}", recorded, is_there=False)


def _key(inputs: Mapping[str, Any]) -> batch_look.Key:
    return inputs["namespace"], inputs["volumeId"]
