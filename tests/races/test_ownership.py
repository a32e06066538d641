"""Two stacks want one volume: whatever the order of their requests, one has it and the other is told whose it is."""

import os

import pytest

from nomad_csi.nomad import variables

INTERLEAVINGS = int(os.environ.get("SOAK_INTERLEAVINGS", "40"))
"""Orders of requests that are tried; ``make soak`` tries more."""

PARTS = 2
OWNERS = {"shop/one": "shop/two", "shop/two": "shop/one"}


def is_reason(told, owner):
    """Return whether *owner* was told whose the volume is; or what it is, where the other gave it up that moment."""
    return (OWNERS[owner] in told and "belongs to " in told) or "is registered already, and not by this stack" in told


@pytest.mark.timeout(300 + INTERLEAVINGS)
@pytest.mark.parametrize("part", range(PARTS))
def test_no_order_of_requests_steals_a_volume(table, part):
    """Created and deleted, by the resource and by the command, from an empty cluster each time."""
    won = set()
    for seed in range(part, INTERLEAVINGS, PARTS):
        game = table.play(seed)

        assert game.stolen == [], f"seed {seed}: {game.requests}"
        for stack in game.stacks:
            assert [line for line in stack.told if not is_reason(line, stack.owner)] == [], f"seed {seed}"
        won |= {stack.owner for stack in game.stacks if stack.holds}
    assert won == set(OWNERS)


@pytest.mark.timeout(300 + INTERLEAVINGS)
@pytest.mark.parametrize("part", range(PARTS))
def test_no_order_of_requests_of_one_stack_loses_its_mark(table, part):
    """Two runs of it: a volume that is registered at the end has its mark, and one that is not has none."""
    held = 0
    for seed in range(part, INTERLEAVINGS, PARTS):
        game = table.play(seed, names=("shop/one", "shop/one again"))

        assert game.stolen == [], f"seed {seed}: {game.requests}"
        held += bool(table.content)
    assert held


def test_same_seed_is_the_same_order(table):
    """So that a failure can be checked again."""
    assert table.play(7).requests == table.play(7).requests


def test_without_marks_orders_that_steal_are_found(table):
    """What a token costs that may not write variables; and that these games can be lost."""
    assert any(table.play(seed, token="blind").stolen for seed in range(40))


def test_marks_that_are_written_unseen_would_be_lost(table, monkeypatch):
    """It is the check of the index that decides, not that marks are checked first."""
    put = variables.put

    def put_anyway(client, namespace, path, items, *, index):
        del index
        found = variables.get(client, namespace, path)
        return put(client, namespace, path, items, index=found.modify_index if found else variables.NEW)

    monkeypatch.setattr(variables, "put", put_anyway)

    assert any(table.play(seed).stolen for seed in range(60))
