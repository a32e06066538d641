"""Build a report from its parts. Pure."""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from nomad_csi.diagnosis import facts, page_data, verification_report
from nomad_csi.diagnosis.rules import claim_status, drains
from nomad_csi.findings import Finding, causes, finding
from nomad_csi.health import eligibility, plugins, policy
from nomad_csi.nomad.records import jobs, nodes
from nomad_csi.nomad.records import plugins as plugin_records
from nomad_csi.plan import model as plans

# The parts of a report.


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The parts, named as in the commands that read them."""

    found: facts.ObservedCluster
    """The doctor's observations: clients, plugins, volumes."""

    doctor: tuple[Finding, ...]
    verified: verification_report.VerificationReport | None
    """Verification of the spec; ``None``: there is no spec, or it could not be compared."""

    running: Mapping[str, plugins.PluginStatus]
    """Status of plugins that are in no spec, compared with their own jobs, by id."""

    claims: tuple[claim_status.VolumeClaims, ...]
    mounts: tuple[Finding, ...]
    """Allocations that fail to get a volume."""

    smoke: tuple[page_data.SmokeResult, ...]


# The desired state of a plugin that is in no spec: what its own jobs request.


_NODE_ROLES = frozenset({"node", "monolith"})


def expectation_of(plugin: plugin_records.Plugin, tasks: Sequence[jobs.PluginTask]) -> plans.PluginExpectation:
    """
    Return the desired state of *plugin* from its *tasks*: a node instance on each client that its system job may use.

    If several jobs, or a service job, run node instances, Nomad's own count is used, or the number of running instances
    if Nomad's is smaller: Nomad counts 0 right after a job is registered. The same applies to controllers.
    """
    on_nodes = [task for task in tasks if task.role in _NODE_ROLES]
    counted = on_nodes[0] if len(on_nodes) == 1 and on_nodes[0].job_type == "system" else None
    is_monolith = any(task.role == "monolith" for task in tasks)
    first = next(iter(on_nodes or tasks), None)
    return plans.PluginExpectation(
        plugin_id=plugin.plugin_id,
        provider=plugin.provider,
        namespace=first.namespace if first else "default",
        controllers=0 if is_monolith else max(plugin.controllers_expected, len(plugin.controllers)),
        monolith=is_monolith,
        nodes=None if counted else max(plugin.nodes_expected, len(plugin.nodes)),
        datacenters=counted.datacenters if counted else ("*",),
        node_pool=counted.node_pool if counted else "all",
        constraints=counted.constraints if counted else (),
        task_driver=first.task_driver if first else "",
        evidence="nomad",
        timeout_s=0,
        stable_s=0,
    )


# Counts by zone, and by kind of evidence.


def zones_of(
    clients: Iterable[page_data.ReportedClient],
    of_plugins: Sequence[page_data.ReportedPlugin],
    volumes: Iterable[page_data.ReportedVolume],
) -> tuple[page_data.Zone, ...]:
    """Return all zones that have a client or a volume, by name; clients of unknown zone come last."""
    zone_of = {client.node_id: client.zone for client in clients}
    healthy: Counter[tuple[str, str]] = Counter()
    wanted: Counter[tuple[str, str]] = Counter()
    for plugin in of_plugins:
        for row in policy.counted(plugin.status.instances) if plugin.status else ():
            place = (plugin.plugin_id, row.zone or zone_of.get(row.node_id, ""))
            wanted[place] += 1
            healthy[place] += row.status == plugins.HEALTHY
    here = page_data.grouped(clients, lambda client: client.zone)
    of_one_zone = (volume for volume in volumes if len(volume.zones) == 1)
    bound = page_data.grouped(of_one_zone, lambda volume: volume.zones[0])
    names = {*here, *bound, *(zone for _, zone in wanted)}
    return tuple(
        page_data.Zone(
            name=name,
            clients=len(here[name]),
            ready=sum(client.state == "ready" for client in here[name]),
            plugins={
                plugin.plugin_id: (healthy[plugin.plugin_id, name], wanted[plugin.plugin_id, name])
                for plugin in of_plugins
            },
            volumes=len(bound[name]),
            claimed=sum(volume.claims > 0 for volume in bound[name]),
            wrong_volumes=sum(volume.status != "ok" for volume in bound[name]),
        )
        for name in sorted(names, key=lambda name: (not name, name))
    )


def evidence_of(
    of_plugins: Iterable[page_data.ReportedPlugin], volumes: Sequence[page_data.ReportedVolume]
) -> tuple[page_data.EvidenceCount, ...]:
    """Return the counts of each kind of evidence, from the strongest to none."""
    return tuple(item for item in _evidence(of_plugins, volumes) if item.of and (item.verified or item.tier != "-"))


def _evidence(
    of_plugins: Iterable[page_data.ReportedPlugin], volumes: Sequence[page_data.ReportedVolume]
) -> Iterator[page_data.EvidenceCount]:
    rows = [row for plugin in of_plugins if plugin.status for row in plugin.status.instances]
    by_instance = Counter(row.evidence if row.status == plugins.HEALTHY else "-" for row in rows)
    by_volume = Counter(volume.evidence for volume in volumes)
    yield page_data.EvidenceCount(tier="smoke", what="volumes", verified=by_volume["smoke"], of=len(volumes))
    yield page_data.EvidenceCount(tier="csi", what="plugin instances", verified=by_instance["csi"], of=len(rows))
    yield page_data.EvidenceCount(tier="nomad", what="plugin instances", verified=by_instance["nomad"], of=len(rows))
    yield page_data.EvidenceCount(tier="nomad", what="volumes", verified=by_volume["nomad"], of=len(volumes))
    yield page_data.EvidenceCount(tier="-", what="plugin instances", verified=by_instance["-"], of=len(rows))
    yield page_data.EvidenceCount(tier="-", what="volumes", verified=by_volume["-"], of=len(volumes))


# The sections of the report. They include objects of the spec and objects that are only in the cluster.


def plugins_of(parts: Parts) -> Iterator[page_data.ReportedPlugin]:
    """Yield plugins of the spec, then others, each by id."""
    expected = {item.plugin_id: item for item in (parts.verified.plugins if parts.verified else ())}
    planned = {item.plugin_id for item in (parts.found.plan.plugins if parts.found.plan else ())}
    for plugin_id in sorted(planned):
        yield page_data.ReportedPlugin(plugin_id=plugin_id, status=expected.get(plugin_id), is_expected=True)
    for plugin_id in sorted(parts.found.known_plugins.keys() - planned):
        status = parts.running.get(plugin_id)
        yield page_data.ReportedPlugin(plugin_id=plugin_id, status=status, is_expected=not parts.found.plan)


def clients_of(parts: Parts, of_plugins: Iterable[page_data.ReportedPlugin]) -> Iterator[page_data.ReportedClient]:
    """Yield the clients by name, with the statuses of what runs there."""
    statuses: dict[str, dict[str, str]] = {}
    reported: dict[str, str] = {}
    for plugin in of_plugins:
        for row in plugin.status.instances if plugin.status else ():
            statuses.setdefault(row.node_id, {})[f"{row.plugin_id} {row.role}"] = row.status
            if row.zone:
                reported.setdefault(row.node_id, row.zone)
    for node in sorted(parts.found.known_clients, key=lambda item: (item.name, item.node_id)):
        yield page_data.ReportedClient(
            node_id=node.node_id,
            name=node.name,
            zone=reported.get(node.node_id) or eligibility.zone_of_client(node),
            datacenter=node.datacenter,
            node_pool=node.node_pool,
            state=_state(node),
            version=node.version,
            statuses=statuses.get(node.node_id, {}),
        )


def _state(node: nodes.Node) -> str:
    if node.status != "ready":
        return node.status
    if node.draining:
        return "draining"
    return "ready" if node.eligible else "ineligible"


def volumes_of(parts: Parts) -> Iterator[page_data.ReportedVolume]:
    """Yield the volumes by namespace and id."""
    statuses = {item.key: item for item in (parts.verified.volumes if parts.verified else ())}
    smoked = {item.key for item in parts.smoke if item.status == "verified"}
    planned = {item.key for item in (parts.found.plan.volumes if parts.found.plan else ())}
    claimed = {item.key: item for item in parts.claims}
    for item in sorted(parts.found.known_volumes, key=lambda item: item.key.partition("/")):
        namespace, _, volume_id = item.key.partition("/")
        status = statuses.get(item.key)
        volume_status: page_data.VolumeStatus = status.status if status else _list_findings(item)
        evidence: page_data.Evidence = "nomad" if item.is_registered else "-"
        yield page_data.ReportedVolume(
            namespace=namespace,
            volume_id=volume_id,
            plugin_id=item.plugin_id,
            external_id=item.external_id,
            zones=tuple(sorted({eligibility.zone_of_segments(place) for place in item.segments} - {""})),
            claims=item.claims,
            size_bytes=_size_bytes(parts, item, claimed.get(item.key)),
            attached=_attached(claimed.get(item.key)),
            status=volume_status,
            evidence="smoke" if item.is_registered and item.key in smoked else evidence,
            is_expected=not parts.found.plan or item.key in planned,
        )


def _size_bytes(parts: Parts, item: facts.ExaminedVolume, held: claim_status.VolumeClaims | None) -> int:
    account = parts.found.account
    in_ec2 = account.volumes if isinstance(account, facts.Account) else {}
    found = None if isinstance(in_ec2, facts.Unknown) else in_ec2.get(item.external_id)
    if found is not None:
        return found.size_gib * 2**30
    return (held.volume.capacity_bytes if held else 0) or item.size_bytes


def _attached(held: claim_status.VolumeClaims | None) -> tuple[str, ...]:
    if held is None:
        return ()
    if held.ebs is not None:
        return tuple(place.instance_id for place in held.ebs.attachments)
    return tuple(sorted({each.claim.node_name or each.claim.node_id for each in held.claims} - {""}))


def _list_findings(item: facts.ExaminedVolume) -> page_data.VolumeStatus:
    if not item.is_registered:
        return "missing"
    return "ok" if item.schedulable else "unschedulable"


def findings_of(parts: Parts) -> tuple[Finding, ...]:
    """Return the findings of all commands, without duplicates; errors first, consequences with their cause."""
    verified = parts.verified.findings if parts.verified else ()
    of_others = (item for status in parts.running.values() for item in status.findings)
    of_claims = [*claim_status.findings_of(parts.claims)]
    held = (item.volume for item in parts.claims)
    of_claims += parts.mounts
    of_claims += drains.check(held, parts.found.known_plugins, parts.found.known_clients)
    found = _once(
        {
            "verify": (*verified, *of_others),
            "claims": of_claims,
            "doctor": parts.doctor,
            "smoke": _smoke_findings(parts),
        }
    )
    return causes.assign(sorted(found, key=_is_warning))


def _once(by_command: Mapping[str, Iterable[Finding]]) -> Iterator[Finding]:
    """Yield the findings, except those that another command reports on the same subjects at least as severely."""
    found = [dataclasses.replace(item, found_by=name) for name, items in by_command.items() for item in items]
    reported_by: dict[tuple[str, str], str] = {}
    for item in sorted(found, key=_is_warning):
        for subject in item.about or (item.subject,):
            reported_by.setdefault((item.code, subject), item.found_by)
    for item in found:
        if any(reported_by[item.code, subject] == item.found_by for subject in item.about or (item.subject,)):
            yield item


def _is_warning(item: Finding) -> bool:
    return item.severity == "warning"


def _smoke_findings(parts: Parts) -> Iterator[Finding]:
    for item in parts.smoke:
        if item.status == "failed":
            yield finding(
                "smoke-failed",
                f"volume {item.key}",
                expected="data that is written, and read back by another job",
                found="; ".join(item.not_verified) or "neither",
                advice=f"see {item.source}, and run `nomad-csi smoke {item.key}` again",
            )
