"""
Run calls concurrently. Calls under way are abandoned once their results are no longer needed.

Each call sees the context variables of the caller, such as a deadline.
"""

import collections
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
    """
    Yield the results of *calls* as they complete, *workers* at a time. After the first error no call is started.

    An interrupt abandons the calls under way: Nomad waits two minutes for a controller that hangs, and a process waits
    at exit for every thread of an executor.
    """
    waiting: queue.SimpleQueue[Callable[[], _Result]] = queue.SimpleQueue()
    done: queue.SimpleQueue[futures.Future[_Result]] = queue.SimpleQueue()
    for call in calls:
        waiting.put(call)
    count = waiting.qsize()
    is_over = threading.Event()

    def work() -> None:
        while not is_over.is_set():
            try:
                call = waiting.get_nowait()
            except queue.Empty:
                return
            done.put(_called(call))

    for _ in range(min(workers, count)):
        threading.Thread(target=contextvars.copy_context().run, args=(work,), daemon=True).start()
    try:
        for _ in range(count):
            yield done.get().result()
    finally:
        is_over.set()


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
        found = instance.__dict__[self._read.__name__] = self._read(instance)
        return found


def run_in_order(
    calls: Iterable[Callable[[], _Result]], *, workers: int, ahead: int | None = None
) -> Iterator[_Result]:
    """
    Yield the results of *calls* in their order, `counted`, *workers* at a time; otherwise as `each`.

    *ahead*: number of calls to start before the oldest result is consumed, to limit memory; ``None``: all.
    """
    known = list(calls)
    yield from counted(_in_order(known, workers, ahead), len(known))


def _in_order(calls: Iterable[Callable[[], _Result]], workers: int, ahead: int | None) -> Iterator[_Result]:
    waiting: queue.SimpleQueue[tuple[Callable[[], _Result], futures.Future[_Result]] | None] = queue.SimpleQueue()
    pending: collections.deque[futures.Future[_Result]] = collections.deque()
    is_over = threading.Event()
    threads: list[threading.Thread] = []

    def work() -> None:
        while (item := waiting.get()) is not None and not is_over.is_set():
            settle(*item)

    try:
        for call in calls:
            pending.append(futures.Future())
            waiting.put((call, pending[-1]))
            if len(threads) < workers:
                threads.append(threading.Thread(target=contextvars.copy_context().run, args=(work,), daemon=True))
                threads[-1].start()
            if len(pending) == ahead:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        is_over.set()
        for _ in threads:
            waiting.put(None)


def _called(call: Callable[[], _Result]) -> futures.Future[_Result]:
    """Return a completed future with the result of *call*, or the exception that it raised."""
    outcome: futures.Future[_Result] = futures.Future()
    settle(call, outcome)
    return outcome


def settle(call: Callable[[], _Result], outcome: futures.Future[_Result]) -> None:
    """Set the result of *call* on *outcome*, or its exception, which ``result()`` raises."""
    try:
        outcome.set_result(call())
    except BaseException as error:  # noqa: BLE001  # `result()` raises it
        outcome.set_exception(error)
