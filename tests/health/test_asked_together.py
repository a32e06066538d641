"""Questions that come at the same time are asked together, and nobody holds up who has left."""

import threading

import pytest

from nomad_csi import clock, errors
from nomad_csi.health import asked_together

WAIT_S = 60.0


class Asked:
    """What was asked together; the first questions wait until they may be answered."""

    def __init__(self):
        self.calls = []
        self.began = threading.Event()
        self.go_on = threading.Event()
        self.cleaned = []
        self.error = None

    def ask(self, kind, items, stop, tell):
        self.calls.append((kind, list(items)))
        tell(f"asking {len(items)}")
        self.began.set()
        while not self.go_on.wait(0.01):
            if stop.is_set():
                self.cleaned.append(kind)
                raise self.error or errors.CancelledError("interrupted")
        return [f"{item}!" for item in items]


class Gathering(clock.Clock):
    """Batches gather for as long as the event is not set."""

    def __init__(self):
        self.is_over = threading.Event()
        self.is_over.set()

    def sleep(self, _):
        self.is_over.wait(WAIT_S)


@pytest.fixture
def gathering():
    """How long batches gather."""
    return Gathering()


@pytest.fixture
def asked():
    """What was asked, and how."""
    made = Asked()
    yield made
    made.go_on.set()


@pytest.fixture
def together(asked, gathering):
    """Batches that wait for others as long as the clock says."""
    return asked_together.Batches(asked.ask, leave_s=WAIT_S, gather_s=1.0, clock=gathering)


def answer_of(ticket):
    try:
        assert ticket.wait(WAIT_S)
        return ticket.answer()
    finally:
        assert ticket.leave() == ""


def test_those_of_one_moment_are_asked_at_once(asked, gathering, together):
    """Each gets its own answer; another kind is another question."""
    asked.go_on.set()
    gathering.is_over.clear()

    tickets = [together.join("job", "a"), together.join("job", "b"), together.join("other", "c")]
    gathering.is_over.set()

    assert [answer_of(ticket) for ticket in tickets] == ["a!", "b!", "c!"]
    assert sorted(asked.calls) == [("job", ["a", "b"]), ("other", ["c"])]
    assert tickets[0].news() == ["asking 2"]
    assert tickets[0].news() == []


def test_who_comes_while_one_is_asked_is_in_the_next(asked, together):
    """Never two of a kind at the same time."""
    first = together.join("job", "a")
    assert asked.began.wait(WAIT_S)
    later = [together.join("job", "b"), together.join("job", "c")]
    assert asked.calls == [("job", ["a"])]

    asked.go_on.set()

    assert [answer_of(ticket) for ticket in (first, *later)] == ["a!", "b!", "c!"]
    assert asked.calls == [("job", ["a"]), ("job", ["b", "c"])]


def test_the_last_to_leave_waits_until_it_is_cleaned_up(asked, gathering, together):
    """Who leaves earlier takes nothing from others."""
    gathering.is_over.clear()
    one, other = together.join("job", "a"), together.join("job", "b")
    gathering.is_over.set()
    assert asked.began.wait(WAIT_S)

    assert one.leave() == ""
    assert not other.wait(0.05)
    assert other.leave() == ""

    assert asked.cleaned == ["job"]


def test_what_is_left_behind_at_an_interrupt_is_told(asked, together):
    """Nobody else would hear it."""
    asked.error = errors.NomadCsiError("job x is left behind")
    ticket = together.join("job", "a")
    assert asked.began.wait(WAIT_S)

    assert ticket.leave() == "job x is left behind"


def test_a_question_that_nobody_wants_any_more_is_not_asked(asked, gathering, together):
    """Who comes then is not taken for one of them."""
    asked.go_on.set()
    gathering.is_over.clear()
    ticket = together.join("job", "a")

    def gather():
        ticket._batch.stop.wait(WAIT_S)
        gathering.is_over.set()

    threading.Thread(target=gather).start()
    assert ticket.leave() == ""

    assert answer_of(together.join("job", "b")) == "b!"
    assert asked.calls == [("job", ["b"])]


def test_an_error_is_everybodys(gathering):
    """Each of them raises it."""

    def fail(*_):
        raise errors.NomadCsiError("no")

    together = asked_together.Batches(fail, leave_s=WAIT_S, gather_s=1.0, clock=gathering)
    for ticket in [together.join("job", "a"), together.join("job", "b")]:
        with pytest.raises(errors.NomadCsiError, match="no"):
            answer_of(ticket)
