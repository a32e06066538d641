"""Calls at a time: all results, the first error, and no wait for what is not wanted any more."""

import functools
import threading
import time

import pytest

from nomad_csi import concurrency

pytestmark = pytest.mark.parametrize("run", [concurrency.each, concurrency.run_in_order])


def calls_of(call, count):
    return (functools.partial(call, number) for number in range(count))


def test_every_result_comes_once(run):
    """Some of them in the order of the calls, whichever ends first; no more than so many at a time."""
    running, most, lock = [0], [0], threading.Lock()

    def call(number):
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        with lock:
            running[0] -= 1
        return number

    found = list(run(calls_of(call, 50), workers=3))

    assert (sorted(found) if run is concurrency.each else found) == list(range(50))
    assert most[0] <= 3
    assert list(run((), workers=3)) == []


def test_error_is_raised_and_ends_the_calls(run):
    """In their order, what came before it is there."""
    begun = []

    def call(number):
        begun.append(number)
        if number == 2:
            raise RuntimeError("broken")
        time.sleep(0.001)  # else all may have been called before the first result is taken
        return number

    came = []
    with pytest.raises(RuntimeError, match="broken"):
        came.extend(run(calls_of(call, 1000), workers=1))

    assert len(begun) < 1000
    assert run is concurrency.each or came == [0, 1]


def test_end_waits_for_no_call(run):
    """The one that runs ends by itself; those behind it are not begun."""
    begun, is_running, goes_on = [], threading.Event(), threading.Event()

    def call(number):
        begun.append(number)
        if number:
            is_running.set()
            goes_on.wait(10)

    results = run(calls_of(call, 100), workers=1)
    next(results)
    assert is_running.wait(10)

    results.close()
    assert not goes_on.is_set()
    goes_on.set()

    time.sleep(0.05)
    assert begun == [0, 1]
