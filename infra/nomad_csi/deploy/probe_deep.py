"""The deep probe: what a plugin answers, compared with what Nomad has registered of it. Only reads."""

import dataclasses
import functools
import itertools
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from nomad_csi import errors, nomad
from nomad_csi.csi import capability, channel, controller, endpoint, report
from nomad_csi.deploy import gather, probe_job
from nomad_csi.nomad import nodes, plugins, volumes
from nomad_csi.plan import registration
from nomad_csi.verify import findings, probed, probed_needs

Secrets = Mapping[str, Mapping[str, str]]
"""Secrets of volumes by ``namespace/volume_id``; Nomad does not show them."""

EVERYWHERE = "*"
_NONE: Secrets = {}


def completed(client: nomad.Nomad, picture: probed.Picture) -> probed.Picture:
    """
    Return *picture* with what its answers have against the volumes that are registered for the plugin.

    A token that may not read volumes is a finding; raises `errors.NomadApiError` for everything else.
    """
    needs, unread = _needs(client, picture.plugin_id)
    found = probed_needs.judge(picture.plugin_id, picture.rows, needs)
    return dataclasses.replace(picture, findings=(*unread, *found))


def of_endpoint(
    client: nomad.Nomad,
    plugin_id: str,
    answer: report.ProbeReport,
    *,
    local: str,
    secrets: Secrets = _NONE,
    timeout_s: float,
) -> probed.Picture:
    """
    Return what the plugin behind one endpoint answered, compared with what Nomad has of *plugin_id*.

    Args:
        client: the cluster.
        plugin_id: a CSI plugin of the cluster.
        answer: what the plugin answered; a path with an allocation's id tells which instance it is.
        local: where the endpoint is reached from here; a controller is asked for every volume.
        secrets: what the plugin needs for that, by volume.
        timeout_s: seconds for each volume.

    Raises:
        errors.SpecError: the cluster has no such plugin.
        errors.NomadApiError: Nomad did not answer.

    """
    plugin = probe_job.plugin_of(client, plugin_id)
    if answer.name and plugin.provider and answer.name != plugin.provider:
        return probed.Picture(plugin_id=plugin_id, rows=(), findings=(_wrong_name(plugin, answer),))
    names = {node.node_id: node.name for node in nodes.list_nodes(client)}
    mine = [item for item in (*plugin.controllers, *plugin.nodes) if item.alloc_id in answer.endpoint.split("/")]
    said = {item.node_id: probed.ClientAnswer(reports={item.alloc_id: answer}) for item in mine}
    rows = tuple(row for row in probed.judge(plugin, names, said) if row.alloc_id in {item.alloc_id for item in mine})
    needs, unread = _needs(client, plugin_id)
    validated: tuple[findings.Finding, ...] = ()
    if answer.ready and answer.controller_capabilities is not None:
        validated = probed_needs.judge_validated(needs, _validate(local, needs, secrets, timeout_s))
    found = (*(() if mine else (_unknown(plugin_id, answer),)), *unread, *probed_needs.judge(plugin_id, rows, needs))
    return probed.Picture(plugin_id=plugin_id, rows=rows, findings=(*found, *validated))


def _wrong_name(plugin: plugins.Plugin, answer: report.ProbeReport) -> findings.Finding:
    return findings.Finding(
        code="wrong-name",
        subject=f"plugin {plugin.plugin_id}",
        severity="error",
        expected=f"driver {plugin.provider}, as Nomad knows the plugin",
        found=f"{answer.name} behind {answer.endpoint}",
        advice="this is the socket of another plugin; nothing else was compared",
    )


def _unknown(plugin_id: str, answer: report.ProbeReport) -> findings.Finding:
    return findings.Finding(
        code="instance-unknown",
        subject=f"plugin {plugin_id}",
        severity="warning",
        expected="the path of a socket with the id of one of its allocations",
        found=answer.endpoint,
        advice="its place, limit and claims were not compared; name the socket below the client's csi/plugins for that",
    )


def _needs(client: nomad.Nomad, plugin_id: str) -> tuple[tuple[volumes.Volume, ...], tuple[findings.Finding, ...]]:
    """Return the volumes that are registered for the plugin, and a finding where they may not be read."""
    try:
        listed = [item for item in volumes.list_volumes(client, EVERYWHERE) if item.plugin_id == plugin_id]
        ordered = sorted((item.namespace, item.volume_id) for item in listed)
        groups = itertools.groupby(ordered, key=lambda key: key[0])
        found = [volumes.get_many(client, name, [volume_id for _, volume_id in group]) for name, group in groups]
        return tuple(item for part in found for item in part if item is not None), ()
    except errors.NomadApiError as error:
        if error.status != HTTPStatus.FORBIDDEN:
            raise
        return (), (_unread(plugin_id, error),)


def _unread(plugin_id: str, error: errors.NomadApiError) -> findings.Finding:
    return findings.Finding(
        code="volumes-unread",
        subject=f"plugin {plugin_id}",
        severity="warning",
        expected="a token that may list and read its volumes",
        found=error.message,
        advice=error.advice,
    )


def _validate(
    local: str, needs: Sequence[volumes.Volume], secrets: Secrets, timeout_s: float
) -> dict[probed_needs.Key, probed_needs.Validated]:
    """Ask the controller for each volume, some at a time over one connection."""
    with channel.connect(endpoint.parse(local), attempt_s=timeout_s + 0.5) as connection:
        answers = gather.in_parallel(
            functools.partial(_validated, connection, item, secrets, timeout_s) for item in needs
        )
    return {(item.namespace, item.volume_id): said for item, said in zip(needs, answers, strict=True)}


def _validated(
    connection: channel.Connection, volume: volumes.Volume, secrets: Secrets, timeout_s: float
) -> probed_needs.Validated:
    strange = [item.access_mode for item in volume.capabilities if item.access_mode not in capability.MODES]
    if strange:
        return probed_needs.Validated(code="INVALID_ARGUMENT", message=f"Nomad knows no access mode {strange[0]!r}")
    try:
        found = controller.validate_volume_capabilities(
            connection,
            volume_id=volume.external_id or volume.volume_id,
            capabilities=[_use(item) for item in volume.capabilities],
            context=volume.context,
            parameters=volume.parameters,
            secrets=secrets.get(f"{volume.namespace}/{volume.volume_id}", {}),
            timeout_s=timeout_s,
        )
    except errors.CsiError as error:
        return probed_needs.Validated(code=error.code or "UNKNOWN", message=error.message)
    return probed_needs.Validated(confirmed=found.confirmed, message=found.message)


def _use(item: registration.Capability) -> capability.VolumeCapability:
    """Return *item* as Nomad sends it when a volume is registered: without file system and mount flags."""
    mode: Any = item.access_mode
    attachment: Any = item.attachment_mode
    return capability.VolumeCapability(access_mode=mode, attachment_mode=attachment)
