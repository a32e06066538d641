"""Several calls at a time. Calls under way are not waited for once their results are not wanted any more."""

import collections
import contextlib
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures
from typing import Any, TypeVar

_Result = TypeVar("_Result")


def each(calls: Iterable[Callable[[], _Result]], *, workers: int) -> Iterator[_Result]:
    """
    Yield the results of *calls* as they come, *workers* at a time. After the first error none is begun.

    What is under way when an operator interrupts is left alone: Nomad gives a controller that hangs two minutes, and a
    process waits at its end for every thread of an executor.
    """
    with _threads(workers) as begin:
        for outcome in futures.as_completed([begin(call) for call in calls]):
            yield outcome.result()


def in_order(calls: Iterable[Callable[[], _Result]], *, workers: int, ahead: int | None = None) -> Iterator[_Result]:
    """
    Yield the results of *calls* in their order, *workers* at a time; the rest is as `each` says.

    *ahead*: so many calls are begun before the oldest result is taken, so that results do not pile up; ``None``: all.
    """
    pending: collections.deque[futures.Future[_Result]] = collections.deque()
    with _threads(workers) as begin:
        for call in calls:
            pending.append(begin(call))
            if len(pending) == ahead:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


@contextlib.contextmanager
def _threads(workers: int) -> Iterator[Callable[[Callable[[], Any]], futures.Future[Any]]]:
    """In this block, have the calls that are handed over made, *workers* at a time; behind it none is begun."""
    waiting: queue.SimpleQueue[tuple[Callable[[], Any], futures.Future[Any]] | None] = queue.SimpleQueue()
    is_over = threading.Event()
    threads: list[threading.Thread] = []

    def work() -> None:
        while (item := waiting.get()) is not None and not is_over.is_set():
            _call(*item)

    def begin(call: Callable[[], Any]) -> futures.Future[Any]:
        outcome: futures.Future[Any] = futures.Future()
        waiting.put((call, outcome))
        if len(threads) < workers:
            threads.append(threading.Thread(target=work, daemon=True))
            threads[-1].start()
        return outcome

    try:
        yield begin
    finally:
        is_over.set()
        for _ in threads:
            waiting.put(None)


def _call(call: Callable[[], Any], outcome: futures.Future[Any]) -> None:
    try:
        outcome.set_result(call())
    except BaseException as error:  # noqa: BLE001  # raised where the result is asked for
        outcome.set_exception(error)
