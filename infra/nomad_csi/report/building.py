"""A report from its parts. Pure."""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from nomad_csi.claims import claim_model
from nomad_csi.doctor import model as doctor_model
from nomad_csi.doctor import report as doctor_report
from nomad_csi.findings import Finding, finding
from nomad_csi.health import drain_findings, eligibility, plugins, policy
from nomad_csi.nomad.records import nodes
from nomad_csi.report import model
from nomad_csi.report.smoke_results import SmokeResult
from nomad_csi.verification import report

# What was asked for a report, before it is put together.


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Each as the command tells it that asks for it."""

    cluster: model.Cluster
    spec: str
    found: doctor_model.ObservedCluster
    """What the doctor read: clients, plugins, volumes."""

    doctor: doctor_report.DoctorReport
    verified: report.VerificationReport | None
    """Of the spec; ``None``: there is none, or it could not be compared."""

    running: Mapping[str, plugins.PluginStatus]
    """Status of plugins that are in no spec, against what their own jobs ask for, by id."""

    claims: tuple[claim_model.VolumeClaims, ...]
    claims_unread: int
    asked_ec2: bool
    unchecked: tuple[doctor_model.Unchecked, ...]
    """Beside what the doctor could not check."""

    smoke: tuple[SmokeResult, ...]


# What there is in each zone, and what is verified by what.


def zones_of(
    clients: Iterable[model.ReportedClient],
    of_plugins: Sequence[model.ReportedPlugin],
    volumes: Iterable[model.ReportedVolume],
) -> tuple[model.Zone, ...]:
    """Return all zones that a client or a volume is in, by name; clients of which none is known come last."""
    zone_of = {client.node_id: client.zone for client in clients}
    bound = [volume for volume in volumes if len(volume.zones) == 1]
    of_clients = Counter(client.zone for client in clients)
    ready = Counter(client.zone for client in clients if client.state == "ready")
    of_volumes = Counter(volume.zones[0] for volume in bound)
    claimed = Counter(volume.zones[0] for volume in bound if volume.claims)
    wrong = Counter(volume.zones[0] for volume in bound if volume.status != "ok")
    healthy: Counter[tuple[str, str]] = Counter()
    wanted: Counter[tuple[str, str]] = Counter()
    for plugin in of_plugins:
        for row in policy.counted(plugin.status.instances) if plugin.status else ():
            place = (plugin.plugin_id, row.zone or zone_of.get(row.node_id, ""))
            wanted[place] += 1
            healthy[place] += row.status == plugins.HEALTHY
    names = set(of_clients) | set(of_volumes) | {zone for _, zone in wanted}
    return tuple(
        model.Zone(
            name=name,
            clients=of_clients[name],
            ready=ready[name],
            plugins={
                plugin.plugin_id: (healthy[plugin.plugin_id, name], wanted[plugin.plugin_id, name])
                for plugin in of_plugins
            },
            volumes=of_volumes[name],
            claimed=claimed[name],
            wrong_volumes=wrong[name],
        )
        for name in sorted(names, key=lambda name: (not name, name))
    )


def evidence_of(
    of_plugins: Iterable[model.ReportedPlugin], volumes: Sequence[model.ReportedVolume]
) -> tuple[model.EvidenceCount, ...]:
    """Return how much each kind of evidence stands behind, from the strongest to none."""
    return tuple(item for item in _evidence(of_plugins, volumes) if item.of and (item.verified or item.tier != "-"))


def _evidence(
    of_plugins: Iterable[model.ReportedPlugin], volumes: Sequence[model.ReportedVolume]
) -> Iterator[model.EvidenceCount]:
    rows = [row for plugin in of_plugins if plugin.status for row in plugin.status.instances]
    by_instance = Counter(row.evidence if row.status == plugins.HEALTHY else "-" for row in rows)
    by_volume = Counter(volume.evidence for volume in volumes)
    yield model.EvidenceCount(tier="smoke", what="volumes", verified=by_volume["smoke"], of=len(volumes))
    yield model.EvidenceCount(tier="csi", what="plugin instances", verified=by_instance["csi"], of=len(rows))
    yield model.EvidenceCount(tier="nomad", what="plugin instances", verified=by_instance["nomad"], of=len(rows))
    yield model.EvidenceCount(tier="nomad", what="volumes", verified=by_volume["nomad"], of=len(volumes))
    yield model.EvidenceCount(tier="-", what="plugin instances", verified=by_instance["-"], of=len(rows))
    yield model.EvidenceCount(tier="-", what="volumes", verified=by_volume["-"], of=len(volumes))


# The report.


def build(parts: Parts) -> model.ClusterReport:
    """Return the report. What is in the spec and what is only there are in it together."""
    of_plugins = tuple(_plugins(parts))
    clients = tuple(_clients(parts, of_plugins))
    volumes = tuple(sorted(_volumes(parts), key=lambda item: (item.namespace, item.volume_id)))
    return model.ClusterReport(
        cluster=parts.cluster,
        spec=parts.spec,
        clients=clients,
        plugins=of_plugins,
        volumes=volumes,
        claims=parts.claims,
        claims_unread=parts.claims_unread,
        asked_ec2=parts.asked_ec2,
        findings=tuple(sorted(_findings(parts, volumes), key=_is_warning)),
        unchecked=(*parts.unchecked, *parts.doctor.unchecked),
        smoke=parts.smoke,
        zones=zones_of(clients, of_plugins, volumes),
        evidence=evidence_of(of_plugins, volumes),
    )


def _plugins(parts: Parts) -> Iterator[model.ReportedPlugin]:
    """Yield plugins of the spec, then others, each by id."""
    expected = {item.plugin_id: item for item in (parts.verified.plugins if parts.verified else ())}
    planned = {item.plugin_id for item in (parts.found.plan.plugins if parts.found.plan else ())}
    there = set() if isinstance(parts.found.plugins, doctor_model.Unknown) else set(parts.found.plugins)
    for plugin_id in sorted(planned):
        yield model.ReportedPlugin(plugin_id=plugin_id, status=expected.get(plugin_id), is_expected=True)
    for plugin_id in sorted(there - planned):
        status = parts.running.get(plugin_id)
        yield model.ReportedPlugin(plugin_id=plugin_id, status=status, is_expected=not parts.found.plan)


def _clients(parts: Parts, of_plugins: Iterable[model.ReportedPlugin]) -> Iterator[model.ReportedClient]:
    if isinstance(parts.found.clients, doctor_model.Unknown):
        return
    statuses: dict[str, dict[str, str]] = {}
    reported: dict[str, str] = {}
    for plugin in of_plugins:
        for row in plugin.status.instances if plugin.status else ():
            statuses.setdefault(row.node_id, {})[f"{row.plugin_id} {row.role}"] = row.status
            if row.zone:
                reported.setdefault(row.node_id, row.zone)
    for node in sorted(parts.found.clients, key=lambda item: (item.name, item.node_id)):
        yield model.ReportedClient(
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


def _volumes(parts: Parts) -> Iterator[model.ReportedVolume]:
    statuses = {item.key: item for item in (parts.verified.volumes if parts.verified else ())}
    smoked = {item.key for item in parts.smoke if item.status == "verified"}
    planned = {item.key for item in (parts.found.plan.volumes if parts.found.plan else ())}
    for item in () if isinstance(parts.found.volumes, doctor_model.Unknown) else parts.found.volumes:
        namespace, _, volume_id = item.key.partition("/")
        status = statuses.get(item.key)
        word: model.VolumeStatus = status.status if status else _of_list(item)
        evidence: model.Evidence = "nomad" if item.is_registered else "-"
        yield model.ReportedVolume(
            namespace=namespace,
            volume_id=volume_id,
            plugin_id=item.plugin_id,
            external_id=item.external_id,
            zones=tuple(sorted({eligibility.zone_of_segments(place) for place in item.segments} - {""})),
            claims=item.claims,
            status=word,
            evidence="smoke" if item.is_registered and item.key in smoked else evidence,
            is_expected=not parts.found.plan or item.key in planned,
        )


def _of_list(item: doctor_model.ExaminedVolume) -> model.VolumeStatus:
    if not item.is_registered:
        return "missing"
    return "ok" if item.schedulable else "unschedulable"


def _findings(parts: Parts, volumes: Iterable[model.ReportedVolume]) -> Iterator[Finding]:
    """Yield what each command would report, once."""
    verified = parts.verified.findings if parts.verified else ()
    of_others = (item for status in parts.running.values() for item in status.findings)
    of_claims = [item for volume in parts.claims for item in volume.findings]
    of_claims += _of_drains(parts)
    yield from _once(
        {
            "verify": (*verified, *of_others, *_unschedulable(parts, volumes)),
            "claims": of_claims,
            "doctor": parts.doctor.findings,
            "smoke": _of_smoke(parts),
        }
    )


def _of_drains(parts: Parts) -> Iterator[Finding]:
    if isinstance(parts.found.plugins, doctor_model.Unknown) or isinstance(parts.found.clients, doctor_model.Unknown):
        return
    held = (item.volume for item in parts.claims)
    yield from drain_findings.check(held, parts.found.plugins, parts.found.clients)


def _once(by_command: Mapping[str, Iterable[Finding]]) -> Iterator[Finding]:
    """Yield the findings, but for those that another command tells of the same subjects, and not less severely."""
    found = [dataclasses.replace(item, found_by=name) for name, items in by_command.items() for item in items]
    told_by: dict[tuple[str, str], str] = {}
    for item in sorted(found, key=_is_warning):
        for subject in item.about or (item.subject,):
            told_by.setdefault((item.code, subject), item.found_by)
    for item in found:
        if any(told_by[item.code, subject] == item.found_by for subject in item.about or (item.subject,)):
            yield item


def _is_warning(item: Finding) -> bool:
    return item.severity == "warning"


def _unschedulable(parts: Parts, volumes: Iterable[model.ReportedVolume]) -> Iterator[Finding]:
    """Yield, for each plugin, the volumes that Nomad would place nobody on and that no comparison tells of."""
    compared = {item.key for item in (parts.verified.volumes if parts.verified else ())}
    stuck: dict[str, list[str]] = {}
    for volume in volumes:
        if volume.status == "unschedulable" and volume.key not in compared:
            stuck.setdefault(volume.plugin_id, []).append(volume.key)
    for plugin_id, keys in sorted(stuck.items()):
        yield finding(
            "volume-unschedulable",
            f"plugin {plugin_id}",
            expected="volumes that Nomad would place an allocation on",
            found=f"too few healthy instances for {doctor_model.named(keys)}",
        )


def _of_smoke(parts: Parts) -> Iterator[Finding]:
    for item in parts.smoke:
        if item.status == "failed":
            yield finding(
                "smoke-failed",
                f"volume {item.key}",
                expected="data that is written, and read back by another job",
                found="; ".join(item.not_verified) or "neither",
                advice=f"see {item.source}, and run `nomad-csi smoke {item.key}` again",
            )
