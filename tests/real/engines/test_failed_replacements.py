"""
Replacements that fail, on both engines: calls of the provider, states, pending operations and words after each step.

Measured with pulumi 3.260. What was deleted ahead of a replacement that failed stays in the state as
``pendingReplacement``. The next run asks for its difference and replaces it whatever the answer. Where that asks for
deletion ahead (``deleteBeforeReplace`` of the provider or of the program), the new object is made and nothing more is
deleted but, once more, dependents that fall with it. Where it does not, as providers answer that find no difference
because the change was taken back, the new object is made and the old one is deleted after that, a second time.
"""

import json

import pytest

from tests.real.engines import sides

PROGRAM = "scripted_program.py"
ERROR = {"kind": "error", "message": "not today"}
LATE = ERROR | {"after": "Update"}
"""Fails when the update that runs beside it has begun: which of the two comes first is chance otherwise."""

HALF = {"kind": "init", "message": "not ready yet"}
KILL = {"kind": "kill"}
OWN_ID = {"deleteFirst": "changed", "sameId": True}
"""Deletion ahead is asked for with a difference only, and old and new have one id."""

BEFORE, PROTECTED, KEPT = (
    {"options": {name: True}} for name in ("delete_before_replace", "protect", "retain_on_delete")
)


def one(zone, **more):
    """Return the things of a step: one, in *zone*; another zone replaces it."""
    return {"one": {"zone": zone, **more}}


def own(zone, **more):
    return one(zone, **OWN_ID, **more)


def chain(zone, first="changed"):
    """Return a root, a thing that is replaced with it, and two that only take a value of what is before them."""
    return {
        "root": {"zone": zone, "deleteFirst": first},
        "middle": {"serialOf": "@root", "deleteFirst": first},
        "leaf": {"value": "@middle"},
        "user": {"value": "@root"},
    }


def up(things, **faults):
    return "up", things, {name.replace("_", ":"): fault for name, fault in faults.items()}


def preview(things):
    return "preview", things, {}


BROKEN = (up(own("a")), up(own("b"), Create_one=ERROR))
"""The old thing is deleted, the new one cannot be made."""

CASES = {
    "taken back": (*BROKEN, preview(own("a")), up(own("a")), preview(own("a"))),
    "another value": (*BROKEN, preview(own("c")), up(own("c"))),
    "tried again": (*BROKEN, up(own("b"))),
    "left the program": (*BROKEN, preview({}), up({})),
    "refreshed, then taken back": (*BROKEN, ("refresh", own("a"), {}), up(own("a"))),
    "destroyed": (*BROKEN, ("destroy", {}, {})),
    "taken back, second deletion fails": (*BROKEN, up(own("a"), Delete_one=ERROR), up(own("a"))),
    "taken back, fails again": (*BROKEN, up(own("a"), Create_one=ERROR), up(own("a"))),
    "taken back, half made": (*BROKEN, up(own("a"), Created_one=HALF), up(own("a"))),
    "taken back, no difference to be had": (*BROKEN, up(own("a"), Diff_one=ERROR), up(own("a"))),
    "taken back under another name": (
        *BROKEN,
        up({"two": own("a", options={"aliases": ["urn:pulumi:dev::yard::toy:index:Thing::one"]})["one"]}),
    ),
    "deletion ahead always": (
        up(one("a", deleteFirst=True)),
        up(one("b", deleteFirst=True), Create_one=ERROR),
        up(one("a", deleteFirst=True)),
    ),
    "deletion ahead by the program": (up(own("a", **BEFORE)), up(own("b", **BEFORE), Create_one=ERROR), up(own("a"))),
    "retained": (up(own("a", **KEPT)), up(own("b", **KEPT), Create_one=ERROR), up(own("a", **KEPT))),
    "protected": (up(own("a", **PROTECTED)), up(own("b"), Create_one=ERROR), up(own("a", **PROTECTED)), up(own("a"))),
    "read before": (
        up(own("a", refreshFirst=True)),
        up(own("b", refreshFirst=True), Create_one=ERROR),
        up(own("a", refreshFirst=True)),
    ),
    "deletion ahead fails": (up(own("a")), up(own("b"), Delete_one=ERROR), up(own("a")), up(own("b"))),
    "creation first fails": (up(one("a")), up(one("b"), Create_one=ERROR), up(one("a")), up(one("b"))),
    "deletion last fails": (
        up(one("a")),
        up(one("b"), Delete_one=ERROR),
        up(one("a"), Delete_one=ERROR),
        preview(one("a")),
        up(one("a")),
    ),
    "killed in the deletion ahead": (up(own("a")), up(own("b"), Delete_one=KILL), up(own("a"))),
    "killed in the creation": (up(own("a")), up(own("b"), Create_one=KILL), up(own("a")), up(own("a"))),
    "killed in the second deletion": (*BROKEN, up(own("a"), Delete_one=KILL), up(own("a"))),
    "killed in the creation before a deletion": (up(one("a")), up(one("b"), Create_one=KILL), up(one("b"))),
    "killed in the deletion after a creation": (up(one("a")), up(one("b"), Delete_one=KILL), up(one("b"))),
    "root of a chain taken back": (up(chain("a")), up(chain("b"), Create_root=ERROR), up(chain("a"))),
    "root of a chain taken back, deletion ahead always": (
        up(chain("a", first=True)),
        up(chain("b", first=True), Create_root=ERROR),
        up(chain("a", first=True)),
    ),
    "middle of a chain taken back": (
        up(chain("a")),
        up(chain("b"), Create_middle=LATE),
        preview(chain("a")),
        up(chain("a")),
    ),
    "middle of a chain tried again": (up(chain("a")), up(chain("b"), Create_middle=LATE), up(chain("b"))),
    "dependent cannot be deleted ahead": (up(chain("a")), up(chain("b"), Delete_middle=ERROR), up(chain("a"))),
    "root cannot be deleted ahead": (up(chain("a")), up(chain("b"), Delete_root=ERROR), up(chain("a"))),
}


@pytest.fixture
def both(tmp_path):
    return sides.make_real(tmp_path, PROGRAM), sides.make_emulator(tmp_path, PROGRAM)


def take(side, states, operation, things, faults):
    """Take a step; return its outcome, all that is to be the same with both engines, and the state."""
    (side.folder / "project" / "things.json").write_text(json.dumps(things), encoding="utf-8")
    side.fault(**faults)
    if operation == "preview":
        planned, agreed = side.preview(0)
        outcome = {"agreed": agreed, "steps": states.shown(planned)}
    else:
        done = getattr(side, operation)(0)
        is_killed = KILL in faults.values()
        outcome = {"code": done.returncode} if not is_killed else {}
        outcome["said"] = states.said(done.stdout + done.stderr) if not is_killed else ()
        if is_killed:
            side.unlock()
    deployment = side.deployment()
    pending = [(each["type"], states.normal([each["resource"]])) for each in deployment.get("pending_operations", ())]
    outcome |= {"calls": side.calls(), "pending": pending}
    return outcome, states.normal(deployment.get("resources", []))


@pytest.mark.sampled(8)
@pytest.mark.parametrize("case", CASES)
def test_both_engines_go_on_alike_after_a_replacement_that_failed(both, states, case):
    """The same calls in the same order, the same states and pending operations, the same summary and diagnostics."""
    for number, step in enumerate(CASES[case]):
        (theirs, kept), (ours, held) = (take(side, states, *step) for side in both)

        assert ours == theirs, f"step {number}, {step}"
        found = states.differences(held, kept)
        assert not found, "\n".join([f"state after step {number}, {step}", *found])


def test_a_replacement_that_is_taken_back_deletes_the_new_object_on_the_real_engine(both, states):
    """What the emulator is held to is what was measured: created, then deleted, and the run succeeds."""
    real, _ = both
    for step in BROKEN:
        take(real, states, *step)

    outcome, _ = take(real, states, *up(own("a")))

    assert outcome["code"] == 0
    assert outcome["calls"] == {"one": ["Check", "Diff", "Check", "Create", "Made", "Delete", "Deleted"]}
    assert list(real.world.glob("thing-one-1.json")) == []
