"""
Replacements that failed half-way, and what the next run does about them.

The order of calls is that of the real engine, pulumi 3.260, with which ``tests/real/engines`` compares it.
"""

import pytest

ERROR = {"kind": "error", "message": "not today"}
NAMED_BY_ITS_PLACE = 'deleteFirst="changed", sameId=True'
"""As our provider did once: deletion ahead is asked for with a difference only, old and new have one id."""


def declare(yard, zone, more=NAMED_BY_ITS_PLACE):
    yard.program(f'toy.Thing("one", zone="{zone}", {more})')


def break_replacement(yard, more=NAMED_BY_ITS_PLACE):
    """Let the creation fail after the old thing was deleted; leave a yard that fails no more."""
    declare(yard, "a", more)
    yard.up()
    declare(yard, "b", more)
    yard.fault(Create_one=ERROR)
    result = yard.run("up", "--skip-preview")
    assert (result.code, yard.things()) == (1, [])
    assert yard.resource("one")["pendingReplacement"] is True
    yard.fault()
    yard.forget_calls()


def changes(yard):
    """Return what the provider was asked to change, in order."""
    return [call["method"] for call in yard.calls() if call["method"] in ("Create", "Update", "Delete")]


def test_reverted_replacement_deletes_once_more_after_the_new_object_came(yard):
    """With no difference left the provider asks for no deletion ahead, and the replacement of that id is deleted."""
    break_replacement(yard)
    declare(yard, "a")

    result = yard.up()

    assert changes(yard) == ["Create", "Delete"]
    assert result.ops() == [("create-replacement", "one"), ("replace", "one"), ("delete-replaced", "one")]
    assert yard.things() == []
    assert "pendingReplacement" not in yard.resource("one")


@pytest.mark.parametrize(
    "more",
    ["deleteFirst=True, sameId=True", "sameId=True, opts=options(delete_before_replace=True)"],
    ids=["the provider always asks for it", "the program asks for it"],
)
def test_deletion_ahead_that_holds_without_a_difference_is_not_repeated(yard, more):
    """What was deleted ahead is deleted; the new object stays."""
    break_replacement(yard, more)
    declare(yard, "a", more)

    result = yard.up()

    assert changes(yard) == ["Create"]
    assert result.ops() == [("replace", "one"), ("create-replacement", "one")]
    assert "thing-one-1" in yard.things()


def test_replacement_by_a_third_value_is_not_deleted(yard):
    """There is a difference, so that the provider asks for deletion ahead, which has been done."""
    break_replacement(yard)
    declare(yard, "c")

    yard.up()

    assert changes(yard) == ["Create"]


def test_second_deletion_that_fails_leaves_the_new_object_alone_in_the_state(yard):
    """The run fails; the old object was out of the state already, and the next run deletes nothing."""
    break_replacement(yard)
    declare(yard, "a")
    yard.fault(Delete_one=ERROR)

    result = yard.run("up", "--skip-preview")

    assert (result.code, result.messages()) == (1, ["not today"])
    assert yard.names() == ["one"]
    assert "pendingReplacement" not in yard.resource("one")
    yard.fault()
    yard.forget_calls()
    yard.up()
    assert changes(yard) == []


def test_resource_that_left_the_program_is_dropped_without_a_deletion(yard):
    """It was deleted by the run that failed."""
    break_replacement(yard)
    yard.program("")

    yard.up()

    assert changes(yard) == []
    assert yard.names() == []


def test_destroy_forgets_what_a_failed_replacement_deleted(yard):
    """Nothing is deleted a second time."""
    break_replacement(yard)

    yard.run("destroy", "--skip-preview")

    assert changes(yard) == []
    assert yard.deployment["resources"] == []


def test_protection_holds_against_the_replacement_of_what_is_gone(yard):
    """Protected in state and program, it is not made again until the program gives the protection up."""
    declare(yard, "a", f"{NAMED_BY_ITS_PLACE}, opts=options(protect=True)")
    yard.up()
    declare(yard, "b")
    yard.fault(Create_one=ERROR)
    yard.run("up", "--skip-preview")
    yard.fault()
    yard.forget_calls()
    declare(yard, "a", f"{NAMED_BY_ITS_PLACE}, opts=options(protect=True)")

    result = yard.run("up", "--skip-preview")

    assert result.code == 1
    assert "as it is currently marked for protection" in result.messages()[0]
    assert changes(yard) == []


CHAIN = """
    root = toy.Thing("root", zone="ZONE", deleteFirst=FIRST)
    middle = toy.Thing("middle", serialOf=root.serial, deleteFirst=FIRST)
    toy.Thing("user", value=root.serial)
"""


def chain(yard, zone, first):
    yard.program(CHAIN.replace("ZONE", zone).replace("FIRST", first))


@pytest.mark.parametrize(
    ("first", "deleted"), [("True", ["middle"]), ("'changed'", ["root"])], ids=["always", "with a difference"]
)
def test_dependents_of_a_reverted_replacement(yard, first, deleted):
    """Deletion ahead of a root that is gone takes its dependents once more; without it only the root is repeated."""
    chain(yard, "a", first)
    yard.up()
    chain(yard, "b", first)
    yard.fault(Create_root=ERROR)
    yard.run("up", "--skip-preview")
    assert [call["name"] for call in yard.calls("Delete")] == ["middle", "root"]
    yard.fault()
    yard.forget_calls()
    chain(yard, "a", first)

    yard.up()

    assert [call["name"] for call in yard.calls("Delete")] == deleted
    assert [call["name"] for call in yard.calls("Create")] == ["root", "middle"]
    assert not any(each.get("pendingReplacement") for each in yard.deployment["resources"])
