"""What a preview says, and that it changes nothing."""


def test_preview_shows_unknowns_and_changes_nothing(yard):
    """Outputs that only a create can know are unknown; there is no state file after it."""
    yard.program('one = toy.Thing("one"); toy.Thing("two", value=one.serial); pulumi.export("serial", one.serial)')

    result = yard.run("preview")

    assert result.code == 0
    assert result.outputs == {"serial": "[unknown]"}
    assert "serial: [unknown]" in result.text
    assert "+ 3 to create" in result.text
    assert yard.things() == []
    assert not yard.state_file.exists()


def test_up_previews_first_and_stops_where_the_preview_fails(yard):
    """An error that a preview sees keeps everything else from being made."""
    yard.program('toy.Thing("good"); toy.Thing("bad", value="refuse")')

    result = yard.run("up")

    assert result.code == 1
    assert result.preview["result"] == "failed"
    assert "Updating" not in result.text
    assert yard.things() == []
    assert result.messages() == ["toy:index:Thing resource 'bad' has a problem: value: expected another word"]


def test_protected_resource_is_not_replaced_and_the_preview_shows_the_rest(yard):
    """The preview goes on past the refusal; an update does not."""
    yard.program('toy.Thing("one", zone="a", opts=options(protect=True))')
    yard.up()
    yard.program('toy.Thing("one", zone="b", opts=options(protect=True)); toy.Thing("two")')

    result = yard.run("preview")

    assert ("replace", "one") in result.ops()
    assert ("create", "two") in result.ops()
    assert [message.splitlines()[0] for message in result.messages()] == [
        'unable to replace resource "urn:pulumi:dev::yard::toy:index:Thing::one"'
    ]
    assert yard.run("up", "--skip-preview").code == 1
    assert "thing-one-1" in yard.things()


def test_expect_no_changes_fails_before_anything_changes(yard):
    """And passes where there is nothing to do."""
    yard.program('toy.Thing("one")')

    result = yard.run("up", "--expect-no-changes")

    assert result.code == 7
    assert result.messages() == ["no changes were expected but changes were proposed"]
    assert yard.things() == []
    yard.up()
    assert yard.run("up", "--expect-no-changes").code == 0
