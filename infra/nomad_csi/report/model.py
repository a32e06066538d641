"""What a report holds, and how grave each part of it is. Plain data."""

import dataclasses
import functools
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import pydantic

from nomad_csi import errors
from nomad_csi.claims import claim_status, claims_report
from nomad_csi.doctor import model as doctor
from nomad_csi.findings import Finding, errors_of, printing
from nomad_csi.health import plugins
from nomad_csi.nomad.records import nodes
from nomad_csi.plan import registration
from nomad_csi.text import listing
from nomad_csi.verification import report as verify_report

VolumeStatus = Literal["ok", "missing", "differs", "unschedulable"]
Evidence = Literal["smoke", "nomad", "-"]
Kind = Literal["good", "warn", "bad", "unsure"]
"""How grave a word is, for whoever paints it."""

ORDER: tuple[Kind, ...] = ("bad", "unsure", "warn", "good")
"""The gravest first."""

NOT_JUDGED = "not checked"

_Row = TypeVar("_Row")
_Name = TypeVar("_Name")

_GOOD = frozenset({"healthy", "ok", "live", "ready", "verified"})
_WARN = frozenset({"starting", "restarted", "outdated", "draining", "ineligible", "ended", "warning", "unverified"})
_UNSURE = frozenset({NOT_JUDGED, "not verified", "initializing"})


def kind_of(word: str) -> Kind:
    """Return how grave *word* is: a status, the state of a client or of a claim, a severity."""
    if word in _GOOD:
        return "good"
    if word in _UNSURE:
        return "unsure"
    return "warn" if word in _WARN else "bad"


def worst(kinds: Iterable[Kind]) -> Kind:
    """Return the gravest of *kinds*; ``good`` where there is none."""
    return min(kinds, key=ORDER.index, default="good")


def grouped(rows: Iterable[_Row], name_of: Callable[[_Row], _Name]) -> defaultdict[_Name, list[_Row]]:
    """Return *rows* by what *name_of* returns of each; none where a name has none."""
    found: defaultdict[_Name, list[_Row]] = defaultdict(list)
    for row in rows:
        found[name_of(row)].append(row)
    return found


# What `nomad-csi smoke --json` said earlier, read again: only it shows that data goes into a volume and back.


@dataclass(frozen=True, kw_only=True, slots=True)
class SmokeResult(registration.NamedVolume):
    """What became of the test of one volume, and which file says so."""

    status: Literal["verified", "failed", "not verified"]
    verified: tuple[str, ...]
    """What was certain then, one sentence each."""

    not_verified: tuple[str, ...]
    left_behind: tuple[str, ...]
    source: str = ""


@functools.cache
def _reader() -> pydantic.TypeAdapter[SmokeResult]:
    return pydantic.TypeAdapter(SmokeResult)


def read_smoke(text: str, source: str) -> SmokeResult:
    """Return the outcome in *text*, the output of `nomad-csi smoke --json`. Raises `errors.SpecError`."""
    try:
        return dataclasses.replace(_reader().validate_json(text, strict=True), source=source)
    except pydantic.ValidationError:
        allowed = "the output of `nomad-csi smoke NAMESPACE/ID --json`"
        raise errors.SpecError((errors.Problem(path="", got="something else", allowed=allowed),), source) from None


# The report.


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """Which cluster was checked, from where and when."""

    address: str
    """As it was asked. A connection takes no user and password in it."""

    region: str
    """As the servers' names have it; empty: not known."""

    identity: str
    """Id that nomad-csi gave it, from a Nomad variable; empty: it has none, or the token may not read it."""

    servers: tuple[nodes.Server, ...]
    """Empty where they could not be read."""

    asked_at: str
    """When, in UTC, by Nomad's own clock."""

    sandbox: str = ""
    """The mark of the sandbox, whose plugins mount nothing; empty: it is none."""

    @property
    def nomad_versions(self) -> str:
        """Those of its servers."""
        return ", ".join(sorted({server.version for server in self.servers}))


@dataclass(frozen=True, kw_only=True, slots=True)
class ReportedClient:
    """One Nomad client."""

    node_id: str
    name: str
    zone: str
    """As its plugin instances report it, else as Nomad's fingerprint found it; empty: neither knows."""

    datacenter: str
    node_pool: str
    state: str
    """``ready``, ``draining``, ``ineligible``, or Nomad's status where that is not ``ready``, such as ``down``."""

    version: str
    """Of its Nomad."""

    statuses: Mapping[str, str]
    """Status of its instances by plugin id and role: ``{"aws-ebs0 node": "healthy"}``."""

    @property
    def state_kind(self) -> Kind:
        """How grave its own state is."""
        return kind_of(self.state)

    @property
    def kind(self) -> Kind:
        """How grave the worst is of its state and of all instances on it."""
        return worst(map(kind_of, (self.state, *self.statuses.values())))

    @property
    def remark(self) -> str:
        """What is not well on it, its own state apart: ``aws-ebs0 node: hung``."""
        return "; ".join(f"{name}: {word}" for name, word in self.statuses.items() if kind_of(word) != "good")


@dataclass(frozen=True, kw_only=True)
class ReportedPlugin:
    """One plugin."""

    plugin_id: str
    status: plugins.PluginStatus | None
    """``None``: it could not be judged, and `ClusterReport.unchecked` says why."""

    is_expected: bool
    """Whether the spec has it; without a spec, true: what runs is compared with what its own jobs ask for."""

    @property
    def word(self) -> str:
        """Its status."""
        return self.status.status if self.status else NOT_JUDGED

    @property
    def kind(self) -> Kind:
        """How grave that is: what its policy allows for is a warning."""
        if self.status is None or self.status.status == plugins.HEALTHY:
            return kind_of(self.word)
        return "warn" if self.status.ok else "bad"


@dataclass(frozen=True, kw_only=True, slots=True)
class ReportedVolume(registration.NamedVolume):
    """One volume that is registered, or that the spec has."""

    plugin_id: str
    external_id: str
    """Empty where the storage is still to be made."""

    zones: tuple[str, ...]
    """Where it may be used; empty: anywhere."""

    claims: int
    """How many allocations hold it."""

    status: VolumeStatus
    """``ok``: as the spec has it; without one, registered and schedulable."""

    evidence: Evidence
    is_expected: bool
    """As `ReportedPlugin.is_expected`."""

    @property
    def kind(self) -> Kind:
        """How grave its status is."""
        return kind_of(self.status)


@dataclass(frozen=True, kw_only=True)
class Zone:
    """What is in one zone."""

    name: str
    """Empty: of these clients no zone is known."""

    clients: int
    ready: int
    """Of the clients; the rest is draining, ineligible or not up."""

    plugins: Mapping[str, tuple[int, int]]
    """Healthy and all node instances that must be there, by plugin id."""

    volumes: int
    """Volumes that can be used in this zone and in no other."""

    claimed: int
    wrong_volumes: int


@dataclass(frozen=True, kw_only=True)
class EvidenceCount:
    """How many things one kind of evidence stands behind."""

    tier: Literal["nomad", "csi", "smoke", "-"]
    what: str
    """Such as ``plugin instances``."""

    verified: int
    of: int


@dataclass(frozen=True, kw_only=True)
class ClusterReport:
    """Everything that a report tells."""

    cluster: Cluster
    spec: str
    """File of the spec; empty: what is there was compared with nothing but its own jobs."""

    clients: tuple[ReportedClient, ...]
    plugins: tuple[ReportedPlugin, ...]
    volumes: tuple[ReportedVolume, ...]
    claims: tuple[claim_status.VolumeClaims, ...]
    claims_unread: int
    """Claimed volumes whose holders were not read, to keep the number of calls bounded."""

    asked_ec2: bool
    findings: tuple[Finding, ...]
    """Errors first; then by the command that reports them by itself, `Finding.found_by`, as that found them."""

    unchecked: tuple[doctor.Unchecked, ...]
    smoke: tuple[SmokeResult, ...]
    zones: tuple[Zone, ...]
    evidence: tuple[EvidenceCount, ...]

    @property
    def errors(self) -> int:
        """How many findings are errors."""
        return len(errors_of(self.findings))

    @property
    def warnings(self) -> int:
        """How many findings are warnings."""
        return len(self.findings) - self.errors

    @property
    def unexpected(self) -> tuple[doctor.Unchecked, ...]:
        """What failed to be checked."""
        return tuple(item for item in self.unchecked if not item.is_expected)

    @property
    def left_out(self) -> tuple[doctor.Unchecked, ...]:
        """What was not to be asked, or can be seen from nowhere."""
        return tuple(item for item in self.unchecked if item.is_expected)

    @property
    def status(self) -> tuple[str, Kind]:
        """The whole in a few words, and how grave it is."""
        if self.errors:
            return listing.grouped(self.errors, "error"), "bad"
        if self.unexpected:
            return "not everything could be checked", "unsure"
        if self.warnings:
            return f"no errors, {listing.grouped(self.warnings, 'warning')}", "warn"
        return "no errors", "good"

    def as_json(self) -> dict[str, Any]:
        """
        Return the report as JSON values. Keys are kept once released.

        ``{"ok", "cluster", "spec", "totals", "zones", "evidence", "clients", "plugins", "volumes", "claims",
        "claims_unread", "findings", "not_checked", "smoke"}``. ``cluster`` has ``address``, ``region``, ``identity``,
        ``servers``, ``asked_at`` (UTC) and ``sandbox``. ``plugins`` are those of `nomad-csi verify --json` with
        ``is_expected``, of one that could not be judged ``plugin_id`` and ``status`` ``"not checked"`` alone;
        ``claims`` are the volumes of `nomad-csi claims --json`. What is not known is an empty text.
        """
        claims = claims_report.ClaimsReport(volumes=self.claims, asked_ec2=self.asked_ec2).as_json()
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
    return verify_report.plugin_as_json(plugin.status) | {"is_expected": plugin.is_expected}
