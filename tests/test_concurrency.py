"""Calls at a time: all results, the first error, and nobody who waits for what is not wanted any more."""

import functools
import threading
import time

import pytest

from nomad_csi import concurrency


def test_every_result_comes_once():
    """In any order, no more than so many at a time."""
    running, most, lock = [0], [0], threading.Lock()

    def call(number):
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        with lock:
            running[0] -= 1
        return number

    found = list(concurrency.each((functools.partial(call, number) for number in range(50)), workers=3))

    assert sorted(found) == list(range(50))
    assert most[0] <= 3


def test_nothing_to_do_has_no_results():
    """And starts nothing."""
    assert list(concurrency.each((), workers=3)) == []


def test_error_is_raised_and_nothing_more_is_begun():
    """Where the results are taken."""
    begun = []

    def broken():
        begun.append(1)
        time.sleep(0.001)  # else all may have been called before the first result is taken
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        list(concurrency.each([broken] * 1000, workers=1))

    assert len(begun) < 1000


def test_call_that_hangs_holds_up_nobody_who_stops_listening():
    """The other results are there, and the end comes at once."""
    hanging = threading.Event()
    results = concurrency.each([hanging.wait, lambda: "quick"], workers=2)

    first = next(results)
    results.close()

    assert first == "quick"
    hanging.set()


def test_results_come_in_the_order_of_the_calls():
    """Whichever ends first; no more than so many at a time."""
    running, most, lock = [0], [0], threading.Lock()

    def call(number):
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        with lock:
            running[0] -= 1
        return number

    found = list(concurrency.run_in_order((functools.partial(call, number) for number in range(50)), workers=3))

    assert found == list(range(50))
    assert most[0] <= 3


def test_error_is_raised_in_its_place_and_ends_the_calls():
    """What came before it is there."""
    begun = []

    def call(number):
        begun.append(number)
        if number == 2:
            raise RuntimeError("broken")
        time.sleep(0.001)  # else all may have been called before the first result is taken
        return number

    results = concurrency.run_in_order((functools.partial(call, number) for number in range(1000)), workers=1)

    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(RuntimeError, match="broken"):
        next(results)
    assert len(begun) < 1000


def test_call_that_hangs_does_not_hold_up_the_end():
    """The results before it are there, and closing does not wait."""
    hanging = threading.Event()
    results = concurrency.run_in_order([lambda: "quick", hanging.wait], workers=2)

    first = next(results)
    results.close()

    assert first == "quick"
    hanging.set()


def test_calls_that_were_not_begun_are_left_out_when_nobody_listens_any_more():
    """The one that runs ends; those behind it are not sent."""
    begun, is_running, goes_on = [], threading.Event(), threading.Event()

    def call(number):
        begun.append(number)
        if number:
            is_running.set()
            goes_on.wait(10)

    results = concurrency.run_in_order((functools.partial(call, number) for number in range(100)), workers=1)
    next(results)
    assert is_running.wait(10)

    results.close()
    goes_on.set()

    time.sleep(0.05)
    assert begun == [0, 1]
