"""
Deletion of a `CreatedVolume` with its storage, where its ``onDestroy`` is ``delete``: the user's confirmation.

The recorded value counts, not the program's current one: the engine passes nothing else, and a user who withdraws the
confirmation runs an update first. The deletion itself is `deletion.delete`, as on the command line, with values from
the state. It is safe to re-run after an interruption, as the state keeps the volume until its storage is deleted.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from nomad_csi import errors
from nomad_csi.frame import resource
from nomad_csi.volumes import (
    deregistration,
    facts,
    registration_ownership,
    volume_properties,
)

if TYPE_CHECKING:
    from nomad_csi.volumes import deletion_proof, removal


class UnfinishedError(errors.NomadCsiError):
    """The volume is not deleted, or not completely; the message says what is left. Safe to re-run."""


def is_wanted(recorded: Mapping[str, Any]) -> bool:
    """Return whether the storage is deleted when the volume *recorded* is removed."""
    return recorded.get("onDestroy") == volume_properties.DELETE


def objection(identity: str, recorded: Mapping[str, Any]) -> str:
    """Return why the storage of *recorded* must not be deleted although that is requested; empty where it may be."""
    made, storage = recorded.get(volume_properties.MADE), recorded.get("externalId", "its storage")
    if not is_wanted(recorded) or (made is not None and made == storage):
        return ""
    origin = "was there before" if made is None else f"is not {made}, which was made for it"
    return (
        f"volume {identity} has on_destroy: delete, and its storage {storage} {origin}: what this stack did not have "
        "made is not deleted; set on_destroy: keep, and delete it where it was made"
    )


def describe_change(identity: str, recorded: Mapping[str, Any], news: Mapping[str, Any]) -> Iterator[str]:
    """Yield the consequence where *news* have another ``onDestroy`` than *recorded*."""
    storage = recorded.get("externalId", "its storage")
    if is_wanted(news) and not is_wanted(recorded):
        why = objection(identity, {**recorded, "onDestroy": volume_properties.DELETE})
        yield why or f"from now on, removing or replacing {identity} deletes its storage {storage} with all data"
    if is_wanted(recorded) and not is_wanted(news):
        yield f"from now on, removing or replacing {identity} keeps its storage {storage}"


def refuse_replacement(identity: str, recorded: Mapping[str, Any], news: Mapping[str, Any]) -> None:
    """Raise `errors.RefusedError` for a replacement that withdraws the confirmation: it would come too late."""
    if is_wanted(recorded) and not is_wanted(news):
        raise errors.RefusedError(
            f"volume {identity} would be replaced, and its storage deleted as recorded, although on_destroy says keep "
            "now; nothing was changed: set on_destroy: keep alone, run `up`, and change the rest then"
        )


def order(
    context: resource.Context, recorded: Mapping[str, Any]
) -> "tuple[deletion_proof.DeletionRequest, deletion_proof.DeletionOptions]":
    """
    Return the request to delete the volume *recorded*, which its ``onDestroy`` confirms, and the options.

    The custom timeout of the step is the timeout of a last snapshot.
    """
    from nomad_csi.volumes import deletion_proof  # noqa: PLC0415  # few volumes are deleted, and all would pay for it

    namespace, volume_id, cluster = recorded["namespace"], recorded["volumeId"], str(recorded.get("cluster", ""))
    how, key = recorded.get("deletion", {}), f"{namespace}/{volume_id}"
    request = deletion_proof.DeletionRequest(
        namespace=namespace,
        volume_id=volume_id,
        confirmation=key if is_wanted(recorded) else "",
        plugin_id=str(recorded.get("pluginId", "")),
    )
    return request, deletion_proof.DeletionOptions(
        wait_s=deregistration.ENDING_WAIT_S,
        aws_region=how.get("awsRegion", ""),
        endpoint=how.get("endpoint", ""),
        secrets={key: recorded.get("secrets", {})},
        with_snapshot=not how.get("skipFinalSnapshot", False),
        snapshot_wait_s=context.timeout_s or deletion_proof.SNAPSHOT_WAIT_S,
        owner=str(recorded.get("owner", "")),
        made={key: deletion_proof.MadeStorage(external_id=recorded[volume_properties.MADE], cluster=cluster)},
        # The token may not read the cluster's id, so the state has none: only the provider's address identifies it.
        accepts_unregistered=not cluster,
        accepts_unguarded=bool(how.get("acceptUnguarded", False)),
        tell=context.status,
        cancelled=context.cancelled,
    )


def delete(context: resource.Context, removed: "removal.RemovedVolume", recorded: Mapping[str, Any]) -> None:
    """
    Deregister the volume *removed* and delete its storage; neither has to exist any more.

    Raises `errors.RefusedError` where that is refused, before any change; `UnfinishedError` where a re-run may complete
    it.
    """
    from nomad_csi.volumes import deletion  # noqa: PLC0415  # as above

    request, options = order(context, recorded)
    [outcome] = deletion.delete(context.client, [request], options)
    if not outcome.is_done:
        kind = UnfinishedError if outcome.is_broken else errors.RefusedError
        raise kind(sentence(outcome))
    removed.release_record()
    context.warn(sentence(outcome))


def presence(context: resource.Context, recorded: Mapping[str, Any]) -> facts.Storage:
    """
    Return whether the storage *recorded* exists, where its deletion is configured, so that it can be observed.

    Where the driver cannot answer, the owner record decides: a deletion removes it, a deregistration by hand does not.
    """
    if not is_wanted(recorded) or objection("", recorded):
        return "not known"
    from nomad_csi.volumes import deletion  # noqa: PLC0415  # as above

    key = recorded["namespace"], recorded["volumeId"]
    try:
        found = deletion.observe(context.client, *order(context, recorded))
        if found == "unobservable" and recorded.get("marked"):
            records = registration_ownership.owner_records_of(context.client)
            return "not known" if key in records.known([key]) else "gone"
    except errors.NomadCsiError as error:
        context.warn(f"could not determine whether {recorded['externalId']} is left: {error}")
        return "not known"
    known: Mapping[str, facts.Storage] = {"absent": "gone", "present": "there"}
    return known.get(found, "not known")


def sentence(outcome: "deletion_proof.DeletionOutcome") -> str:
    """Return *outcome* as a sentence with what is left, and the next step."""
    volume, storage, reason = f"volume {outcome.key}", outcome.external_id, outcome.reason
    evidence = f" ({outcome.snapshot_evidence})" if outcome.snapshot_evidence else ""
    last = f"; its last snapshot is {outcome.snapshot_id}{evidence}" if outcome.snapshot_id else ""
    match outcome.status:
        case "deleted":
            return f"{volume} and its storage {storage} are deleted{last}{f'; {reason}' if reason else ''}"
        case "gone":
            return f"{volume} was gone already: {reason}"
        case "kept":
            left = f"its storage {storage} is not deleted"
            return f"{volume} is deregistered, and {left}: {reason}{last}; safe to re-run"
        case "unknown":
            left = f"could not determine whether its storage {storage} is deleted"
            return f"{volume} is deregistered; {left}: {reason}{last}; safe to re-run"
        case _:
            return f"{volume} and its storage {storage} are as they were ({outcome.status}): {reason}"
