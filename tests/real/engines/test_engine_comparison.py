"""
The emulator of the Pulumi engine held to the real one: same program, same steps, states compared after each.

Known deviations, which the comparison leaves out:
times and source positions (the emulator keeps no source positions); the ids of providers, which are random; the values
of secrets, of which the emulator keeps digests only (that both are secret is compared); ``__internal`` among the inputs
of a provider (the real engine's own); empty lists of property dependencies, which a refresh of the real engine drops.
Outputs of components are compared where a run before has recorded them: once a step has failed, the real engine records
those of no further component, and the emulator does; the next `up` records them in both.
"""

import json

import pytest

from tests.real.engines import sides
from tests.sandbox.engine import comparison_steps
from tests.sandbox.engine.comparison_steps import drift, lose_watched

PROGRAM = "comparison_program.py"


@pytest.fixture
def real(tmp_path):
    return sides.make_real(tmp_path, PROGRAM)


@pytest.fixture
def emulator(tmp_path):
    return sides.make_emulator(tmp_path, PROGRAM)


def both(real, emulator, change):
    for side in (real, emulator):
        change(side)


def test_both_engines_leave_the_same_state(real, emulator, states):
    """Through creates, updates, replacements, failures, recoveries, renames and imports, step by step."""
    for step in range(comparison_steps.STEPS):
        both(real, emulator, comparison_steps.CHANGES.get(step, lambda _side: None))
        planned, agreed = real.preview(step)
        ours, ours_agreed = emulator.preview(step)

        assert ours_agreed == agreed, f"preview of step {step}"
        if agreed:
            assert states.shown(ours) == states.shown(planned), f"preview of step {step}"

        theirs_done, ours_done = real.up(step), emulator.up(step)

        assert (ours_done.returncode == 0) == (theirs_done.returncode == 0), theirs_done.stdout + ours_done.stdout
        found = states.differences(states.normal(emulator.resources()), states.normal(real.resources()))
        assert not found, "\n".join([f"state after step {step}", *found])
        assert states.in_order(emulator.resources()), f"order after step {step}"


def test_both_engines_refresh_and_destroy_alike(real, emulator, states):
    """Drift is taken over, what is gone leaves the state, and a destroy leaves nothing in either world."""
    both(real, emulator, lambda side: side.up(0))
    both(real, emulator, drift)

    both(real, emulator, lambda side: side.refresh(0))

    found = states.differences(states.normal(emulator.resources()), states.normal(real.resources()))
    assert not found, "\n".join(found)

    both(real, emulator, lambda side: side.destroy(0))

    assert emulator.resources() == real.resources() == []
    left = {side.folder.name: sorted(path.name for path in side.world.glob("*.json")) for side in (real, emulator)}
    assert left["ours"] == left["real"]


def calls(side, method):
    """Return the names of what the provider was asked to do so."""
    found = [json.loads(line) for line in (side.world / "calls.jsonl").read_text(encoding="utf-8").splitlines()]
    return sorted(call["name"] for call in found if call["method"] == method)


def test_both_engines_read_before_a_destroy_what_asks_for_it(real, emulator):
    """What is found to be gone is not deleted once more, and nothing else is read."""
    both(real, emulator, lambda side: side.up(0))
    both(real, emulator, lose_watched)
    both(real, emulator, lambda side: (side.world / "calls.jsonl").unlink())

    both(real, emulator, lambda side: side.destroy(0))

    assert emulator.resources() == real.resources() == []
    assert calls(emulator, "Read") == calls(real, "Read") == ["watched"]
    assert calls(emulator, "Delete") == calls(real, "Delete")
    assert "watched" not in calls(real, "Delete")
