"""Failures of an instance, the most severe first, each with its evidence."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from nomad_csi.health import eligibility, events, found
from nomad_csi.nomad.records import nodes, plugins
from nomad_csi.plan import model
from nomad_csi.text import foreign

_SILENCE = re.compile(r"deadline ?exceeded", re.IGNORECASE)
"""Nomad's description of an instance that timed out: the message of gRPC or Go."""

_PROBE_CODES = {
    "silent": "instance-hung",
    "wrong-name": "provider-differs",
    "wrong-role": "instance-capability-missing",
}
"""Probe status -> code of the finding; the others are ``csi-failed``."""


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """One failure."""

    code: str = ""
    """Code of the finding; empty: nothing is wrong."""

    detail: str = ""
    evidence: Literal["nomad", "csi"] = "nomad"


@dataclass(frozen=True, kw_only=True)
class Subject:
    """An instance and its context."""

    expectation: model.PluginExpectation
    instance: plugins.Instance
    client: nodes.Node | None
    csi: found.Probed
    ran: found.Ran | None
    """Its allocation; ``None`` if it belongs to no job of the plan."""

    rival: found.Ran | None = None
    """The allocation of the plan's job that should be the instance on this client, if another one is listed."""

    before: found.Ran | None = None
    """Its allocation at an earlier check."""

    is_foreign: bool = False
    """Whether the allocations of the plan's jobs are known, and its own is none of them."""

    now_ns: int


def find_cause(subject: Subject) -> Trouble:
    """Return the most severe failure of an instance; one without a code if there is none."""
    return next(_all(subject), Trouble(evidence="csi" if subject.csi.healthy else "nomad"))


def _all(subject: Subject) -> Iterator[Trouble]:
    yield from _identity(subject)
    yield from _nomad_health(subject)
    yield from _csi_health(subject)
    yield from _task(subject)
    yield from _job(subject)
    yield from _fitness(subject)


def _identity(subject: Subject) -> Iterator[Trouble]:
    wanted, reported = subject.expectation.provider, subject.csi.provider or subject.instance.provider
    if reported and reported != wanted:
        by: Literal["nomad", "csi"] = "csi" if subject.csi.provider else "nomad"
        yield Trouble(code="provider-differs", detail=f"it reports {foreign.clean(reported)}", evidence=by)
    if subject.rival is not None:
        other = subject.rival.allocation.alloc_id[:8]
        detail = f"job {subject.rival.job_id} runs another instance there (allocation {other}); Nomad lists only one"
        yield Trouble(code="instance-duplicate", detail=detail)


def _nomad_health(subject: Subject) -> Iterator[Trouble]:
    instance = subject.instance
    if instance.healthy:
        return
    if subject.ran and (falls := events.flapping(subject.ran.allocation, subject.now_ns)):
        yield Trouble(code="instance-flapping", detail=falls)
    # Nomad probes every 30 s: it reports a recovery up to 35 s later.
    late = "; the instance itself reports healthy" if subject.csi.healthy else ""
    description = foreign.clean(instance.health_description) or "unhealthy"
    hung = _SILENCE.search(description) is not None and not subject.csi.healthy
    yield Trouble(code="instance-hung" if hung else "instance-unhealthy", detail=f"Nomad reports: {description}{late}")


def _csi_health(subject: Subject) -> Iterator[Trouble]:
    if subject.csi.reached and not subject.csi.healthy:
        detail = f"its own answer: {foreign.clean(subject.csi.detail) or 'not ready'}"
        yield Trouble(code=_PROBE_CODES.get(subject.csi.status, "csi-failed"), detail=detail, evidence="csi")


def _task(subject: Subject) -> Iterator[Trouble]:
    if subject.ran is None:
        return
    allocation = subject.ran.allocation
    if allocation.client_status != "running":
        detail = f"Nomad lists it as healthy, but its allocation is {allocation.client_status}"
        yield Trouble(code="instance-unhealthy", detail=detail)
    if falls := events.flapping(allocation, subject.now_ns):
        yield Trouble(code="instance-flapping", detail=falls)
    if subject.before is not None and allocation.restarts > subject.before.allocation.restarts:
        yield Trouble(code="instance-restarted", detail="its task restarted between two checks")
    if not subject.csi.healthy and (restart := events.restarted(allocation, subject.now_ns)):
        yield Trouble(code="instance-restarted", detail=restart)


def _job(subject: Subject) -> Iterator[Trouble]:
    if subject.ran and subject.ran.outdated:
        yield Trouble(code="instance-outdated", detail=subject.ran.outdated)
    version = subject.csi.version or subject.instance.provider_version
    if subject.expectation.version and version != subject.expectation.version:
        detail = f"version {foreign.clean(version) or 'not given'}"
        yield Trouble(code="version-differs", detail=detail, evidence="csi" if subject.csi.version else "nomad")


def _fitness(subject: Subject) -> Iterator[Trouble]:
    """Yield missing capabilities or a wrong zone of a healthy instance."""
    instance, expectation = subject.instance, subject.expectation
    wanted = expectation.controller_supports if instance.role == "controller" else expectation.node_supports
    lacks = sorted(set(wanted) - instance.supports)
    if lacks:
        can = ", ".join(sorted(instance.supports)) or "nothing"
        yield Trouble(
            code="instance-capability-missing", detail=f"it does not report {', '.join(lacks)}; it reports {can}"
        )
    reported = eligibility.zone_of_segments(instance.segments)
    actual = eligibility.zone_of_client(subject.client) if subject.client else ""
    if reported and actual and reported != actual:
        detail = f"it reports zone {foreign.clean(reported)}, its client is in {actual}"
        yield Trouble(code="instance-zone-differs", detail=detail)
