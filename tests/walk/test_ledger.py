"""The ledger notices what must not become of data, and walks notice defects that are put into the product."""

import pytest

from nomad_csi.plan import registration
from nomad_csi.volumes import removal, steps
from tests.walk import ledger

ONE, OTHER = ("east", "default", "one"), ("east", "default", "other")


def facts(storage, volumes):
    return ledger.Facts(storage=frozenset(storage), volumes=volumes)


BEFORE = facts({"vol-1", "vol-2", "fs-1"}, {ONE: "vol-1"})

WRONG = {
    "deleted": (facts({"vol-2"}, {}), ["vol-1 is deleted, with what default/one in east wrote"]),
    "deleted while it is registered": (
        facts({"vol-2"}, {ONE: "vol-1"}),
        [
            "vol-1 is deleted, with what default/one in east wrote",
            "default/one in east stands for vol-1, which is not there",
        ],
    ),
    "shared": (
        facts(BEFORE.storage, {ONE: "vol-1", OTHER: "vol-1"}),
        ["vol-1 is shared by default/one in east and default/other in east"],
    ),
    "exchanged": (
        facts(BEFORE.storage, {ONE: "vol-2"}),
        ["default/one in east stood for vol-1, and stands for vol-2"],
    ),
    "pointed at no folder": (
        facts(BEFORE.storage, {OTHER: "fs-1:"}),
        ["default/other in east stands for fs-1:, which is not there"],
    ),
}


@pytest.mark.parametrize(("after", "sentences"), WRONG.values(), ids=WRONG)
def test_ledger_notices(after, sentences):
    """Each way to lose data, in words that name it."""
    book = ledger.Ledger()
    assert book.judge(facts({"vol-1", "vol-2", "fs-1"}, {}), BEFORE) == []

    assert book.judge(BEFORE, after) == sentences


@pytest.mark.parametrize("after", [facts({"vol-2"}, {}), facts(BEFORE.storage, {ONE: "vol-2"})])
def test_ledger_accepts_what_was_confirmed(after):
    """Data that was named in the preview, of a volume without protection."""
    book = ledger.Ledger()
    book.judge(facts({"vol-1", "vol-2"}, {}), BEFORE)

    assert book.judge(BEFORE, after, {"vol-1"}) == []


def test_ledger_accepts_an_access_point_that_a_confirmed_destroy_deleted():
    """The state had forgotten the registration, so that nothing deregistered the volume; its folder is still there."""
    book, before = ledger.Ledger(), facts({"fs-1"}, {ONE: "fs-1:/data"})
    book.judge(facts({"fs-1"}, {}), before)

    after = facts({"fs-1"}, {ONE: "fs-1:"})
    assert book.judge(before, after, {"fs-1:/data"}) == []
    assert book.judge(after, after) == []


def forget_who_holds(monkeypatch):
    """Delete what another resource of the stack took over."""
    monkeypatch.setattr(removal.RemovedVolume, "record", "own")


def name_by_id(monkeypatch):
    """Make storage by the volume's id, as older releases did."""
    monkeypatch.setattr(registration, "made_name", lambda name, _nonce: name)
    monkeypatch.setattr(steps, "_registered_besides", lambda *_: None)


def let_copies_delete(monkeypatch):
    """Delete under another label than the recorded one."""
    monkeypatch.setattr(removal.stack_identity, "other_stack", lambda *_: "")


DEFECTS = {
    "nonces are not compared": (
        forget_who_holds,
        ("legacy",),
        [("rename resource", 0, 0, 0)],
        "default/legacy in east is not registered after a successful `up`",
    ),
    "names without nonces": (
        name_by_id,
        ("scratch",),
        [("second namespace", 0, 0, 0)],
        " is shared by batch/scratch in east and default/scratch in east",
    ),
    "copied states delete": (
        let_copies_delete,
        ("legacy",),
        [("copy rewritten", 0, 0, 0), ("remove", 1, 0, 0)],
        "default/legacy in east, which shop/prod registered, was vol-",
    ),
}


@pytest.mark.parametrize(("defect", "slots", "steps", "sentence"), DEFECTS.values(), ids=DEFECTS)
def test_walk_notices_a_defect(track, monkeypatch, defect, slots, steps, sentence):
    """The same walk is right without the defect."""
    track.assert_safe(slots, steps)
    defect(monkeypatch)

    found = track.walk(slots, steps)

    assert any(sentence in each for each in found.wrong), "\n".join([*found.log, *found.wrong])
