"""What all parts of one operation share: the stack, its snapshot, the providers, the display, and whether to go on."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from nomad_csi import errors
from nomad_csi_sandbox.engine import display, project, providers, snapshot, state, values

PARALLEL = 16
"""Steps under way at once, unless told otherwise. The real engine's default is four for each core."""


@dataclass(kw_only=True)
class Deployment:
    """One preview, update, refresh or destroy."""

    project: project.Project
    snapshot: snapshot.Snapshot
    providers: providers.Providers
    display: display.Display
    dry: bool
    parallel: int = PARALLEL

    halted: threading.Event = field(default_factory=threading.Event)
    """Set by the first step that fails: nothing new begins, what is under way ends."""

    cancelled: threading.Event = field(default_factory=threading.Event)
    """Set by Ctrl-C."""

    step_failed: threading.Event = field(default_factory=threading.Event)
    """Set where the failure of a step was reported: then the operation as a whole says that it failed."""

    renamed: dict[str, str] = field(default_factory=dict)
    """Old URN by the new one, of what the program was found to have renamed."""

    deleted_again: list[state.Resource] = field(default_factory=list)
    """
    Objects that an earlier run deleted ahead of a replacement that failed, and that this run replaced without deleting
    anything ahead: they are out of the state, and are deleted again at the end, as the real engine does.
    """

    def __post_init__(self) -> None:
        self._slots = threading.BoundedSemaphore(self.parallel)

    @property
    def stopped(self) -> bool:
        """Whether nothing new may begin."""
        return self.halted.is_set() or self.cancelled.is_set()

    def go_on(self) -> None:
        """Raise `errors.CancelledError` if nothing new may begin."""
        if self.stopped:
            raise errors.CancelledError("the operation is coming to its end; nothing new begins")

    def fail(self, op: str, urn: str, message: str) -> None:
        """Report *message* at *urn* and let nothing new begin."""
        self.halted.set()
        self.display.failed(op, urn, message)

    def fail_step(self, op: str, urn: str, message: str) -> None:
        """Report the failure of a step; the real engine begins it with ``Preview failed:`` in a preview."""
        self.step_failed.set()
        self.fail(op, urn, f"Preview failed: {message}" if self.dry else message)

    @contextmanager
    def slot(self, *, after_failure: bool = False) -> Iterator[None]:
        """Hold one of the few places for steps under way; *after_failure*: also where another step has failed."""
        with self._slots:
            if not after_failure or self.cancelled.is_set():
                self.go_on()
            yield

    @contextmanager
    def pending(self, kind: str, resource: state.Resource) -> Iterator[None]:
        """Keep *resource* among the pending operations while the block runs; nothing in a preview."""
        if self.dry:
            yield
            return
        token = self.snapshot.begin(kind, resource)
        try:
            yield
        except errors.NomadCsiError:
            self.snapshot.end(token)
            self.snapshot.save()
            raise
        self.snapshot.end(token)

    def opened(self, old: state.Resource, known: values.Properties | None = None) -> state.Resource:
        """Return *old* with its secrets given back, from *known* where they are the same."""
        return {key: self.snapshot.seal.open(old[key], known) if key in _SEALED else old[key] for key in old}


_SEALED = ("inputs", "outputs")


class Watch:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self._start = time.monotonic()

    @property
    def seconds(self) -> float:
        """How many by now."""
        return time.monotonic() - self._start


class Failing:
    """Reports an `errors.RefusedError` of the block as the failure of a step, and ends the operation."""

    def __init__(self, run: Deployment, op: str, urn: str) -> None:
        self._run, self._op, self._urn = run, op, urn

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, kind: object, error: BaseException | None, _trace: object) -> None:
        """Report *error*; in its place goes `errors.CancelledError`, for it has been told."""
        if isinstance(error, errors.RefusedError):
            self._run.fail_step(self._op, self._urn, str(error))
            raise errors.CancelledError(str(error)) from error
