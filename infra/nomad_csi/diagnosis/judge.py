"""All rules on the facts of a cluster, in the order of the documentation. Pure."""

from collections.abc import Iterator

from nomad_csi.diagnosis import facts
from nomad_csi.diagnosis.rules import clients, frame, machines, registrations, storage, token, topology, versions

_ORDER = [each.__name__ for each in (versions, clients, token, registrations, topology, machines, storage)]
RULES = tuple(sorted(frame.RULES, key=lambda item: _ORDER.index(item.find.__module__)))


def outcomes(found: facts.ObservedCluster) -> Iterator[facts.Outcome]:
    """Yield what the rules find, and what could not be checked."""
    for item in RULES:
        yield from frame.outcomes(item, found)
    for job, reason in sorted(found.hidden_jobs.items()):
        yield facts.Unchecked(check=f"how plugins are run by job {job}", reason=reason)
