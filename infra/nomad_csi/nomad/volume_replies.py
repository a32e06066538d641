"""
Replies about CSI volumes, read into `records.volumes`.

Source: hashicorp/nomad, ``api/csi.go`` (``CSIVolume``), 2026-08-21.
"""

from collections.abc import Iterator, Mapping
from typing import Literal

from nomad_csi.nomad.http import replies
from nomad_csi.nomad.records.volumes import Claim, ListedVolume, Volume
from nomad_csi.plan import volume_forms


def volume(item: replies.ReplyObject) -> Volume:
    """Return the volume that ``GET /v1/volume/csi/:id`` shows, or the reply to a creation."""
    for name in ("ID", "Namespace"):
        replies.required(item, name)
    return Volume(
        **volume_forms.values(item, "api", replies),
        topologies=_segments(item, "Topologies"),
        schedulable=replies.flag(item, "Schedulable"),
        controller_required=replies.flag(item, "ControllerRequired"),
        claims=tuple(_claims(item)),
        capacity_bytes=replies.number(item, "Capacity"),
        create_index=replies.number(item, "CreateIndex"),
        access_mode=replies.text(item, "AccessMode"),
        attachment_mode=replies.text(item, "AttachmentMode"),
    )


def listed(item: replies.ReplyObject) -> ListedVolume:
    """Return one element of ``GET /v1/volumes``."""
    return ListedVolume(
        volume_id=replies.required(item, "ID"),
        namespace=replies.required(item, "Namespace"),
        name=replies.text(item, "Name"),
        external_id=replies.text(item, "ExternalID"),
        plugin_id=replies.text(item, "PluginID"),
        schedulable=replies.flag(item, "Schedulable"),
        topologies=_segments(item, "Topologies"),
        readers=replies.number(item, "CurrentReaders"),
        writers=replies.number(item, "CurrentWriters"),
        controller_required=replies.flag(item, "ControllerRequired"),
    )


def _segments(item: replies.ReplyObject, key: str) -> tuple[Mapping[str, str], ...]:
    return tuple(replies.texts(topology, "Segments") for topology in replies.rows(item, key))


def _claims(item: replies.ReplyObject) -> Iterator[Claim]:
    """Yield a claim for each allocation of the claim maps, with what the list of allocations knows of it."""
    known = {replies.text(allocation, "ID"): allocation for allocation in replies.rows(item, "Allocations")}
    modes: tuple[tuple[str, Literal["read", "write"]], ...] = (("WriteAllocs", "write"), ("ReadAllocs", "read"))
    for key, mode in modes:
        for alloc_id in sorted(replies.table(item, key)):
            yield _claim(alloc_id, mode, known.get(alloc_id) or replies.ReplyObject({}, item.reply))


def _claim(alloc_id: str, mode: Literal["read", "write"], allocation: replies.ReplyObject) -> Claim:
    return Claim(
        alloc_id=alloc_id,
        mode=mode,
        node_id=replies.text(allocation, "NodeID"),
        node_name=replies.text(allocation, "NodeName"),
        job_id=replies.text(allocation, "JobID"),
        namespace=replies.text(allocation, "Namespace"),
        client_status=replies.text(allocation, "ClientStatus"),
        desired_status=replies.text(allocation, "DesiredStatus"),
        since_ns=replies.number(allocation, "CreateTime"),
        changed_ns=replies.number(allocation, "ModifyTime"),
    )
