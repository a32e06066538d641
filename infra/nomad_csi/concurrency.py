"""
Run calls concurrently, as many at a time as the caller allows.

Calls under way are abandoned once their results are no longer needed.

Each call sees the context variables of the caller, such as a deadline. The threads are daemons, unlike those of an
executor, which a process waits for at its exit: Nomad waits two minutes for a controller that hangs.
"""

import contextlib
import contextvars
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures
from typing import Any, Generic, TypeVar

_Result = TypeVar("_Result")


def each(calls: Iterable[Callable[[], _Result]], *, workers: int) -> Iterator[_Result]:
    """Yield the results of *calls* as they complete, *workers* at a time. After the first error no call is started."""
    with _running(calls, workers) as running:
        for outcome in futures.as_completed(running):
            yield outcome.result()


def run_in_order(calls: Iterable[Callable[[], _Result]], *, workers: int) -> Iterator[_Result]:
    """Yield the results of *calls* in their order, *workers* at a time; otherwise as `each`."""
    with _running(calls, workers) as running:
        while running:
            yield running.pop(0).result()


@contextlib.contextmanager
def _running(calls: Iterable[Callable[[], _Result]], workers: int) -> Iterator[list[futures.Future[_Result]]]:
    """Return the outcomes of *calls*, which threads make; those that are not begun at the end of the block are not."""
    waiting: queue.SimpleQueue[tuple[Callable[[], _Result], futures.Future[_Result]]] = queue.SimpleQueue()
    outcomes: list[futures.Future[_Result]] = []
    for call in calls:
        outcomes.append(futures.Future())
        waiting.put((call, outcomes[-1]))
    is_over = threading.Event()

    def work() -> None:
        while not is_over.is_set():
            try:
                settle(*waiting.get_nowait())
            except queue.Empty:
                return

    for _ in range(min(workers, len(outcomes))):
        threading.Thread(target=contextvars.copy_context().run, args=(work,), daemon=True).start()
    try:
        yield outcomes
    finally:
        is_over.set()


def settle(call: Callable[[], _Result], outcome: futures.Future[_Result]) -> None:
    """Set the result of *call* on *outcome*, or its exception, which ``result()`` raises."""
    try:
        outcome.set_result(call())
    except BaseException as error:  # noqa: BLE001  # `result()` raises it
        outcome.set_exception(error)


class read_once(Generic[_Result]):  # noqa: N801  # used as a decorator, like `functools.cached_property`
    """
    A property that keeps its first value; for values that a request reads.

    `functools.cached_property` of Python 3.11 has one lock for all instances of a class, so that their requests would
    wait for each other (Lib/functools.py, removed in 3.12). Two threads with one instance may both read.
    """

    def __init__(self, read: Callable[[Any], _Result]) -> None:
        self._read = read
        self.__doc__ = read.__doc__

    def __get__(self, instance: Any, owner: type | None = None) -> _Result:
        """Return the value; kept in the ``__dict__`` of *instance*, where it is found first from now on."""
        value = instance.__dict__[self._read.__name__] = self._read(instance)
        return value
