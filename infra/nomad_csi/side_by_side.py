"""Several calls at a time. Calls under way are not waited for once their results are not wanted any more."""

import collections
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures
from typing import TypeVar

_Result = TypeVar("_Result")


def each(calls: Iterable[Callable[[], _Result]], *, workers: int) -> Iterator[_Result]:
    """
    Yield the results of *calls* as they come, *workers* at a time. After the first error none is begun.

    What is under way when an operator interrupts is left alone: Nomad gives a controller that hangs two minutes, and a
    process waits at its end for every thread of an executor.
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
        threading.Thread(target=work, daemon=True).start()
    try:
        for _ in range(count):
            yield done.get().result()
    finally:
        is_over.set()


def in_order(calls: Iterable[Callable[[], _Result]], *, workers: int, ahead: int | None = None) -> Iterator[_Result]:
    """
    Yield the results of *calls* in their order, *workers* at a time; the rest is as `each` says.

    *ahead*: so many calls are begun before the oldest result is taken, so that results do not pile up; ``None``: all.
    """
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
                threads.append(threading.Thread(target=work, daemon=True))
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
    """Return what came of *call*: its result, or what it raised."""
    outcome: futures.Future[_Result] = futures.Future()
    settle(call, outcome)
    return outcome


def settle(call: Callable[[], _Result], outcome: futures.Future[_Result]) -> None:
    """Give *outcome* what *call* returns, or what it raises: that is raised where the result is asked for."""
    try:
        outcome.set_result(call())
    except BaseException as error:  # noqa: BLE001  # raised where the result is asked for
        outcome.set_exception(error)
