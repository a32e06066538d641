"""
Differences between Nomad versions: known faults for storage (codes with a gate in the registry), and ``releases.yaml``.

And the check of the servers' version against the minimum of this package and of the drivers in a plan.
"""

import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import resources

from nomad_csi import errors, findings
from nomad_csi.findings import registry
from nomad_csi.findings.registry import Condition, Feature, Gate, Side
from nomad_csi.nomad import nodes, request
from nomad_csi.plan import versions
from nomad_csi.spec import yaml_text


@dataclass(frozen=True, kw_only=True)
class Releases:
    """The table of releases, ``releases.yaml``."""

    oldest: str
    """Oldest supported version; older ones are refused."""

    tried: tuple[str, ...]
    pulumi: str
    """The oldest tested Pulumi CLI."""


@functools.cache
def releases() -> Releases:
    """Return the table."""
    table = yaml_text.load(resources.files(__package__).joinpath("releases.yaml").read_text(encoding="utf-8"))
    return Releases(oldest=table["oldest"], tried=tuple(table["tried"]), pulumi=table["pulumi"])


@functools.cache
def gates() -> tuple[tuple[Condition, Gate], ...]:
    """Return the faults, each with its gate."""
    return tuple((item, item.gate) for item in registry.codes().values() if item.gate)


def is_older(version: str, wanted: str) -> bool | None:
    """Return whether *version* is lower than *wanted*; a pre-release counts as its release; ``None``: no version."""
    parsed, least = versions.parse(version), versions.parse(wanted)
    return release(parsed) < least if parsed and least else None


def met(side: Side, version: str, features: Iterable[Feature]) -> Iterator[Condition]:
    """
    Yield the faults of *version* on *side* that affect users of *features*.

    A pre-release counts as the release that it precedes; an invalid version has none.
    """
    parsed = versions.parse(version)
    if parsed is None:
        return
    used = frozenset(features)
    for fault, gate in gates():
        if side in gate.sides and gate.features <= used and not is_since(gate.fixed_in, release(parsed)):
            yield fault


def is_since(since: Iterable[str], version: versions.Version) -> bool:
    """Return whether *version* is as new as the first one of its release line, or of the newest line."""
    known = [parsed for text in since if (parsed := versions.parse(text))]
    if version >= known[0]:
        return True
    return any(version.segments[:2] == item.segments[:2] and version >= item for item in known)


def release(version: versions.Version) -> versions.Version:
    """Return *version*, or the release that it precedes."""
    return versions.Version(segments=version.segments, written=version.written)


# The servers of a cluster. One request at most.


def refuse_older(nomad: request.Nomad, minimum: Mapping[str, str]) -> None:
    """
    Raise `errors.RefusedError` where a server is older than the *minimum* version of a subject, or unsupported.

    Raises `errors.NomadApiError` where Nomad does not respond, or the token may not see the servers.
    """
    oldest = releases().oldest
    servers = [item for item in nodes.list_servers(nomad) if item.status != "left"]

    def older(version: str) -> str:
        return ", ".join(f"{item.name} with {item.version}" for item in servers if is_older(item.version, version))

    bad = [
        findings.finding(code, subject, expected=f"Nomad {version} or later on the servers", found=old)
        for code, subject, version in (
            ("nomad-unsupported", "servers", oldest),
            *(("nomad-too-old-for-driver", subject, version) for subject, version in minimum.items()),
        )
        if (old := older(version))
    ]
    if bad:
        raise errors.RefusedError("; ".join([*map(str, bad), "nothing was changed"]))
