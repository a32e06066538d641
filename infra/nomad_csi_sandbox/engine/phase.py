"""One phase: a preview, or the thing itself, with a snapshot, providers and a display of its own."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nomad_csi import errors
from nomad_csi_sandbox.engine import (
    deletes,
    deployment,
    display,
    interrupt,
    program,
    project,
    providers,
    refresh,
    report,
    service,
    snapshot,
    state,
)

Kind = Literal["update", "refresh", "destroy"]

_TITLES = {"update": "Updating", "refresh": "Refreshing", "destroy": "Destroying"}


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the command line asks for."""

    kind: Kind
    project: project.Project
    state: Path
    parallel: int = deployment.PARALLEL
    clear_pending_creates: bool = False


def run(options: Options, *, dry: bool) -> report.Report:
    """Carry one phase out and return what it did. Raises `errors.NomadCsiError` where the state cannot be read."""
    watch = deployment.Watch()
    stored = state.read(options.state)
    result = report.Report()
    shown = display.Display(result, dry=dry, root_urn=options.project.root_urn)
    stack = options.project.stack
    shown.title(f"Previewing {options.kind} ({stack}):" if dry else f"{_TITLES[options.kind]} ({stack}):")
    with _deployment(options, stored, shown, dry=dry) as (job, engine):
        _carry_out(options, job, engine)
    result.cancelled = job.cancelled.is_set()
    if job.step_failed.is_set() or result.cancelled:
        outcome = "failed" if job.step_failed.is_set() else "canceled"
        shown.say("error", "", f"{'preview' if dry else 'update'} {outcome}")
    result.duration_s = watch.seconds
    old_outputs = _stack_outputs(stored, options.project.root_urn)
    if options.kind == "refresh" and not result.failed:
        result.outputs = job.opened({"outputs": old_outputs}).get("outputs", {})
    shown.finish(job.snapshot.seal.open(old_outputs, result.outputs))
    return result


@contextmanager
def _deployment(
    options: Options, stored: state.Stored, shown: display.Display, *, dry: bool
) -> Iterator[tuple[deployment.Deployment, service.Engine]]:
    """Hold a deployment, its server and its providers; at the end what there is, is on the disk."""
    engine = service.Engine(shown, options.project.root_urn)
    server = service.Server(engine)
    snap = snapshot.Snapshot(stored, options.state, dry=dry)
    started = providers.Providers(options.project, snap, shown, server.address)
    job = deployment.Deployment(
        project=options.project, snapshot=snap, providers=started, display=shown, dry=dry, parallel=options.parallel
    )
    interrupt.install(job)
    with ExitStack() as ends:
        ends.callback(server.stop)
        ends.callback(started.close)
        ends.callback(_save, job)
        yield job, engine


def _save(job: deployment.Deployment) -> None:
    try:
        job.snapshot.save()
    except errors.CancelledError:
        return  # told where it happened
    except errors.NomadCsiError as error:
        job.fail("same", "", str(error))


def _carry_out(options: Options, job: deployment.Deployment, engine: service.Engine) -> None:
    try:
        if options.kind == "refresh":
            refresh.refresh(job, flagged_only=False)
            job.snapshot.forget_interrupted(creates=options.clear_pending_creates)
        elif options.kind == "destroy":
            _warn_of_pending(job)
            refresh.refresh(job, flagged_only=True)
            deletes.delete_all(job, job.snapshot.left())
        else:
            _update(job, engine)
    except errors.CancelledError:
        return  # told where it happened
    except errors.NomadCsiError as error:
        job.fail("same", "", str(error))


def _update(job: deployment.Deployment, engine: service.Engine) -> None:
    _warn_of_pending(job)
    refresh.refresh(job, flagged_only=True)
    program.run(job, engine)
    if not job.display.report.failed or _only_protected(job):
        job.go_on()
        deletes.delete_all(job, [*job.snapshot.left(), *job.deleted_again])


def _only_protected(job: deployment.Deployment) -> bool:
    """Whether a preview met a protected replacement and went on, as the real one does, to show the rest."""
    return job.dry and not job.halted.is_set()


def _warn_of_pending(job: deployment.Deployment) -> None:
    """Warn of interrupted operations; not where something is read before the update, as the real engine has it."""
    if any(old.get("refreshBeforeUpdate") for old in job.snapshot.left()):
        return
    warning = job.snapshot.pending_warning()
    if warning and not job.dry:
        job.display.say("warning", "", warning)


def _stack_outputs(stored: state.Stored, root_urn: str) -> state.Resource:
    return next((each.get("outputs", {}) for each in stored.resources if each["urn"] == root_urn), {})
