"""The deep probe: compare a plugin's responses with what Nomad has registered. Read-only."""

import threading
from collections.abc import Mapping
from http import HTTPStatus

from nomad_csi import errors, findings, nomad
from nomad_csi.csi import records, validation
from nomad_csi.health import instances, observed_plugin, probe_run, probed
from nomad_csi.nomad import nodes, plugins, volumes
from nomad_csi.spec import names

Secrets = Mapping[str, Mapping[str, str]]
"""Secrets of volumes by ``namespace/volume_id``; Nomad does not show them."""

_NONE: Secrets = {}


def probe_on_nodes(client: nomad.Nomad, plugin_id: str, how: probe_run.OnNodes) -> probed.ProbedPlugin:
    """
    Return the probe results of *plugin_id* on its clients.

    Raises the errors of `probe_run.ask`, and `errors.SpecError` if the cluster has no such plugin.
    """
    plugin = plugin_of(client, plugin_id)
    answers = probe_run.ask(client, [observed_plugin.ObservedPlugin(plugin=plugin)], how, threading.Event())
    names = {node.node_id: node.name for node in nodes.list_nodes(client)}
    return probed.ProbedPlugin(plugin_id=plugin_id, rows=probed.judge(plugin, names, answers))


def plugin_of(client: nomad.Nomad, plugin_id: str) -> plugins.Plugin:
    """Return the plugin. Raises `errors.SpecError`, with the cluster's plugins, if it does not exist."""
    plugin = plugins.get(client, plugin_id)
    if plugin is None:
        ids = ", ".join(plugins.list_ids(client)) or "it has none"
        problem = errors.Problem(path="plugin", got=repr(plugin_id), allowed=f"a CSI plugin of the cluster ({ids})")
        raise errors.SpecError((problem,), source=client.connection.address)
    return plugin


def probe_endpoint(
    client: nomad.Nomad,
    plugin_id: str,
    answer: records.ProbeReport,
    *,
    local: str,
    secrets: Secrets = _NONE,
    timeout_s: float,
) -> tuple[findings.Finding, ...]:
    """
    Compare the probe result of one endpoint with Nomad's record of *plugin_id*.

    Args:
        client: the cluster.
        plugin_id: a CSI plugin of the cluster.
        answer: the plugin's probe result; an allocation's id in the path identifies the instance.
        local: where the endpoint is reached from here; a controller validates every volume.
        secrets: those that the plugin needs for that, by volume.
        timeout_s: seconds for each volume.

    Raises:
        errors.SpecError: the cluster has no such plugin.
        errors.NomadApiError: Nomad did not respond.
        errors.RefusedError: secrets would be sent unencrypted to another machine.

    """
    plugin = plugin_of(client, plugin_id)
    subject = f"plugin {plugin_id}"
    if answer.name and plugin.provider and answer.name != plugin.provider:
        wrong = findings.finding(
            "provider-differs",
            subject,
            expected=f"driver {plugin.provider}, as Nomad knows the plugin",
            found=f"{answer.name} behind {answer.endpoint}",
        )
        return (wrong,)
    needs, against = _needs(client, plugin_id)
    if {item.alloc_id for item in instances.all_of(plugin)}.isdisjoint(answer.endpoint.split("/")):
        expected = "the path of a socket with the id of one of its allocations"
        unknown = findings.finding("instance-unknown", subject, expected=expected, found=answer.endpoint)
        against = (unknown, *against)
    if answer.ready and answer.controller_capabilities is not None:
        questions = [_question(item) for item in needs]
        known = {item.key: secrets.get("/".join(item.key), {}) for item in questions}
        insecure = client.connection.insecure_http
        results = validation.ask(local, questions, secrets=known, timeout_s=timeout_s, insecure=insecure)
        against += probed.judge_volumes(needs, results)
    return against


def _question(volume: volumes.Volume) -> records.ValidationQuestion:
    return records.ValidationQuestion(
        key=volumes.key_of(volume),
        external_id=volume.external_id or volume.volume_id,
        uses=tuple((item.access_mode, item.attachment_mode) for item in volume.capabilities),
        context=volume.context,
        parameters=volume.parameters,
    )


def _needs(client: nomad.Nomad, plugin_id: str) -> tuple[tuple[volumes.Volume, ...], tuple[findings.Finding, ...]]:
    """Return the registered volumes of the plugin, and a finding on those that the token may not read."""
    try:
        listed = [item for item in volumes.list_volumes(client, names.EVERYWHERE) if item.plugin_id == plugin_id]
    except errors.NomadApiError as error:
        if error.status != HTTPStatus.FORBIDDEN:
            raise
        return (), (_unread(plugin_id, error.message, error.advice),)
    read = volumes.read_each(client, ((item.namespace, item.volume_id) for item in listed))
    return read.volumes, tuple(_unread(plugin_id, item.what, item.reason) for item in read.unread)


def _unread(plugin_id: str, what: str, advice: str) -> findings.Finding:
    return findings.finding(
        "volumes-unread",
        f"plugin {plugin_id}",
        expected="a token that may list and read its volumes",
        found=what,
        advice=advice,
    )
