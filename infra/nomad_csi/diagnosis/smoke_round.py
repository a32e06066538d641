"""One job of a smoke test: run it, watch it, purge it."""

import dataclasses
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from nomad_csi import errors, nomad
from nomad_csi.hcl import documents
from nomad_csi.nomad import jobs, volumes
from nomad_csi.plan import registration, smoke

# The result of a smoke test, as data.


SmokeStatus = Literal["verified", "failed", "not verified"]
"""
``verified``: data written through the volume was read back. ``failed``: it was not, or the volume was unusable.
``not verified``: claimed and released, but in the sandbox, whose plugins mount nothing.
"""


@dataclass(frozen=True, kw_only=True)
class Times:
    """Durations of the steps of one job, in seconds, at a resolution of about `smoke.smoke.INTERVAL_S`."""

    attach_s: float | None = None
    """From the placement until Nomad records the claim: the controller, if any, has attached the volume."""

    mount_s: float | None = None
    """From the claim until the task starts: staged, mounted, and the task's image pulled."""

    detach_s: float | None = None
    """From the end of the task until the claim is released: unmounted, and detached by the controller."""


@dataclass(frozen=True, kw_only=True)
class SmokeRound:
    """One of the two jobs."""

    kind: smoke.Kind
    node_name: str = ""
    """Client that ran it; empty: not placed."""

    reason: str = ""
    """Why it failed; empty: it succeeded."""

    times: Times = Times()
    node_id: str = ""
    left_behind: tuple[str, ...] = ()
    """Objects left behind, one sentence each."""


@dataclass(frozen=True, kw_only=True)
class SmokeOutcome(registration.NamedVolume):
    """The result of the test of one volume."""

    status: SmokeStatus
    task_driver: str
    access_mode: str
    rounds: tuple[SmokeRound, ...]

    verified: tuple[str, ...]
    """What was verified, one sentence each."""

    not_verified: tuple[str, ...]
    """What was not verified, and why."""

    left_behind: tuple[str, ...] = ()
    """Objects that could not be cleaned up: jobs, and the file in the volume."""

    def as_json(self) -> dict[str, Any]:
        """Return the result as data, including empty fields."""
        return dataclasses.asdict(self) | {"rounds": [_round(each) for each in self.rounds]}


def _round(done: SmokeRound) -> Mapping[str, Any]:
    times = {name: None if value is None else round(value, 1) for name, value in vars(done.times).items()}
    return {"job": done.kind, "node": done.node_name, "reason": done.reason, **times}


# The job.


INTERVAL_S = 0.25
"""Between two checks."""

END_S = 60.0
"""How long a stopped job's allocation may take to end before it is reported as left behind."""


_T = TypeVar("_T")
_EXIT_CODE = re.compile(r"Exit Code: (\d+)")


class Watch:
    """Runs one job at a time; each step has the timeout *timeout_s*."""

    def __init__(self, client: nomad.Nomad, *, timeout_s: float, report: Callable[[str], None]) -> None:
        self._client = client
        self._clock = client.clock
        self._timeout_s = timeout_s
        self._report = report

    def objection(self, job: smoke.SmokeJob) -> str:
        """Return why Nomad cannot place *job* now; empty: it can."""
        return "; ".join(self._planned(job, documents.smoke_job_file(job))[1].values())

    def run(self, job: smoke.SmokeJob) -> SmokeRound:
        """
        Run *job* to its end and always purge it; if Nomad refuses that, return the command that removes it.

        Raises `errors.RefusedError` if Nomad would not place it; then nothing was run.
        """
        hcl = documents.smoke_job_file(job)
        document, reasons = self._planned(job, hcl)
        if reasons:
            raise errors.RefusedError(f"no client can run the {job.kind} job: {'; '.join(reasons.values())}")
        self._report(f"{job.kind}: running job {job.namespace}/{job.job_id}")
        may_be_there = True  # also if an interrupt comes before the reply
        try:
            try:
                jobs.register(self._client, document, source=hcl, enforce_index=0)
            except errors.NomadApiError as error:
                may_be_there = error.kind == "ambiguous"
                raise
            last, times, reason = self._follow(job)
        except BaseException:
            for line in self._purge(job) if may_be_there else ():
                self._report(line)
            raise
        left = self._purge(job)
        done = SmokeRound(kind=job.kind, reason=reason, times=times, left_behind=left)
        return dataclasses.replace(done, node_name=last.node_name, node_id=last.node_id) if last else done

    def _planned(self, job: smoke.SmokeJob, hcl: str) -> tuple[dict[str, Any], Mapping[str, str]]:
        """Return the job that Nomad parses from *hcl*, and why it would not place it."""
        document = jobs.parse(self._client, hcl, namespace=job.namespace)
        return document, jobs.plan(self._client, document).failed_groups

    def _follow(self, job: smoke.SmokeJob) -> tuple[jobs.Allocation | None, Times, str]:
        """Return the last state of the job's allocation, the durations of its steps, and why it failed."""
        placed = self._wait(lambda: self._allocation(job))
        if placed is None:
            return None, Times(), f"not placed within {self._timeout_s:g} s"
        began = self._clock.now()
        claimed_at = started_at = None
        while (last := self._allocation(job) or placed).client_status not in volumes.ENDED:
            now = self._clock.now()
            if claimed_at is None and self._is_claimed(job, placed.alloc_id):
                claimed_at = now
            if started_at is None and any(event.type == "Started" for event in last.task_events):
                started_at = now
            if now - began > self._timeout_s:
                late = f"not done within {self._timeout_s:g} s: {_last_events(last)}"
                return last, _times(began, claimed_at, started_at, None), late
            self._clock.sleep(INTERVAL_S)
        ended_at = self._clock.now()
        # A state that passed between two checks counts as reached at the later one.
        started_at = started_at or (ended_at if any(event.type == "Started" for event in last.task_events) else None)
        claimed_at = claimed_at or started_at
        is_free = self._wait(lambda: not self._is_claimed(job, placed.alloc_id))
        freed_after_s = self._clock.now() - ended_at if is_free else None
        reason = _reason(last)
        if not is_free:
            stuck = f"the claim is still there {self._timeout_s:g} s after the end: see `nomad-csi claims`"
            reason = "; ".join(filter(None, (reason, stuck)))
        return last, _times(began, claimed_at, started_at, freed_after_s), reason

    def _purge(self, job: smoke.SmokeJob) -> tuple[str, ...]:
        """Stop the job, wait until its allocation has ended, then purge it. Return what is left behind."""
        by_hand = f"remove it: nomad job stop -purge -namespace {job.namespace} {job.job_id}"
        key = f"{job.namespace}/{job.job_id}"
        try:
            jobs.stop(self._client, job.namespace, job.job_id, purge=False)
            deadline = self._clock.now() + END_S
            while (allocation := self._allocation(job)) is not None and allocation.client_status not in volumes.ENDED:
                if self._clock.now() > deadline:
                    return (f"job {key} is left behind: its allocation has not ended; {by_hand}",)
                self._clock.sleep(INTERVAL_S)
            jobs.stop(self._client, job.namespace, job.job_id, purge=True)
        except errors.NomadCsiError as error:
            return (f"job {key} is left behind: {error}; {by_hand}",)
        return ()

    def _wait(self, check: Callable[[], _T]) -> _T:
        """Return the first true result of *check*, or its last result at the timeout."""
        deadline = self._clock.now() + self._timeout_s
        while not (answer := check()) and self._clock.now() < deadline:
            self._clock.sleep(INTERVAL_S)
        return answer

    def _allocation(self, job: smoke.SmokeJob) -> jobs.Allocation | None:
        return next(iter(jobs.allocations(self._client, job.namespace, job.job_id)), None)

    def _is_claimed(self, job: smoke.SmokeJob, alloc_id: str) -> bool:
        volume = volumes.get(self._client, job.namespace, job.volume_id)
        return volume is not None and any(claim.alloc_id == alloc_id for claim in volume.claims)


def _times(began: float, claimed_at: float | None, started_at: float | None, detach_s: float | None) -> Times:
    return Times(
        attach_s=None if claimed_at is None else claimed_at - began,
        mount_s=None if started_at is None or claimed_at is None else started_at - claimed_at,
        detach_s=detach_s,
    )


def _last_events(allocation: jobs.Allocation) -> str:
    """Return the messages of the task's last three events, else the status of the allocation."""
    messages = "; ".join(event.message for event in allocation.task_events[-3:] if event.message)
    return messages or f"the allocation is {allocation.client_status}, and no event says why"


def _reason(allocation: jobs.Allocation) -> str:
    """Return why the allocation failed; empty: its task exited with 0."""
    if allocation.client_status == "complete":
        return ""
    codes = [match for event in allocation.task_events if (match := _EXIT_CODE.search(event.message))]
    code = int(codes[-1][1]) if codes else 0
    if code in smoke.EXIT_MEANS:
        return smoke.EXIT_MEANS[code]
    failures = [event.message for event in allocation.task_events if event.type in {"Setup Failure", "Driver Failure"}]
    if code and not failures:
        return f"the task ended with exit code {code}: {_last_events(allocation)}"
    return "; ".join(failures) or _last_events(allocation)
