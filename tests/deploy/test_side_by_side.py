"""Calls at a time: all results, the first error, and nobody who waits for what is not wanted any more."""

import functools
import threading

import pytest

from nomad_csi.deploy import side_by_side


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

    found = list(side_by_side.each((functools.partial(call, number) for number in range(50)), workers=3))

    assert sorted(found) == list(range(50))
    assert most[0] <= 3


def test_nothing_to_do_has_no_results():
    """And starts nothing."""
    assert list(side_by_side.each((), workers=3)) == []


def test_error_is_raised_and_nothing_more_is_begun():
    """Where the results are taken."""
    begun = []

    def broken():
        begun.append(1)
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        list(side_by_side.each([broken] * 1000, workers=1))

    assert len(begun) < 1000


def test_call_that_hangs_holds_up_nobody_who_stops_listening():
    """The other results are there, and the end comes at once."""
    hanging = threading.Event()
    results = side_by_side.each([hanging.wait, lambda: "quick"], workers=2)

    first = next(results)
    results.close()

    assert first == "quick"
    hanging.set()
