"""The data of a report, the severity of each part, and how it is built from what was read. Pure."""

import dataclasses
import functools
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import pydantic

from nomad_csi import errors
from nomad_csi.diagnosis import claim_status, claims_report, facts, verification_report
from nomad_csi.findings import Finding, errors_of, printing
from nomad_csi.health import plugins
from nomad_csi.nomad import nodes
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


Tier = Literal["nomad", "csi", "smoke", "-"]

EVIDENCE: tuple[tuple[Tier, str], ...] = (
    ("smoke", "volumes"),
    ("csi", "plugin instances"),
    ("nomad", "plugin instances"),
    ("nomad", "volumes"),
    ("-", "plugin instances"),
    ("-", "volumes"),
)
"""Kinds of evidence, from the strongest to none."""


@dataclass(frozen=True, kw_only=True)
class EvidenceCount:
    """How many objects have one kind of evidence."""

    tier: Tier
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
        """The title, or one that names the region or the server; ``global`` is the name of no region in particular."""
        region = "" if self.cluster.region == "global" else self.cluster.region
        return self.title or f"Storage of {region or self.cluster.address.rpartition('://')[2]}"

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
            "claims": [claims_report.volume_as_json(item) for item in self.claims if item.claims],
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
