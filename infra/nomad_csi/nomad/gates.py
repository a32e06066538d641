"""
Which versions of Nomad have which faults that storage meets: dated data, and how a version is judged. Pure.

Source: hashicorp/nomad, CHANGELOG.md and CHANGELOG-unsupported.md of 2026-08-21; the number is that of the issue or
pull request there.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from nomad_csi.plan import versions

Severity = Literal["error", "warning"]
Side = Literal["servers", "clients"]
Feature = Literal["controller", "create", "namespaces", "secrets", "topologies"]

AS_OF = "2026-08-21"


@dataclass(frozen=True, kw_only=True)
class Gate:
    """A fault, and the versions that are without it."""

    code: str
    """Kept once released."""

    severity: Severity
    sides: tuple[Side, ...]
    """Whose version counts."""

    fixed_in: tuple[str, ...]
    """First version without it, of each release line that got the change."""

    issue: int
    """Number in hashicorp/nomad."""

    happens: str
    """What happens below, as sentences."""

    features: frozenset[Feature] = frozenset()
    """It is met only where all of these are used."""

    @property
    def fix(self) -> str:
        """What to do, as an imperative phrase."""
        return f"upgrade Nomad's {' and '.join(self.sides)} to {' or '.join(self.fixed_in)}, or later"

    @property
    def source(self) -> str:
        """Where it is known from."""
        return f"https://github.com/hashicorp/nomad/issues/{self.issue}, in Nomad's changelog of {AS_OF}"

    def is_fixed_in(self, version: versions.Version) -> bool:
        """Return whether *version* is without the fault."""
        known = [found for text in self.fixed_in if (found := versions.parse(text))]
        newest = known[0]
        if version.compare(newest) >= 0:
            return True
        return any(version.segments[:2] == item.segments[:2] and version.compare(item) >= 0 for item in known)


GATES = (
    Gate(
        code="nomad-before-topologies",
        severity="error",
        sides=("servers", "clients"),
        fixed_in=("1.3.0",),
        issue=12129,
        happens="Nomad knows no topologies: a volume may be given to a client in a zone where it cannot be attached. "
        "Plugins get no CSI_ENDPOINT (12050), volumes cannot be registered again (12167), and a drain stops the "
        "plugin before the tasks that use it (12324).",
    ),
    Gate(
        code="nomad-controller-race",
        severity="error",
        sides=("servers",),
        fixed_in=("1.6.1", "1.5.8", "1.4.12"),
        issue=17996,
        happens="Nomad sends a plugin's controllers several requests at the same time, unhealthy ones too: two volumes "
        "are attached under one device name, and one of them fails.",
        features=frozenset({"controller"}),
    ),
    Gate(
        code="nomad-cannot-expand",
        severity="warning",
        sides=("servers", "clients"),
        fixed_in=("1.6.3",),
        issue=18359,
        happens="Nomad cannot have a plugin grow a volume: a larger capacity_min is recorded, and nothing grows.",
        features=frozenset({"create"}),
    ),
    Gate(
        code="nomad-same-id-in-namespaces",
        severity="error",
        sides=("clients",),
        fixed_in=("1.8.0", "1.7.8", "1.6.11"),
        issue=20532,
        happens="Volumes of the same id in two namespaces cannot be staged on one client.",
        features=frozenset({"namespaces"}),
    ),
    Gate(
        code="nomad-unstage-race",
        severity="error",
        sides=("clients",),
        fixed_in=("1.8.0", "1.7.8", "1.6.11"),
        issue=20550,
        happens="While one allocation lets a volume go and another one takes it on the same client, the volume may be "
        "unstaged under the second.",
    ),
    Gate(
        code="nomad-plugin-stays",
        severity="warning",
        sides=("servers",),
        fixed_in=("1.8.0", "1.7.8", "1.6.11"),
        issue=20555,
        happens="A plugin whose job changed its plugin id is never forgotten, and counts as unhealthy.",
    ),
    Gate(
        code="nomad-create-in-any-namespace",
        severity="warning",
        sides=("servers",),
        fixed_in=("1.9.2", "1.8.7", "1.7.15"),
        issue=24396,
        happens="Whoever may write volumes in one namespace can make volumes in every other one (CVE-2024-10975).",
        features=frozenset({"create"}),
    ),
    Gate(
        code="nomad-wants-equal-topologies",
        severity="error",
        sides=("servers",),
        fixed_in=("1.9.4", "1.8.8", "1.7.16"),
        issue=24522,
        happens="A volume is placed only where its topology equals the client's, segment for segment. A driver that "
        "reports several segments, such as that of EBS since v1.28.0, has volumes that fit no client.",
        features=frozenset({"topologies"}),
    ),
    Gate(
        code="nomad-erases-context",
        severity="error",
        sides=("servers",),
        fixed_in=("1.9.6", "1.8.10", "1.7.18"),
        issue=24922,
        happens="When a volume that a plugin made is registered again, the context that the plugin gave it is erased, "
        "and the volume may not mount any more.",
        features=frozenset({"create"}),
    ),
    Gate(
        code="nomad-plugin-stays-dead",
        severity="warning",
        sides=("clients",),
        fixed_in=("1.9.7", "1.8.11", "1.7.19"),
        issue=25307,
        happens="A plugin that is not healthy within its first health_timeout is killed and not started again; of a "
        "system job, it stays dead.",
    ),
    Gate(
        code="nomad-expands-elsewhere",
        severity="warning",
        sides=("clients",),
        fixed_in=("1.10.0", "1.9.8", "1.8.12"),
        issue=25253,
        happens="When a volume grows, its node plugin is told a staging path without the namespace: the file system "
        "does not grow with it.",
        features=frozenset({"create"}),
    ),
    Gate(
        code="nomad-claims-of-forgotten-clients",
        severity="warning",
        sides=("servers",),
        fixed_in=("1.10.0", "1.9.8", "1.8.12"),
        issue=25428,
        happens="Claims of clients that Nomad has forgotten are not freed: the leader fails at them again and again.",
    ),
    Gate(
        code="nomad-answers-empty",
        severity="warning",
        sides=("servers",),
        fixed_in=("1.10.5",),
        issue=26642,
        happens="The server answers a registration with an empty body. nomad-csi takes that; the nomad command from "
        "1.10.4 on, and the Terraform provider, report EOF for a registration that was done.",
    ),
    Gate(
        code="nomad-unmounts-in-use",
        severity="error",
        sides=("clients",),
        fixed_in=("1.11.0", "1.10.6", "1.8.18"),
        issue=26831,
        happens="A volume can be unmounted while a task that is shutting down still writes to it; and several calls "
        "for one volume reach the node plugin at the same time (26832).",
    ),
    Gate(
        code="nomad-erases-secrets",
        severity="error",
        sides=("servers",),
        fixed_in=("1.11.1", "1.10.7", "1.8.19"),
        issue=27176,
        happens="Reading a volume, or the event stream, can erase the secrets that are stored with it: its next mount "
        "fails.",
        features=frozenset({"secrets"}),
    ),
    Gate(
        code="nomad-job-index-race",
        severity="warning",
        sides=("servers",),
        fixed_in=("2.0.1", "1.11.5", "1.10.11"),
        issue=27832,
        happens="Two who register the same job at the same time can both succeed although each named the index that "
        "it had seen: the plugin job of the first is overwritten in silence.",
    ),
    Gate(
        code="nomad-jobs-stay-blocked",
        severity="warning",
        sides=("servers",),
        fixed_in=("2.0.5", "1.11.9", "1.10.15"),
        issue=28275,
        happens="A job that was started before its volume was registered waits forever, also after the registration.",
    ),
)


def is_older(version: str, wanted: str) -> bool | None:
    """Return whether *version*, a pre-release as its release, is lower than *wanted*; ``None``: one is no version."""
    found, least = versions.parse(version), versions.parse(wanted)
    return _release(found).compare(least) < 0 if found and least else None


def met(side: Side, version: str, features: Iterable[Feature]) -> Iterator[Gate]:
    """
    Yield the faults that *version* on *side* has and that meet whoever uses *features*.

    A pre-release counts as the release that it precedes; a text that is no version has none.
    """
    found = versions.parse(version)
    if found is None:
        return
    used = frozenset(features)
    for gate in GATES:
        if side in gate.sides and gate.features <= used and not gate.is_fixed_in(_release(found)):
            yield gate


def _release(version: versions.Version) -> versions.Version:
    return versions.Version(segments=version.segments, written=version.written)
