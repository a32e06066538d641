"""Which versions of Nomad have which faults that storage meets: the codes of the registry with a gate. Pure."""

import functools
from collections.abc import Iterable, Iterator

from nomad_csi.findings import registry
from nomad_csi.findings.registry import Condition, Feature, Gate, Side
from nomad_csi.plan import versions

ERASES_SECRETS = "nomad-erases-secrets"
"""Code of the fault that is met only where volumes have secrets."""


@functools.cache
def gates() -> tuple[tuple[Condition, Gate], ...]:
    """Return the faults, each with its gate."""
    return tuple((item, item.gate) for item in registry.codes().values() if item.gate)


def is_older(version: str, wanted: str) -> bool | None:
    """Return whether *version*, a pre-release as its release, is lower than *wanted*; ``None``: one is no version."""
    found, least = versions.parse(version), versions.parse(wanted)
    return _release(found).compare(least) < 0 if found and least else None


def met(side: Side, version: str, features: Iterable[Feature]) -> Iterator[Condition]:
    """
    Yield the faults that *version* on *side* has and that meet whoever uses *features*.

    A pre-release counts as the release that it precedes; a text that is no version has none.
    """
    found = versions.parse(version)
    if found is None:
        return
    used = frozenset(features)
    for fault, gate in gates():
        if side in gate.sides and gate.features <= used and not _is_fixed(gate, _release(found)):
            yield fault


def _is_fixed(gate: Gate, version: versions.Version) -> bool:
    """Return whether *version* is without the fault of *gate*."""
    known = [found for text in gate.fixed_in if (found := versions.parse(text))]
    if version.compare(known[0]) >= 0:
        return True
    return any(version.segments[:2] == item.segments[:2] and version.compare(item) >= 0 for item in known)


def _release(version: versions.Version) -> versions.Version:
    return versions.Version(segments=version.segments, written=version.written)
