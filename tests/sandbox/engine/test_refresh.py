"""Reading what there is: ``refresh``, and before an update."""


def test_refresh_takes_drift_over(yard):
    """The state says what is there; the next run changes it back."""
    yard.program('toy.Thing("one", value="v")')
    yard.up()
    (yard.world / "thing-one-1.json").write_text('{"value": "drifted"}', encoding="utf-8")

    result = yard.run("refresh")

    assert result.code == 0
    [update] = [each for each in result.operations if each["op"] == "update"]
    assert update["changed"] == ["value"]
    assert yard.resource("one")["inputs"] == {"value": "drifted"}
    assert yard.up().ops() == [("update", "one")]


def test_refresh_forgets_what_is_gone(yard):
    """In the references of others too."""
    yard.program('one = toy.Thing("one"); toy.Thing("two", value=one.serial)')
    yard.up()
    (yard.world / "thing-one-1.json").unlink()

    result = yard.run("refresh")

    assert result.counts == {"same": 2, "delete": 1}
    assert yard.names() == ["two"]
    assert "dependencies" not in yard.resource("two")


def test_refresh_without_drift_changes_nothing(yard):
    """Secrets included, of which only digests are known."""
    yard.program('toy.Thing("one", value="v", token=pulumi.Output.secret("s"))')
    yard.up()
    before = yard.deployment["resources"]

    result = yard.run("refresh")

    assert result.counts == {"same": 2}
    assert yard.deployment["resources"] == before


def test_refresh_keeps_secret_what_the_program_calls_so(yard):
    """A provider does not know of it; the state must not have it in clear afterwards."""
    yard.program('toy.Thing("one", value="hush-hush", opts=pulumi.ResourceOptions(additional_secret_outputs=["echo"]))')
    yard.up()
    before = yard.resource("one")

    result = yard.run("refresh")

    assert result.counts == {"same": 2}
    assert yard.resource("one") == before
    assert before["outputs"]["value"] == "hush-hush"
    assert "hush-hush" not in str(before["outputs"]["echo"])


def test_what_asks_for_it_is_read_before_an_update(yard):
    """A thing that is gone is made again by a plain ``up``; the preview says so already."""
    yard.program('toy.Thing("one", refreshFirst=True); toy.Thing("two")')
    yard.up()
    (yard.world / "thing-one-1.json").unlink()
    yard.forget_calls()

    planned = yard.run("preview")
    result = yard.up()

    assert planned.ops() == result.ops() == [("create", "one")]
    assert {call["name"] for call in yard.calls("Read")} == {"one"}


def test_what_asks_for_it_is_read_before_a_destroy(yard):
    """A thing that is gone is not deleted once more; the other one is not read."""
    yard.program('toy.Thing("one", refreshFirst=True); toy.Thing("two")')
    yard.up()
    (yard.world / "thing-one-1.json").unlink()
    yard.forget_calls()

    result = yard.run("destroy", "--skip-preview")

    assert result.ops() == [("delete", "two")]
    assert {call["name"] for call in yard.calls("Read")} == {"one"}
    assert {call["name"] for call in yard.calls("Delete")} == {"two"}
    assert yard.names() == []


def test_failed_read_stops_a_refresh_and_loses_nothing(yard):
    """What could not be read stays as it was known."""
    yard.program('toy.Thing("one"); toy.Thing("two")')
    yard.up()
    yard.fault(Read_one={"kind": "error", "message": "cannot say"})

    result = yard.run("refresh", "--skip-preview")

    assert result.messages() == ["cannot say"]
    assert yard.names() == ["one", "two"]


def test_destroy_deletes_dependents_first_and_independent_ones_together(yard):
    """Everything goes; the world is empty and so is the state."""
    yard.program('one = toy.Box("one"); toy.Thing("two", value=one.thing.serial); toy.Thing("three")')
    yard.up()
    yard.forget_calls()

    result = yard.run("destroy")

    deleted = [call["name"] for call in yard.calls("Delete")]
    assert result.counts == {"delete": 5}
    assert deleted.index("two") < deleted.index("one")
    assert yard.things() == []
    assert yard.deployment["resources"] == []


def test_failed_deletion_keeps_what_it_needs(yard):
    """And lets everything else go."""
    yard.program('one = toy.Thing("one"); toy.Thing("two", value=one.serial); toy.Thing("three")')
    yard.up()
    yard.fault(Delete_two={"kind": "error", "message": "in use"})

    result = yard.run("destroy", "--skip-preview")

    assert result.messages() == ["in use"]
    assert yard.names() == ["one", "two"]
    assert yard.things() == ["thing-one-1", "thing-two-1"]


def test_destroy_keeps_the_parent_of_what_could_not_be_deleted(yard):
    """Children go first, though nothing else stands between the two: they may need their parent to the end."""
    yard.program(
        'one = toy.Thing("one"); toy.Thing("two", opts=pulumi.ResourceOptions(parent=one)); toy.Thing("three")'
    )
    yard.up()
    yard.fault(Delete_two={"kind": "error", "message": "in use"})

    result = yard.run("destroy", "--skip-preview")

    assert result.messages() == ["in use"]
    assert yard.names() == ["one", "two"]
    assert yard.things() == ["thing-one-1", "thing-two-1"]
