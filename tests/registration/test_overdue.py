"""Word of what takes long."""

import re
import threading

import pytest

from nomad_csi.registration import sending


def test_word_is_given_again_and_again_while_it_lasts(monkeypatch):
    """Each time with how long it has been, and none after the end."""
    monkeypatch.setattr(sending, "EVERY_S", 0.01)
    said, enough = [], threading.Event()

    def tell(line):
        said.append(line)
        if len(said) == 3:
            enough.set()

    with sending.reported_when_overdue(tell, lambda: f"no answer, {len(said)} told"):
        assert enough.wait(120)
    count = len(said)

    assert [line.rpartition(" after ")[0] for line in said[:3]] == [f"no answer, {number} told," for number in range(3)]
    assert all(re.search(r" after \d+ s$", line) for line in said)
    assert not threading.Event().wait(0.1)
    assert len(said) == count


def test_what_ends_in_time_or_in_error_is_not_told():
    """Nothing is said, and the error comes through."""
    said = []
    with sending.reported_when_overdue(said.append, str), pytest.raises(ValueError, match="it"):
        raise ValueError("it")

    assert said == []
