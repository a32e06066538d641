"""Something that tests share is started anew where it did not come up."""

import contextlib

import pytest

from tests import shared


def test_failed_start_is_the_error_of_one_test():
    """The first start fails, the second succeeds and is kept until the end."""
    events = []

    @contextlib.contextmanager
    def start():
        events.append("start")
        if len(events) == 1:
            raise TimeoutError
        yield "world"
        events.append("end")

    with contextlib.closing(shared.Shared(start)) as found:
        with pytest.raises(TimeoutError):
            found.get()

        assert [found.get(), found.get()] == ["world", "world"]

    assert events == ["start", "start", "end"]


def test_what_never_comes_up_is_started_three_times():
    """Then each test fails at once."""
    starts = []

    def start():
        starts.append(1)
        raise TimeoutError

    found = shared.Shared(start)
    for _ in range(3):
        with pytest.raises(TimeoutError):
            found.get()
    with pytest.raises(pytest.fail.Exception, match="did not come up 3 times"):
        found.get()

    assert len(starts) == 3
