"""What a preview says, and that it changes nothing."""


def test_preview_shows_unknowns_and_changes_nothing(yard):
    """Outputs that only a create can tell are unknown; there is no state file after it."""
    yard.program('one = toy.Thing("one"); toy.Thing("two", value=one.serial); pulumi.export("serial", one.serial)')

    result = yard.run("preview")

    assert result.code == 0
    assert result.outputs == {"serial": "[unknown]"}
    assert "serial: [unknown]" in result.text
    assert "+ 3 to create" in result.text
    assert yard.things() == []
    assert not yard.state_file.exists()


def test_preview_knows_an_id_that_the_provider_tells(yard):
    """An id that is known in advance is known to the program."""
    yard.program('pulumi.export("id", toy.Thing("one", knownId=True).id)')

    assert yard.run("preview").outputs == {"id": "thing-one-known"}


def test_up_previews_first_and_stops_where_the_preview_fails(yard):
    """An error that a preview sees keeps everything else from being made."""
    yard.program('toy.Thing("good"); toy.Thing("bad", value="refuse")')

    result = yard.run("up")

    assert result.code == 1
    assert result.preview["result"] == "failed"
    assert "Updating" not in result.text
    assert yard.things() == []
    assert result.messages() == ["toy:index:Thing resource 'bad' has a problem: value: expected another word"]


def test_up_tells_what_it_planned_and_what_it_did(yard):
    """The result has both phases, the text both titles."""
    yard.program('toy.Thing("one")')

    result = yard.run("up")

    assert result.code == 0
    assert result.preview["counts"] == result.counts == {"create": 2}
    assert result.text.index("Previewing update (dev):") < result.text.index("Updating (dev):")


def test_protected_resource_is_not_deleted_and_the_preview_says_so(yard):
    """With the next step, in the real engine's words."""
    yard.program('toy.Thing("one", opts=options(protect=True))')
    yard.up()
    yard.program("")

    result = yard.run("preview")

    urn = "urn:pulumi:dev::yard::toy:index:Thing::one"
    assert result.code == 1
    assert result.messages() == [
        f'Preview failed: resource "{urn}" cannot be deleted\n'
        "because it is protected. To unprotect the resource, either remove the `protect` flag from the resource in "
        f"your Pulumi program and run `pulumi up`, or use the command:\n`pulumi state unprotect '{urn}'`"
    ]
    assert yard.run("up").code == 1
    assert yard.run("destroy").code == 1
    assert yard.things() == ["thing-one-1"]


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


def test_protected_dependent_stops_a_replacement_that_would_take_it(yard):
    """Nothing is deleted for the sake of the replacement."""
    text = """
        root = toy.Thing("root", zone="ZONE", deleteFirst=True)
        toy.Thing("kept", serialOf=root.serial, opts=options(protect=True))
    """
    yard.program(text.replace("ZONE", "a"))
    yard.up()
    yard.program(text.replace("ZONE", "b"))

    result = yard.run("up", "--skip-preview")

    assert "as part of replacing" in result.messages()[0]
    assert yard.calls("Delete") == []


def test_taking_the_protection_off_allows_the_deletion(yard):
    """In two runs, as the message says."""
    yard.program('toy.Thing("one", opts=options(protect=True))')
    yard.up()
    yard.program('toy.Thing("one")')

    result = yard.up()

    assert "[diff: ~protect]" in result.text
    yard.program("")
    assert yard.up().ops() == [("delete", "one")]


def test_expect_no_changes_fails_before_anything_changes(yard):
    """And passes where there is nothing to do."""
    yard.program('toy.Thing("one")')

    result = yard.run("up", "--expect-no-changes")

    assert result.code == 7
    assert result.messages() == ["no changes were expected but changes were proposed"]
    assert yard.things() == []
    yard.up()
    assert yard.run("up", "--expect-no-changes").code == 0
