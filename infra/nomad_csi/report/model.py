"""What a report holds. Plain data."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from nomad_csi.claims import claim_model
from nomad_csi.doctor import model as doctor
from nomad_csi.findings import Finding, errors_of
from nomad_csi.health import plugins
from nomad_csi.nomad.records import nodes
from nomad_csi.plan import registration
from nomad_csi.report.smoke_results import SmokeResult

VolumeStatus = Literal["ok", "missing", "differs", "unschedulable"]
Evidence = Literal["smoke", "nomad", "-"]


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

    asked_ns: int
    """When, in nanoseconds since 1970, by Nomad's own clock."""

    sandbox: str = ""
    """The mark of the sandbox, whose plugins mount nothing; empty: it is none."""


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


@dataclass(frozen=True, kw_only=True)
class ReportedPlugin:
    """One plugin."""

    plugin_id: str
    status: plugins.PluginStatus | None
    """``None``: it could not be judged, and `ClusterReport.unchecked` says why."""

    is_expected: bool
    """Whether the spec has it; without a spec, true: what runs is compared with what its own jobs ask for."""


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
    claims: tuple[claim_model.VolumeClaims, ...]
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
