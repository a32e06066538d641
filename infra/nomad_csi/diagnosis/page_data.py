"""The data of a report, the severity of each part, and how it is built from what was read. Pure."""

import dataclasses
import functools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import pydantic

from nomad_csi import errors
from nomad_csi.diagnosis import claims_report, facts, verification_report
from nomad_csi.diagnosis.rules import claim_status, drains
from nomad_csi.findings import Finding, causes, errors_of, finding, printing
from nomad_csi.health import eligibility, plugins, policy
from nomad_csi.nomad import jobs, nodes
from nomad_csi.nomad import plugins as plugin_records
from nomad_csi.plan import model as plans
from nomad_csi.plan import registration
from nomad_csi.text import listing

VolumeStatus = Literal["ok", "missing", "differs", "unschedulable"]
Evidence = Literal["smoke", "nomad", "-"]
Kind = Literal["good", "warn", "bad", "unsure"]
"""Severity of a status, for its colour."""

ORDER: tuple[Kind, ...] = ("bad", "unsure", "warn", "good")
"""The most severe first."""

NOT_JUDGED = "not checked"

_Row = TypeVar("_Row")
_Name = TypeVar("_Name")

_GOOD = frozenset({"healthy", "ok", "live", "ready", "verified"})
_WARN = frozenset({"starting", "restarted", "outdated", "draining", "ineligible", "ended", "warning", "unverified"})
_UNSURE = frozenset({NOT_JUDGED, "not verified", "initializing"})


def kind_of(status: str) -> Kind:
    """Return the severity of *status*: a status, the state of a client or of a claim, a severity."""
    if status in _GOOD:
        return "good"
    if status in _UNSURE:
        return "unsure"
    return "warn" if status in _WARN else "bad"


def worst(kinds: Iterable[Kind]) -> Kind:
    """Return the most severe of *kinds*; ``good`` if there is none."""
    return min(kinds, key=ORDER.index, default="good")


def grouped(rows: Iterable[_Row], name_of: Callable[[_Row], _Name]) -> defaultdict[_Name, list[_Row]]:
    """Group *rows* by *name_of* each; rows without a name are omitted."""
    found: defaultdict[_Name, list[_Row]] = defaultdict(list)
    for row in rows:
        found[name_of(row)].append(row)
    return found


# The output of an earlier `nomad-csi smoke --json`, parsed: the only evidence that data can be written and read back.


@dataclass(frozen=True, kw_only=True, slots=True)
class SmokeResult(registration.NamedVolume):
    """The outcome of one volume's smoke test, and its source file."""

    status: Literal["verified", "failed", "not verified"]
    verified: tuple[str, ...]
    """The verified facts, one sentence each."""

    not_verified: tuple[str, ...]
    left_behind: tuple[str, ...]
    source: str = ""


@functools.cache
def _reader() -> pydantic.TypeAdapter[SmokeResult]:
    return pydantic.TypeAdapter(SmokeResult)


def read_smoke(text: str, source: str) -> SmokeResult:
    """Parse *text*, the output of `nomad-csi smoke --json`. Raises `errors.SpecError`."""
    try:
        return dataclasses.replace(_reader().validate_json(text, strict=True), source=source)
    except pydantic.ValidationError:
        allowed = "the output of `nomad-csi smoke NAMESPACE/ID --json`"
        raise errors.SpecError((errors.Problem(path="", got="something else", allowed=allowed),), source) from None


# The report.


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """The observed cluster, its address and the time."""

    address: str
    """As configured. The address of a connection contains no user and password."""

    region: str
    """From the servers' names; empty: unknown."""

    identity: str
    """Id that nomad-csi gave it, from a Nomad variable; empty: it has none, or the token may not read it."""

    servers: tuple[nodes.Server, ...]
    """Empty if they could not be read."""

    asked_at: str
    """Time in UTC, by Nomad's own clock."""

    sandbox: str = ""
    """The mark of the sandbox, whose plugins mount nothing; empty: not a sandbox."""

    @property
    def nomad_versions(self) -> str:
        """The Nomad versions of its servers."""
        return ", ".join(sorted({server.version for server in self.servers}))


@dataclass(frozen=True, kw_only=True, slots=True)
class ReportedClient:
    """One Nomad client."""

    node_id: str
    name: str
    zone: str
    """As its plugin instances report it, else from Nomad's fingerprint; empty: unknown."""

    datacenter: str
    node_pool: str
    state: str
    """``ready``, ``draining``, ``ineligible``, or Nomad's status if that is not ``ready``, such as ``down``."""

    version: str
    """Its Nomad version."""

    statuses: Mapping[str, str]
    """Status of its instances by plugin id and role: ``{"aws-ebs0 node": "healthy"}``."""

    @property
    def state_kind(self) -> Kind:
        """Severity of its own state."""
        return kind_of(self.state)

    @property
    def kind(self) -> Kind:
        """The worst severity of its state and of all instances on it."""
        return worst(map(kind_of, (self.state, *self.statuses.values())))

    @property
    def remark(self) -> str:
        """Its unhealthy instances: ``aws-ebs0 node: hung``."""
        return "; ".join(f"{name}: {status}" for name, status in self.statuses.items() if kind_of(status) != "good")


@dataclass(frozen=True, kw_only=True)
class ReportedPlugin:
    """One plugin."""

    plugin_id: str
    status: plugins.PluginStatus | None
    """``None``: it could not be determined; `ClusterReport.unchecked` has the reason."""

    is_expected: bool
    """Whether the spec has it; without a spec, true: running plugins are compared with their own jobs."""

    @property
    def status_text(self) -> str:
        """Its status."""
        return self.status.status if self.status else NOT_JUDGED

    @property
    def kind(self) -> Kind:
        """Its severity: a deviation that its policy allows is a warning."""
        if self.status is None or self.status.status == plugins.HEALTHY:
            return kind_of(self.status_text)
        return "warn" if self.status.ok else "bad"


@dataclass(frozen=True, kw_only=True, slots=True)
class ReportedVolume(registration.NamedVolume):
    """One volume that is registered, or that the spec has."""

    plugin_id: str
    external_id: str
    """Empty if the storage is not created yet."""

    zones: tuple[str, ...]
    """Zones in which it can be used; empty: any zone."""

    claims: int
    """Number of allocations that claim it."""

    size_bytes: int = 0
    """By EC2, else by its plugin, else as the spec asks for; 0: not known."""

    attached: tuple[str, ...] = ()
    """EC2 instances that have it attached, if EC2 was queried; else the clients of its claims, if these were read."""

    status: VolumeStatus
    """``ok``: matches the spec; without one, registered and schedulable."""

    evidence: Evidence
    is_expected: bool
    """As `ReportedPlugin.is_expected`."""

    @property
    def kind(self) -> Kind:
        """Severity of its status."""
        return kind_of(self.status)

    @property
    def size(self) -> str:
        """Its size, such as ``40GiB``."""
        return listing.size(self.size_bytes) if self.size_bytes else "-"


@dataclass(frozen=True, kw_only=True)
class Zone:
    """The counts of one zone."""

    name: str
    """Empty: the zone of these clients is unknown."""

    clients: int
    ready: int
    """Ready clients; the others are draining, ineligible or not up."""

    plugins: Mapping[str, tuple[int, int]]
    """Number of healthy and of expected node instances, by plugin id."""

    volumes: int
    """Volumes that can be used in this zone only."""

    claimed: int
    wrong_volumes: int


@dataclass(frozen=True, kw_only=True)
class EvidenceCount:
    """How many objects have one kind of evidence."""

    tier: Literal["nomad", "csi", "smoke", "-"]
    what: str
    """Such as ``plugin instances``."""

    verified: int
    of: int


@dataclass(frozen=True, kw_only=True)
class ClusterReport:
    """The whole report."""

    cluster: Cluster
    title: str = ""
    """What the cluster is called; empty: its region, or its address."""

    spec: str
    """File of the spec; empty: observed plugins were compared with their own jobs only."""

    clients: tuple[ReportedClient, ...]
    plugins: tuple[ReportedPlugin, ...]
    volumes: tuple[ReportedVolume, ...]
    claims: tuple[claim_status.VolumeClaims, ...]
    claims_unread: int
    """Claimed volumes whose claims were not read, to limit the number of requests."""

    findings: tuple[Finding, ...]
    """Errors first; then by the command that reports them, `Finding.found_by`, in its order."""

    unchecked: tuple[facts.Unchecked, ...]
    smoke: tuple[SmokeResult, ...]
    zones: tuple[Zone, ...]
    evidence: tuple[EvidenceCount, ...]

    @property
    def heading(self) -> str:
        """The title, or one that names the region or the address; ``global`` is the name of no region in particular."""
        region = "" if self.cluster.region == "global" else self.cluster.region
        return self.title or f"Storage of {region or self.cluster.address}"

    @property
    def errors(self) -> int:
        """Number of findings of severity error."""
        return len(errors_of(self.findings))

    @property
    def warnings(self) -> int:
        """Number of findings of severity warning."""
        return len(self.findings) - self.errors

    @property
    def totals(self) -> str:
        """The counts of findings, as all commands have them."""
        return printing.totals(self.findings)

    @property
    def unexpected(self) -> tuple[facts.Unchecked, ...]:
        """Failed checks."""
        return tuple(item for item in self.unchecked if not item.is_expected)

    @property
    def left_out(self) -> tuple[facts.Unchecked, ...]:
        """Checks that were disabled, or are impossible."""
        return tuple(item for item in self.unchecked if item.is_expected)

    @property
    def status(self) -> tuple[str, Kind]:
        """The overall status as a phrase, and its severity."""
        if self.errors:
            return self.totals, "bad"
        if self.unexpected:
            return "not everything could be checked", "unsure"
        if self.warnings:
            return f"no errors, {listing.grouped(self.warnings, 'warning')}", "warn"
        return "no errors", "good"

    def as_json(self) -> dict[str, Any]:
        """
        Return the report as JSON values. Keys stay stable once released.

        ``{"ok", "cluster", "spec", "totals", "zones", "evidence", "clients", "plugins", "volumes", "claims",
        "claims_unread", "findings", "not_checked", "smoke"}``. ``cluster`` has ``address``, ``region``, ``identity``,
        ``servers``, ``asked_at`` (UTC) and ``sandbox``. ``plugins`` are those of `nomad-csi verify --json` with
        ``is_expected``; a plugin whose status could not be determined has only ``plugin_id`` and ``status`` ``"not
        checked"``. ``claims`` are the volumes of `nomad-csi claims --json`. An unknown value is an empty string.
        """
        claims = claims_report.ClaimsReport(volumes=self.claims).as_json()
        return {
            "ok": not self.errors and not self.unexpected,
            "cluster": dataclasses.asdict(self.cluster),
            "spec": self.spec,
            "totals": {
                "clients": len(self.clients),
                "plugins": len(self.plugins),
                "volumes": len(self.volumes),
                "claims": sum(volume.claims for volume in self.volumes),
                "errors": self.errors,
                "warnings": self.warnings,
            },
            "zones": [_zone(zone) for zone in self.zones],
            "evidence": [dataclasses.asdict(evidence) for evidence in self.evidence],
            "clients": [dataclasses.asdict(client) for client in self.clients],
            "plugins": [_plugin(plugin) for plugin in self.plugins],
            "volumes": [dataclasses.asdict(volume) for volume in self.volumes],
            "claims": claims["volumes"],
            "claims_unread": self.claims_unread,
            "findings": printing.as_json(self.findings, printing.REPORTED),
            "not_checked": [dataclasses.asdict(item) for item in self.unchecked],
            "smoke": [dataclasses.asdict(item) for item in self.smoke],
        }


def _zone(zone: Zone) -> dict[str, Any]:
    counts = {name: {"healthy": healthy, "expected": wanted} for name, (healthy, wanted) in zone.plugins.items()}
    return dataclasses.asdict(zone) | {"plugins": counts}


def _plugin(plugin: ReportedPlugin) -> dict[str, Any]:
    if plugin.status is None:
        return {"plugin_id": plugin.plugin_id, "status": "not checked", "is_expected": plugin.is_expected}
    return verification_report.plugin_as_json(plugin.status) | {"is_expected": plugin.is_expected}


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

    smoke: tuple[SmokeResult, ...]


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
    clients: Iterable[ReportedClient],
    of_plugins: Sequence[ReportedPlugin],
    volumes: Iterable[ReportedVolume],
) -> tuple[Zone, ...]:
    """Return all zones that have a client or a volume, by name; clients of unknown zone come last."""
    zone_of = {client.node_id: client.zone for client in clients}
    healthy: Counter[tuple[str, str]] = Counter()
    wanted: Counter[tuple[str, str]] = Counter()
    for plugin in of_plugins:
        for row in policy.counted(plugin.status.instances) if plugin.status else ():
            place = (plugin.plugin_id, row.zone or zone_of.get(row.node_id, ""))
            wanted[place] += 1
            healthy[place] += row.status == plugins.HEALTHY
    here = grouped(clients, lambda client: client.zone)
    of_one_zone = (volume for volume in volumes if len(volume.zones) == 1)
    bound = grouped(of_one_zone, lambda volume: volume.zones[0])
    names = {*here, *bound, *(zone for _, zone in wanted)}
    return tuple(
        Zone(
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


def evidence_of(of_plugins: Iterable[ReportedPlugin], volumes: Sequence[ReportedVolume]) -> tuple[EvidenceCount, ...]:
    """Return the counts of each kind of evidence, from the strongest to none."""
    return tuple(item for item in _evidence(of_plugins, volumes) if item.of and (item.verified or item.tier != "-"))


def _evidence(of_plugins: Iterable[ReportedPlugin], volumes: Sequence[ReportedVolume]) -> Iterator[EvidenceCount]:
    rows = [row for plugin in of_plugins if plugin.status for row in plugin.status.instances]
    by_instance = Counter(row.evidence if row.status == plugins.HEALTHY else "-" for row in rows)
    by_volume = Counter(volume.evidence for volume in volumes)
    yield EvidenceCount(tier="smoke", what="volumes", verified=by_volume["smoke"], of=len(volumes))
    yield EvidenceCount(tier="csi", what="plugin instances", verified=by_instance["csi"], of=len(rows))
    yield EvidenceCount(tier="nomad", what="plugin instances", verified=by_instance["nomad"], of=len(rows))
    yield EvidenceCount(tier="nomad", what="volumes", verified=by_volume["nomad"], of=len(volumes))
    yield EvidenceCount(tier="-", what="plugin instances", verified=by_instance["-"], of=len(rows))
    yield EvidenceCount(tier="-", what="volumes", verified=by_volume["-"], of=len(volumes))


# The sections of the report. They include objects of the spec and objects that are only in the cluster.


def plugins_of(parts: Parts) -> Iterator[ReportedPlugin]:
    """Yield plugins of the spec, then others, each by id."""
    expected = {item.plugin_id: item for item in (parts.verified.plugins if parts.verified else ())}
    planned = {item.plugin_id for item in (parts.found.plan.plugins if parts.found.plan else ())}
    for plugin_id in sorted(planned):
        yield ReportedPlugin(plugin_id=plugin_id, status=expected.get(plugin_id), is_expected=True)
    for plugin_id in sorted(parts.found.known_plugins.keys() - planned):
        status = parts.running.get(plugin_id)
        yield ReportedPlugin(plugin_id=plugin_id, status=status, is_expected=not parts.found.plan)


def clients_of(parts: Parts, of_plugins: Iterable[ReportedPlugin]) -> Iterator[ReportedClient]:
    """Yield the clients by name, with the statuses of what runs there."""
    statuses: dict[str, dict[str, str]] = {}
    reported: dict[str, str] = {}
    for plugin in of_plugins:
        for row in plugin.status.instances if plugin.status else ():
            statuses.setdefault(row.node_id, {})[f"{row.plugin_id} {row.role}"] = row.status
            if row.zone:
                reported.setdefault(row.node_id, row.zone)
    for node in sorted(parts.found.known_clients, key=lambda item: (item.name, item.node_id)):
        yield ReportedClient(
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


def volumes_of(parts: Parts) -> Iterator[ReportedVolume]:
    """Yield the volumes by namespace and id."""
    statuses = {item.key: item for item in (parts.verified.volumes if parts.verified else ())}
    smoked = {item.key for item in parts.smoke if item.status == "verified"}
    planned = {item.key for item in (parts.found.plan.volumes if parts.found.plan else ())}
    claimed = {item.key: item for item in parts.claims}
    for item in sorted(parts.found.known_volumes, key=lambda item: item.key.partition("/")):
        namespace, _, volume_id = item.key.partition("/")
        status = statuses.get(item.key)
        volume_status: VolumeStatus = status.status if status else _list_findings(item)
        evidence: Evidence = "nomad" if item.is_registered else "-"
        yield ReportedVolume(
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


def _list_findings(item: facts.ExaminedVolume) -> VolumeStatus:
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
