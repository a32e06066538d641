"""
Run calls concurrently. Calls under way are abandoned once their results are no longer needed.

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

Advance = Callable[[int, int], None]
"""Receives how many of how many things are done."""


def _nothing(_done: int, _total: int) -> None:
    return


_advance: contextvars.ContextVar[Advance] = contextvars.ContextVar("advance", default=_nothing)


@contextlib.contextmanager
def advancing(advance: Advance) -> Iterator[None]:
    """Call *advance* for what the block does to many things: see `counted`."""
    before = _advance.get()
    _advance.set(advance)
    try:
        yield
    finally:
        _advance.set(before)


def counted(done: Iterable[_Result], total: int) -> Iterator[_Result]:
    """Yield what is *done*, and report how many of *total* that are. What happens in between reports nothing."""
    advance = _advance.get()
    with advancing(_nothing):
        for count, result in enumerate(done, start=1):
            advance(count, total)
            yield result


def each(calls: Iterable[Callable[[], _Result]], *, workers: int) -> Iterator[_Result]:
    """Yield the results of *calls* as they complete, *workers* at a time. After the first error no call is started."""
    with _running(calls, workers) as running:
        for outcome in futures.as_completed(running):
            yield outcome.result()


def run_in_order(calls: Iterable[Callable[[], _Result]], *, workers: int) -> Iterator[_Result]:
    """Yield the results of *calls* in their order, `counted`, *workers* at a time; otherwise as `each`."""
    with _running(calls, workers) as running:
        yield from counted((running.pop(0).result() for _ in list(running)), len(running))


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
