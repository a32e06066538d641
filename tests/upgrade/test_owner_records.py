"""
A mixed fleet on one page of owner records: this release and e27e896 take turns, and neither takes from the other.

Both work on the items of a Nomad variable, as they stand in it; what either forgets shows in the other's reading.
"""

import pytest
from hypothesis import given, strategies

from nomad_csi.ownership import owner_records
from tests.upgrade import old_rules, recorded, worlds

VOLUMES = ("cache", "data[0]", "data[1]", "mysql")
STACKS = {"shop/prod": "9f86d081884c7d65", "bank/prod": "60303ae22b998861"}
"""Label and id of two stacks."""


@pytest.mark.parametrize("name", ["stack", "components"])
def test_pages_of_the_old_release_are_read_by_this_one(name):
    """Given pages as e27e896 left them in Nomad: each volume has its owner, known by the label alone."""
    pages = recorded.read(worlds.RECORDINGS / name, "nomad.json")["variables"]

    for namespace, paths in pages.items():
        for path, items in paths.items():
            if path.startswith(f"{owner_records.FOLDER}/"):
                read = owner_records.read(items)
                assert read, (namespace, path)
                assert read == {
                    volume_id: owner_records.OwnerRecord(label=label)
                    for volume_id, label in old_rules.read(items).items()
                }
                assert {owner_records.page_of(volume_id) for volume_id in read} == {path}


def test_both_releases_look_on_the_same_page():
    """Or they would not see one another."""
    found = [f"volume-{number}" for number in range(200)]

    assert list(map(owner_records.page_of, found)) == list(map(old_rules.page_of, found))


class Fleet:
    """Two stacks, each run by either release, that take and give up volumes on one page."""

    def __init__(self):
        self.items = {}
        self.owners = {}
        """Who has each volume: label, and the nonce that this release wrote; empty where the old one did."""
        self.states = {label: {} for label in STACKS}
        """The nonces that the state of each stack has."""
        self.written = 0

    def old_takes(self, label, volume_id):
        self.items, refused = old_rules.take(self.items, [volume_id], old_rules.Requester(owner=label))
        before, nonce = self.owners.get(volume_id, (label, ""))
        assert bool(refused) == (before != label)
        self.owners[volume_id] = (before, nonce)

    def old_adopts(self, label, volume_id):
        self.items, _ = old_rules.take(self.items, [volume_id], old_rules.Requester(owner=label, adopts=True))
        before, nonce = self.owners.get(volume_id, ("", ""))
        self.owners[volume_id] = (label, nonce if before == label else "")

    def old_gives_up(self, label, volume_id):
        self.items = old_rules.release(self.items, [volume_id], old_rules.Requester(owner=label))
        if self.owners.get(volume_id, ("", ""))[0] == label:
            del self.owners[volume_id]

    def new_takes(self, label, volume_id, *, adopts=False):
        self.written += 1
        nonce = f"{self.written:012x}"
        requester = owner_records.Requester(owner=label, stack_id=STACKS[label], adopts=adopts)
        holds = {volume_id: owner_records.Hold(nonce=nonce)}
        taken = owner_records.acquire(owner_records.read(self.items), holds, requester)
        self.items = owner_records.written(taken.owners)
        before = self.owners.get(volume_id, (label, ""))
        assert bool(taken.refused) == (before[0] != label and not adopts)
        if not taken.refused:
            self.owners[volume_id] = (label, nonce)
            self.states[label][volume_id] = nonce

    def new_adopts(self, label, volume_id):
        self.new_takes(label, volume_id, adopts=True)

    def new_gives_up(self, label, volume_id):
        requester = owner_records.Requester(owner=label, stack_id=STACKS[label])
        holds = {volume_id: owner_records.Hold(recorded=self.states[label].get(volume_id, ""))}
        after = owner_records.released(owner_records.read(self.items), holds, requester)
        self.items = owner_records.written(after)
        if self.owners.get(volume_id, ("", ""))[0] == label:
            del self.owners[volume_id]


MOVES = ("old_takes", "old_adopts", "old_gives_up", "new_takes", "new_adopts", "new_gives_up")


@given(
    strategies.lists(
        strategies.tuples(
            strategies.sampled_from(MOVES), strategies.sampled_from(sorted(STACKS)), strategies.sampled_from(VOLUMES)
        ),
        max_size=20,
    )
)
def test_fleet_of_both_releases_agrees_on_every_owner(moves):
    """
    Given any turns of both releases, in two stacks: both read one owner of each volume, and a nonce goes with its owner.

    A nonce comes back where the old release gave a volume up and took it again for the same stack: it carried the item
    along in between, and the stack is the same.
    """
    fleet = Fleet()
    for move, label, volume_id in moves:
        getattr(fleet, move)(label, volume_id)

        read = owner_records.read(fleet.items)
        labels = {volume_id: label for volume_id, (label, _) in fleet.owners.items()}
        assert {volume_id: str(owner) for volume_id, owner in read.items()} == labels
        old = old_rules.read(fleet.items)
        assert {item: old[item] for item in VOLUMES if item in old} == labels
        for item, (owner, nonce) in fleet.owners.items():
            assert read[item].stack_id in {"", STACKS[owner]}
            assert not nonce or read[item].nonce == nonce
