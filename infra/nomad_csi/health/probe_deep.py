"""The deep probe: compare a plugin's responses with what Nomad has registered. Read-only."""

import dataclasses
import threading
from collections.abc import Mapping
from http import HTTPStatus

from nomad_csi import errors, findings, nomad
from nomad_csi.csi import records, validation
from nomad_csi.health import found, instances, probe_run, probed
from nomad_csi.nomad import nodes, plugins, volumes
from nomad_csi.spec import names

Secrets = Mapping[str, Mapping[str, str]]
"""Secrets of volumes by ``namespace/volume_id``; Nomad does not show them."""

_NONE: Secrets = {}


def probe_on_nodes(client: nomad.Nomad, plugin_id: str, how: probe_run.OnNodes) -> probed.ProbedPlugin:
    """
    Return the probe results of *plugin_id* on its clients, compared with its registered volumes.

    A controller validates each volume; those that need secrets are reported as not validated. Raises the errors of
    `probe_run.ask`, and `errors.SpecError` if the cluster has no such plugin. A token that may not read
    volumes is a finding.
    """
    plugin = plugin_of(client, plugin_id)
    registered, unread = _needs(client, plugin_id)
    needs = probe_run.ProbedVolumes(registered=registered)
    results = probe_run.ask(client, [found.PluginFound(plugin=plugin)], how, needs, threading.Event())
    result = probe_run.compared(plugin_id, plugin, results, needs)
    return dataclasses.replace(result, findings=(*unread, *result.findings))


def plugin_of(client: nomad.Nomad, plugin_id: str) -> plugins.Plugin:
    """Return the plugin. Raises `errors.SpecError`, with the cluster's plugins, if it does not exist."""
    found = plugins.get(client, plugin_id)
    if found is None:
        there = ", ".join(plugins.list_ids(client)) or "it has none"
        problem = errors.Problem(path="plugin", got=repr(plugin_id), allowed=f"a CSI plugin of the cluster ({there})")
        raise errors.SpecError((problem,), source=client.connection.address)
    return found


def probe_endpoint(
    client: nomad.Nomad,
    plugin_id: str,
    answer: records.ProbeReport,
    *,
    local: str,
    secrets: Secrets = _NONE,
    timeout_s: float,
) -> probed.ProbedPlugin:
    """
    Return the probe result of one endpoint, compared with Nomad's record of *plugin_id*.

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
        return probed.ProbedPlugin(plugin_id=plugin_id, rows=(), findings=(wrong,))
    names = {node.node_id: node.name for node in nodes.list_nodes(client)}
    mine = {item.alloc_id: item for item in instances.all_of(plugin) if item.alloc_id in answer.endpoint.split("/")}
    answers = {item.node_id: probed.ClientAnswer(reports={item.alloc_id: answer}) for item in mine.values()}
    rows = tuple(row for row in probed.judge(plugin, names, answers) if row.alloc_id in mine)
    needs, unread = _needs(client, plugin_id)
    against = [*unread]
    if not mine:
        expected = "the path of a socket with the id of one of its allocations"
        against.insert(0, findings.finding("instance-unknown", subject, expected=expected, found=answer.endpoint))
    if answer.ready and answer.controller_capabilities is not None:
        questions = [probe_run.question(item) for item in needs]
        known = {item.key: secrets.get("/".join(item.key), {}) for item in questions}
        insecure = client.connection.insecure_http
        results = validation.ask(local, questions, secrets=known, timeout_s=timeout_s, insecure=insecure)
        against += probed.judge_volumes(needs, results)
    return probed.ProbedPlugin(plugin_id=plugin_id, rows=rows, findings=tuple(against))


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
