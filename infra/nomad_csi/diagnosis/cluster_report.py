"""
A report on a cluster: the facts of all commands, what all rules find, and the sections of the page.

The number of requests does not grow with clients. It grows with the volumes of a spec, each of which is compared, and
with claimed volumes up to a limit. What cannot be read is reported, and does not prevent the rest of the report.
"""

import dataclasses
import functools
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeVar

import pydantic

from nomad_csi import errors, nomad
from nomad_csi.aws import records as aws_records
from nomad_csi.aws import regions
from nomad_csi.diagnosis import (
    claim_status,
    claims_report,
    facts,
    judge,
    read_account,
    read_claims,
    verification,
    verification_report,
)
from nomad_csi.findings import Finding, causes, errors_of, finding, printing, registry
from nomad_csi.health import eligibility, observation, plugins
from nomad_csi.nomad import cluster_identity, jobs, nodes
from nomad_csi.nomad import plugins as plugin_records
from nomad_csi.nomad import volumes as nomad_volumes
from nomad_csi.plan import model as plans
from nomad_csi.plan import registration

CLAIMED_MAX = 500
"""Limit of claimed volumes that are read for their claims: the list of volumes has counts, but no allocations."""

_COMMANDS = ("verify", "claims", "doctor")
"""Whose rules are applied, in the order in which the report has their findings."""


NOT_CHECKED = "not checked"
"""Status of a plugin whose health, or a volume of the spec whose registration, could not be determined."""

EVIDENCE = (
    ("smoke", "volumes"),
    ("csi", "plugin instances"),
    ("nomad", "plugin instances"),
    ("nomad", "volumes"),
    ("-", "plugin instances"),
    ("-", "volumes"),
)
"""Kinds of evidence, and of what, from the strongest to none."""

_Item = TypeVar("_Item")
_Name = TypeVar("_Name")

Row = dict[str, Any]
"""One object of a section, with the keys of the JSON report."""


# The output of an earlier `nomad-csi smoke --json`, parsed: the only evidence that data can be written and read back.


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
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


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """The options of a report."""

    plan: plans.StoragePlan | None = None
    """The desired state; ``None``: plugins are compared with their own jobs."""

    spec: str = ""
    """The file that *plan* was read from."""

    external_ids: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """External ids of storage that the plan creates, by ``namespace/volume_id``."""

    aws: regions.Choice = regions.LEFT_OUT
    """The region in which AWS is queried."""

    claimed_max: int = CLAIMED_MAX
    smoke: tuple[SmokeResult, ...] = ()
    sandbox: str = ""
    title: str = ""


class ReportFacts(read_account.AccountFacts):
    """The facts of a cluster, with the health of its plugins, and its claims."""

    def __init__(self, client: nomad.Nomad, options: ReportOptions) -> None:
        super().__init__(client, options.plan, options.external_ids, aws=options.aws)
        self._claimed_max = options.claimed_max

    @facts.part
    def identity(self) -> str:
        """Id of the cluster; empty if it has none."""
        return cluster_identity.cluster_id(self.client)

    @facts.part
    def observed(self) -> tuple[observation.Observation, ...]:
        """The plugins of the plan, and those that run beside it, which are compared with their own jobs."""
        planned = {item.plugin_id for item in self.planned_plugins}
        others = [self._watched(item) for key, item in facts.known_or(self.plugins, {}).items() if key not in planned]
        wanted = [*verification.watched(self.plan), *others]
        return observation.Observer(self.client, wanted, client_cache=self.cache).observe()

    def _watched(self, plugin: plugin_records.Plugin) -> observation.WatchedPlugin:
        tasks = [task for task in facts.known_or(self.tasks, ()) if task.plugin_id == plugin.plugin_id]
        expectation = expectation_of(plugin, tasks)
        is_one_namespace = {namespace for namespace, _ in plugin.jobs} == {expectation.namespace}
        own = sorted(job_id for _, job_id in plugin.jobs) if is_one_namespace else ()  # else any job's instances count
        return observation.WatchedPlugin(expectation=expectation, job_ids=tuple(own))

    @property
    def claimed_keys(self) -> list[tuple[str, str]]:
        """Namespace and id of the claimed volumes."""
        return [facts.split_key(item.key) for item in facts.known_or(self.volumes, ()) if item.claims]

    @facts.part
    def claims_read(self) -> nomad_volumes.Read:
        """The claimed volumes with their claims, up to the limit."""
        return nomad_volumes.read_each(self.client, self.claimed_keys[: self._claimed_max])

    @facts.part
    def attachments(self) -> aws_records.ObservedAttachments | None:
        """Where EC2 has the claimed volumes attached."""
        if not isinstance(self.account, facts.Account):
            return None
        claimed, clients = facts.value(self.claimed), facts.value(self.clients)
        return read_claims.read_attachments(claimed, clients, self.account.region)


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


# The report.


@dataclasses.dataclass(frozen=True, kw_only=True)
class ClusterReport:
    """The whole report. Its page shows the same data."""

    data: Mapping[str, Any]
    """
    The report as JSON values. Keys stay stable once released.

    ``{"ok", "cluster", "spec", "totals", "zones", "evidence", "clients", "plugins", "volumes", "claims",
    "claims_unread", "findings", "not_checked", "smoke"}``. ``cluster`` has ``address``, ``region`` (from the servers'
    names), ``identity`` (the id that nomad-csi gave it), ``servers``, ``asked_at`` (UTC, by Nomad's own clock) and
    ``sandbox``. ``plugins`` are those of `nomad-csi verify --json` with ``is_expected``; a plugin whose status could
    not be determined has only ``plugin_id`` and ``status`` ``"not checked"``. ``claims`` are the volumes of `nomad-csi
    claims --json`; those of ``claims_unread`` more were not read. Of ``totals``, a number is null
    where Nomad's list could not be read. Another unknown value is an empty string.
    """

    findings: tuple[Finding, ...]
    """Errors first; then by the command that reports them, `Finding.found_by`, in its order."""

    title: str = ""
    """What the cluster is called; empty: its region, or its address."""

    @property
    def errors(self) -> int:
        """Number of findings of severity error."""
        return len(errors_of(self.findings))

    @property
    def unexpected(self) -> list[Mapping[str, Any]]:
        """Failed checks."""
        return [item for item in self.data["not_checked"] if not item["is_expected"]]


def build_report(client: nomad.Nomad, question: ReportOptions) -> ClusterReport:
    """
    Read the cluster and return the report.

    Raises `errors.NomadApiError` if Nomad does not answer at all.
    """
    cluster = ReportFacts(client, question)
    facts.read_lists(cluster)
    outcomes = judge.outcomes(cluster, *_COMMANDS)
    planned = {f"volume {item.key}" for item in cluster.planned_volumes} if cluster.plan else None
    named = (_named(item, planned) for item in outcomes if isinstance(item, Finding))
    findings = causes.assign(sorted((*named, *_smoke_findings(question.smoke)), key=_rank))
    unchecked = [item for item in outcomes if isinstance(item, facts.Unchecked)]
    if isinstance(cluster.identity, facts.Unknown):
        unchecked.append(facts.Unchecked(check="the cluster's identity", reason=cluster.identity.reason))
    claims = facts.known_or(cluster.claims, ())
    of_plugins = list(_plugins(cluster))
    clients = list(_clients(cluster, of_plugins))
    volumes = list(_volumes(cluster, findings, {item.key: item for item in claims}, question.smoke))
    wrong = len(errors_of(findings))
    data = {
        "ok": not wrong and all(item.is_expected for item in unchecked),
        "cluster": _cluster(cluster, question.sandbox),
        "spec": question.spec,
        "totals": {
            "clients": _unless_unread(cluster.clients, len(clients)),
            "plugins": _unless_unread(cluster.plugins, len(of_plugins)),
            "volumes": _unless_unread(cluster.listed, len(volumes)),
            "claims": _unless_unread(cluster.listed, sum(volume["claims"] for volume in volumes)),
            "errors": wrong,
            "warnings": len(findings) - wrong,
        },
        "zones": list(_zones(clients, of_plugins, volumes)),
        "evidence": list(_evidence(of_plugins, volumes)),
        "clients": clients,
        "plugins": of_plugins,
        "volumes": volumes,
        "claims": [claims_report.volume_as_json(item) for item in claims],
        "claims_unread": len(cluster.claimed_keys) - len(claims),
        "findings": printing.as_json(findings, printing.REPORTED),
        "not_checked": [dataclasses.asdict(item) for item in unchecked],
        "smoke": [dataclasses.asdict(item) for item in question.smoke],
    }
    return ClusterReport(data=data, findings=findings, title=question.title)


def _unless_unread(read: object, count: int) -> int | None:
    return None if isinstance(read, facts.Unknown) else count


def _named(item: Finding, planned: Collection[str] | None) -> Finding:
    """
    Return the finding with the command that reports it; `verify` reports those on volumes of the spec only.

    *planned*: their subjects; ``None``: there is no spec.
    """
    is_outside = planned is None or (item.subject.startswith("volume ") and item.subject not in planned)
    commands = [name for name in _COMMANDS if name in registry.codes()[item.code].commands]
    return dataclasses.replace(item, found_by=commands[-1 if is_outside else 0])


def _rank(item: Finding) -> tuple[bool, int]:
    """Return the sort key of a finding: errors first, then by the command."""
    return item.severity == "warning", (*_COMMANDS, "smoke").index(item.found_by)


def _smoke_findings(smoke: Iterable[SmokeResult]) -> Iterator[Finding]:
    for item in smoke:
        if item.status == "failed":
            failed = finding(
                "smoke-failed",
                f"volume {item.key}",
                expected="data that is written, and read back by another job",
                found="; ".join(item.not_verified) or "neither",
                advice=f"see {item.source}, and run `nomad-csi smoke {item.key}` again",
            )
            yield dataclasses.replace(failed, found_by="smoke")


def _cluster(cluster: ReportFacts, sandbox: str) -> Row:
    servers = facts.known_or(cluster.servers, ())
    of_servers = {server.name.rpartition(".")[2] for server in servers if "." in server.name}
    connection = cluster.client.connection
    return {
        "address": connection.address,
        "region": connection.region or (of_servers.pop() if len(of_servers) == 1 else ""),
        "identity": facts.known_or(cluster.identity, ""),
        "servers": [dataclasses.asdict(server) for server in servers],
        "asked_at": claims_report.time_text(cluster.now_ns / 1e9),
        "sandbox": sandbox,
    }


# The sections of the report. They include objects of the spec and objects that are only in the cluster.


def _plugins(cluster: facts.Facts) -> Iterator[Row]:
    """Yield plugins of the spec, then others, each by id."""
    by_id = {item.plugin_id: item for item in facts.known_or(cluster.statuses, ())}
    planned = {item.plugin_id for item in cluster.planned_plugins}
    for plugin_id in (*sorted(planned), *sorted(facts.known_or(cluster.plugins, {}).keys() - planned)):
        status = by_id.get(plugin_id)
        row = verification_report.plugin_as_json(status) if status else {"plugin_id": plugin_id, "status": NOT_CHECKED}
        yield row | {"is_expected": plugin_id in planned or not cluster.plan}


def _clients(cluster: facts.Facts, of_plugins: Iterable[Row]) -> Iterator[Row]:
    """Yield the clients by name, with the statuses of what runs there."""
    statuses: dict[str, dict[str, str]] = {}
    reported: dict[str, str] = {}
    for plugin in of_plugins:
        for row in plugin.get("instances", ()):
            statuses.setdefault(row["node_id"], {})[f"{plugin['plugin_id']} {row['role']}"] = row["status"]
            if row["zone"]:
                reported.setdefault(row["node_id"], row["zone"])
    for node in sorted(facts.known_or(cluster.clients, ()), key=lambda item: (item.name, item.node_id)):
        yield {
            "node_id": node.node_id,
            "name": node.name,
            "zone": reported.get(node.node_id) or eligibility.zone_of_client(node),
            "datacenter": node.datacenter,
            "node_pool": node.node_pool,
            "state": _state(node),
            "version": node.version,
            "statuses": statuses.get(node.node_id, {}),
        }


def _state(node: nodes.Node) -> str:
    if node.status != "ready":
        return node.status
    if node.draining:
        return "draining"
    return "ready" if node.eligible else "ineligible"


def _volumes(
    cluster: facts.Facts,
    findings: Iterable[Finding],
    claims: Mapping[str, claim_status.VolumeClaims],
    smoke: Iterable[SmokeResult],
) -> Iterator[Row]:
    """Yield the volumes by namespace and id: ``ok`` if it matches the spec; without one, if it can be scheduled."""
    is_unread = isinstance(cluster.registered, facts.Unknown)
    compared = () if is_unread else verification_report.volume_statuses(cluster, findings)
    statuses = {item.key: item.status for item in compared}
    smoked = {item.key for item in smoke if item.status == "verified"}
    planned = {item.key for item in cluster.planned_volumes}
    for item in sorted(facts.known_or(cluster.volumes, ()), key=lambda item: facts.split_key(item.key)):
        namespace, volume_id = facts.split_key(item.key)
        by_list = "ok" if item.schedulable else "unschedulable"
        if item.key in planned and is_unread:
            by_list = NOT_CHECKED
        evidence = "smoke" if item.key in smoked else "nomad"
        yield {
            "namespace": namespace,
            "volume_id": volume_id,
            "plugin_id": item.plugin_id,
            "external_id": item.external_id,
            "zones": sorted({eligibility.zone_of_segments(each) for each in item.segments} - {""}),
            "claims": item.claims,
            "size_bytes": _size_bytes(cluster, item, claims.get(item.key)),
            "attached": _attached(claims.get(item.key)),
            "status": statuses.get(item.key, by_list if item.is_registered else "missing"),
            "evidence": evidence if item.is_registered else "-",
            "is_expected": not cluster.plan or item.key in planned,
        }


def _size_bytes(cluster: facts.Facts, item: facts.ExaminedVolume, claimed: claim_status.VolumeClaims | None) -> int:
    """Return the size by EC2, else by its plugin, else as the spec asks for; 0: not known."""
    in_ec2 = cluster.account.volumes if isinstance(cluster.account, facts.Account) else {}
    ebs = facts.known_or(in_ec2, {}).get(item.external_id)
    if ebs is not None:
        return ebs.size_gib * 2**30
    return (claimed.volume.capacity_bytes if claimed else 0) or item.size_bytes


def _attached(claimed: claim_status.VolumeClaims | None) -> list[str]:
    """Return the EC2 instances that have it attached, if EC2 was asked; else the clients of its claims."""
    if claimed is None:
        return []
    if claimed.ebs is not None:
        return [item.instance_id for item in claimed.ebs.attachments]
    return sorted({each.claim.node_name or each.claim.node_id for each in claimed.claims} - {""})


# Counts by zone, and by kind of evidence.


def grouped(rows: Iterable[_Item], name_of: Callable[[_Item], _Name]) -> defaultdict[_Name, list[_Item]]:
    """Return *rows* by the name that *name_of* returns for each."""
    groups: defaultdict[_Name, list[_Item]] = defaultdict(list)
    for row in rows:
        groups[name_of(row)].append(row)
    return groups


def _zones(clients: Sequence[Row], of_plugins: Sequence[Row], volumes: Iterable[Row]) -> Iterator[Row]:
    """Yield all zones that have a client or a volume of that zone only, by name; clients of unknown zone come last."""
    zone_of = {client["node_id"]: client["zone"] for client in clients}
    healthy: Counter[tuple[str, str]] = Counter()
    wanted: Counter[tuple[str, str]] = Counter()
    for plugin in of_plugins:
        for row in plugin.get("instances", ()):
            if row["role"] == "node" and not row["extra"]:
                where = (plugin["plugin_id"], row["zone"] or zone_of.get(row["node_id"], ""))
                wanted[where] += 1
                healthy[where] += row["status"] == plugins.HEALTHY
    here = grouped(clients, lambda client: client["zone"])
    bound = grouped((item for item in volumes if len(item["zones"]) == 1), lambda item: item["zones"][0])
    for name in sorted({*here, *bound, *(zone for _, zone in wanted)}, key=lambda name: (not name, name)):
        ids = [plugin["plugin_id"] for plugin in of_plugins]
        yield {
            "name": name,
            "clients": len(here[name]),
            "ready": sum(client["state"] == "ready" for client in here[name]),
            "plugins": {each: {"healthy": healthy[each, name], "expected": wanted[each, name]} for each in ids},
            "volumes": len(bound[name]),
            "claimed": sum(volume["claims"] > 0 for volume in bound[name]),
            "wrong_volumes": sum(volume["status"] != "ok" for volume in bound[name]),
        }


def _evidence(of_plugins: Iterable[Row], volumes: Iterable[Row]) -> Iterator[Row]:
    """Yield the counts of each kind of evidence, from the strongest to none."""
    rows = [row for plugin in of_plugins for row in plugin.get("instances", ())]
    counted = {
        "plugin instances": Counter(row["evidence"] if row["status"] == plugins.HEALTHY else "-" for row in rows),
        "volumes": Counter(volume["evidence"] for volume in volumes),
    }
    for tier, what in EVIDENCE:
        verified, total = counted[what][tier], counted[what].total()
        if total and (verified or tier != "-"):
            yield {"tier": tier, "what": what, "verified": verified, "of": total}
