"""Create, adopt and change volumes that a plugin creates; never shrink one."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from nomad_csi import errors, nomad
from nomad_csi.frame import resource, stack_identity
from nomad_csi.nomad import namespaces, volume_creation, volumes
from nomad_csi.plan import registration
from nomad_csi.text import listing
from nomad_csi.volumes import (
    created_properties,
    deletion_proof,
    deregistration,
    difference,
    owner_records,
    registration_ownership,
    secret_safety,
    sharing,
    volume_changes,
    volume_document,
    volume_ownership,
    volume_properties,
)


def make(
    context: resource.Context,
    news: Mapping[str, Any],
    token: registration_ownership.OwnerToken,
    recorded: Mapping[str, Any],
    *,
    is_new: bool,
) -> resource.Properties:
    """
    Have the plugin create a volume that Nomad does not have, or find its storage again, and return its outputs.

    The owner record comes first, with the name of the storage: an interrupted run finds it by that. *recorded* are the
    previous outputs; *is_new*: there is no storage of the id, or what there was is gone. Sent once. After an error that
    does not prove that nothing was made the volume is read: it is ours when it is registered without drift.

    Raises `errors.RefusedError` for an unknown namespace, in which Nomad would not keep the created volume, where no
    record keeps new storage, and where the plugin returns other storage than is known for the id, or storage that is
    registered already; then the volume is deregistered again, and not deleted.
    """
    namespaces.refuse_unknown(context.client, news["namespace"])
    key, who = (news["namespace"], news["volumeId"]), volume_ownership.requester(news, recorded)
    token = token_of(token, news, {} if is_new else recorded, is_new=is_new)
    taken = volume_ownership.acquire(context, news, recorded, token)
    record = taken.records.get(key, owner_records.NO_RECORD)
    if key in taken.unrecorded and (is_new or not recorded):
        raise refusal_without_record(key)
    known = "" if is_new else recorded.get("externalId", record.external_id)
    name = ("" if is_new else recorded.get(created_properties.CREATED_NAME)) or record.storage_name
    name = name or token.created_name or token.registered_name
    context.status(f"plugin {news['pluginId']} creates {volume_properties.key_of(news)}")
    wanted = {**news, "name": name}
    timeout_s = context.timeout_s or volume_creation.CREATE_TIMEOUT_S
    try:
        created = volume_creation.create(context.client, volume_document.parse_inputs(wanted), timeout_s=timeout_s)
    except errors.NomadApiError as error:
        if volume_creation.has_made_nothing(error):
            if not known:
                registration_ownership.remove_unused(context.client, taken, {key: error}, who, context.warn)
            raise
        made = _arrived(context.client, wanted, error)
    else:
        _warn(context, created.warnings)
        made = created.volume
    if known not in {"", made.external_id}:
        deregistration.put_away(context.client, key)
        raise _another_storage(made, known, record.owner or who.owner)
    if others := _registered_besides(context, made):
        deregistration.put_away(context.client, key)
        registration_ownership.remove_unused(context.client, taken, {key: others}, who, context.warn)
        raise others
    sharing.count(context, made)
    token = dataclasses.replace(token, external_id=made.external_id, is_new_storage=False)
    for owner in registration_ownership.confirm(context.client, {key: token}, who, context.warn).values():
        context.warn(str(registration_ownership.LostError(key, owner)))
    proof = {created_properties.MADE: made.external_id} if name in {token.created_name, record.created_name} else {}
    return volume_document.outputs_of(made) | {created_properties.CREATED_NAME: name} | proof


def token_of(
    token: registration_ownership.OwnerToken,
    news: Mapping[str, Any],
    recorded: Mapping[str, Any],
    *,
    is_new: bool = False,
) -> registration_ownership.OwnerToken:
    """
    Return *token* with the storage of the *recorded* outputs, for the owner record; without any, with a new name.

    The name of storage proves that it was created for the volume only with `created_properties.MADE`.
    """
    kept = dataclasses.replace(
        token,
        external_id=str(recorded.get("externalId", "")),
        plugin_id=str(news["pluginId"]),
        is_new_storage=is_new,
    )
    if not recorded:
        new = registration.made_name(news["name"], owner_records.new_nonce())
        return dataclasses.replace(kept, created_name=new)
    # Storage that was registered without a recorded name has its own.
    name = str(recorded.get(created_properties.CREATED_NAME, news["name"]))
    if recorded.get(created_properties.MADE):
        return dataclasses.replace(kept, created_name=name)
    return dataclasses.replace(kept, registered_name=name)


def refusal_without_record(key: volumes.Key) -> errors.RefusedError:
    """Return the refusal to create storage for *key* that no owner record would keep for it."""
    rights = registration_ownership.RIGHTS.format(namespace=key[0])
    return errors.RefusedError(
        f"volume {'/'.join(key)} was not created: its storage is kept for it by an owner record, and the token lacks "
        f"{rights}; give it these rights, or create the storage elsewhere and register it by its external id"
    )


def _another_storage(made: volumes.Volume, known: str, owner: str) -> errors.RefusedError:
    """Return the refusal of *made*, where the storage *known* of its id was to be found again."""
    return errors.RefusedError(
        f"volume {made.key} has storage {known}, and plugin {made.plugin_id} answered {made.external_id} to its name: "
        f"{made.key} was deregistered again, and nothing deleted; restore {known}, or give it up: "
        f"{registration_ownership.way_to_give_up(volumes.key_of(made), known, owner)}, after `pulumi state delete` "
        "where a stack has it"
    )


def _registered_besides(context: resource.Context, made: volumes.Volume) -> errors.RefusedError | None:
    """Return the refusal of *made* where another volume has the same storage; else ``None``."""
    key, name = volumes.key_of(made), made.key
    try:
        held = deletion_proof.registered_as(context.client, made.external_id)
    except errors.NomadApiError as error:
        context.warn(f"{error}; not compared whether {made.external_id}, made for {name}, is another volume's, too")
        return None
    others = ["/".join(other) for other in held if other != key]
    if not others:
        return None
    return errors.RefusedError(
        f"plugin {made.plugin_id} answered storage {made.external_id} for the new volume {name}, and that is "
        f"registered as {', '.join(others)}: the two would write into one storage; {name} was deregistered again, and "
        "nothing deleted: check why the plugin does not distinguish storage by its name"
    )


def change(context: resource.Context, found: volumes.Volume, news: Mapping[str, Any]) -> None:
    """Change *found* in place, and grow it to the desired size."""
    wanted = volume_document.keep_stored_fields(volume_document.parse_inputs(news), found)
    if wanted.capacity_min_bytes > found.capacity_bytes:
        context.status(f"plugin {news['pluginId']} grows {found.key} to {listing.size(wanted.capacity_min_bytes)}")
    try:
        warnings = volume_creation.change(
            context.client, wanted, timeout_s=context.timeout_s or volume_creation.CHANGE_TIMEOUT_S
        )
    except errors.NomadApiError as error:
        if error.kind != "ambiguous" or not _has_changed(context.client, news):
            raise
        return
    _warn(context, warnings)


def concerns_nomad(recorded: Mapping[str, Any], news: Mapping[str, Any]) -> bool:
    """
    Return whether *news* differ from *recorded* outputs in more than the owner and the deletion of the storage.

    True also where nothing differs: then a failed update is retried.
    """
    apart = created_properties.OF_DELETION | stack_identity.OF_OWNER
    differing = created_properties.DECLARED.differing(recorded, news)
    return not differing or bool(differing - apart) or bool(recorded.get("foreignMountFlags"))


def refusal_of_shrinking(capacity_bytes: int, news: Mapping[str, Any]) -> str:
    """Return why *news* would shrink a volume of *capacity_bytes*; empty where they do not."""
    most = news.get("capacityMaxBytes", resource.UNKNOWN)
    if most == resource.UNKNOWN or not isinstance(capacity_bytes, int) or most >= capacity_bytes:
        return ""
    problem = errors.Problem(
        path="capacityMaxBytes",
        got=str(most),
        allowed=f"{capacity_bytes} or more, which volume {volume_properties.key_of(news)} has",
        fix="a volume never shrinks: make a smaller one under another id, and copy the data",
    )
    return str(problem)


def changed_properties(
    old_inputs: Mapping[str, Any], old_outputs: Mapping[str, Any], news: Mapping[str, Any]
) -> frozenset[str]:
    """Return the properties in which *news* differ from *old_inputs* for the volume, or for its deletion."""
    if any(old_inputs.get(name) != news.get(name) for name in ("namespace", "volumeId")):
        changed = frozenset(created_properties.INPUTS)
    else:
        compared = volume_document.compare_inputs(old_inputs, news, old_outputs)
        changed = volume_document.changed_properties(old_inputs, news, compared)
    return changed - created_properties.DECLARED.not_compared


def _arrived(client: nomad.Nomad, news: Mapping[str, Any], error: errors.NomadApiError) -> volumes.Volume:
    """Return the volume that was created without a response; raise *error*, with advice, where there is none."""
    is_hidden = secret_safety.is_at_risk(client, news)
    try:
        found = None if is_hidden else volumes.get(client, news["namespace"], news["volumeId"])
    except errors.NomadApiError:
        found = None
    if found is None or volume_changes.compare_inputs(found, news, is_created=True).differences:
        advice = (
            f"the plugin may have made the storage all the same; it finds it by the name {news['name']} when this runs "
            "again, and makes no second one"
        )
        if is_hidden:
            advice += f"; the volume was not read: {secret_safety.risk(client)}"
        message, status = error.message, error.status
        raise errors.NomadApiError(
            error.method, error.path, message, status=status, kind="ambiguous", advice=advice
        ) from error
    return found


def _has_changed(client: nomad.Nomad, news: Mapping[str, Any]) -> bool:
    """Return whether a change without a response is in effect; false where that could not be determined."""
    try:
        found = volumes.get(client, news["namespace"], news["volumeId"])
    except errors.NomadApiError:
        return False
    return found is not None and volume_changes.compare_inputs(found, news, is_created=True) == difference.Comparison()


def _warn(context: resource.Context, warnings: str) -> None:
    if warnings:
        context.warn(f"Nomad warns: {warnings}")
