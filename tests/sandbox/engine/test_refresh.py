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


def test_failed_read_stops_a_refresh_and_loses_nothing(yard):
    """What could not be read stays as it was known."""
    yard.program('toy.Thing("one"); toy.Thing("two")')
    yard.up()
    yard.fault(Read_one={"kind": "error", "message": "cannot say"})

    result = yard.run("refresh", "--skip-preview")

    assert result.messages() == ["cannot say"]
    assert yard.names() == ["one", "two"]


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
