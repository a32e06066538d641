"""What is done about a resource: create, update, replace, nothing."""


def test_up_creates_what_the_program_wants(yard):
    """Things, their outputs and the stack's outputs are in the world, the state and the result."""
    yard.program('thing = toy.Thing("one", value="v"); pulumi.export("serial", thing.serial)')

    result = yard.up()

    assert result.counts == {"create": 2}
    assert result.outputs == {"serial": 1}
    assert yard.things() == ["thing-one-1"]
    assert yard.resource("one")["outputs"] == {"echo": "v", "serial": 1, "value": "v"}


def test_outputs_are_printed_where_they_changed(yard):
    """All of them then, with a mark at those that changed. Pulumi's own engine prints them every time."""
    yard.program('pulumi.export("kept", 1); pulumi.export("changed", 1)')
    first, same = yard.up(), yard.up()
    yard.program('pulumi.export("kept", 1); pulumi.export("changed", 2)')

    changed = yard.up()

    printed = [result.text.partition("Outputs:\n")[2].partition("\nResources")[0] for result in (first, same, changed)]
    assert printed == ["    changed: 1\n    kept   : 1\n", "", "  ~ changed: 1 => 2\n    kept   : 1\n"]


def test_second_up_changes_nothing_and_still_asks_for_the_difference(yard):
    """Diff is asked also when inputs are equal; nothing is created or updated."""
    yard.program('toy.Thing("one", value="v")')
    yard.up()
    yard.forget_calls()

    result = yard.up()

    assert result.counts == {"same": 2}
    assert [call["method"] for call in yard.calls() if call.get("name") == "one"] == ["Check", "Diff"]


def test_changed_input_updates_in_place_and_names_the_property(yard):
    """The id stays, the result and the display name what changed."""
    yard.program('toy.Thing("one", value="v")')
    yard.up()
    yard.program('toy.Thing("one", value="w")')

    result = yard.up()

    [update] = [each for each in result.operations if each["op"] == "update"]
    assert (update["name"], update["changed"]) == ("one", ["value"])
    assert "~  toy:index:Thing one updating (0s) [diff: ~value]" in result.text
    assert yard.resource("one")["id"] == "thing-one-1"


def test_replacement_creates_first_and_deletes_last(yard):
    """Dependents move to the new object before the old one goes."""
    yard.program('one = toy.Thing("one", zone="a"); toy.Thing("two", value=one.serial)')
    yard.up()
    yard.forget_calls()
    yard.program('one = toy.Thing("one", zone="b"); toy.Thing("two", value=one.serial)')

    result = yard.up()

    done = [(call["method"], call["name"]) for call in yard.calls() if call["method"] in ("Create", "Update", "Delete")]
    assert done == [("Create", "one"), ("Update", "two"), ("Delete", "one")]
    assert result.counts == {"same": 1, "replace": 1, "update": 1}
    assert yard.things() == ["thing-one-2", "thing-two-1"]


def test_delete_before_replace_takes_dependents_that_would_be_replaced(yard):
    """Leaf, middle, root are deleted in that order; who only uses a value in place is not."""
    text = """
        root = toy.Thing("root", zone="ZONE", deleteFirst=True)
        middle = toy.Thing("middle", serialOf=root.serial, deleteFirst=True)
        toy.Thing("user", value=root.serial)
        toy.Thing("end", serialOf=middle.serial)
    """
    yard.program(text.replace("ZONE", "a"))
    yard.up()
    yard.forget_calls()
    yard.program(text.replace("ZONE", "b"))

    result = yard.up()

    assert [call["name"] for call in yard.calls("Delete")] == ["end", "middle", "root"]
    assert [call["name"] for call in yard.calls("Create")] == ["root", "middle", "end"]
    assert result.counts == {"same": 1, "replace": 3, "update": 1}
    assert not any(each.get("pendingReplacement") for each in yard.deployment["resources"])


def test_ignored_changes_are_not_made(yard):
    """What ``ignoreChanges`` names stays as it is, also where it is nested."""
    text = 'toy.Thing("one", value={"a": %s, "b": 0}, opts=options(ignore_changes=["value.a"]))'
    yard.program(text % 1)
    yard.up()
    yard.program(text % 2)

    result = yard.up()

    assert result.ops() == []
    assert yard.resource("one")["inputs"] == {"value": {"a": 1, "b": 0}}


def test_replace_on_changes_replaces_for_what_would_be_an_update(yard):
    """The program's word forces a new object."""
    text = 'toy.Thing("one", value=%d, opts=options(replace_on_changes=["value"]))'
    yard.program(text % 1)
    yard.up()
    yard.program(text % 2)

    result = yard.up()

    assert result.ops() == [("create-replacement", "one"), ("replace", "one"), ("delete-replaced", "one")]


def test_alias_renames_without_touching_the_object(yard):
    """The state has the new names, references included; a child follows its parent."""
    text = 'box = toy.Box("%s", value=1, opts=options(aliases=%s)); toy.Thing("user", value=box.thing.serial)'
    yard.program(text % ("old", "[]"))
    yard.up()
    yard.forget_calls()
    yard.program(text % ("new", '[pulumi.Alias(name="old")]'))

    result = yard.up()

    assert result.ops() == []
    assert yard.calls("Create") == yard.calls("Delete") == []
    assert yard.names() == ["new", "user"]
    assert yard.resource("user")["dependencies"] == [yard.resource("new")["urn"]]
    assert "::old" not in yard.state_file.read_text(encoding="utf-8")


def test_import_takes_an_object_in_and_then_changes_it(yard):
    """What differs from the program is updated in the same run; afterwards nothing is left to do."""
    (yard.world / "thing-one-1.json").write_text('{"value": "theirs"}', encoding="utf-8")
    yard.program('toy.Thing("one", value="mine", opts=options(import_="thing-one-1"))')

    result = yard.up()

    assert result.ops() == [("import", "one"), ("update", "one")]
    assert (yard.resource("one")["id"], yard.resource("one")["importID"]) == ("thing-one-1", "thing-one-1")
    assert yard.up().counts == {"same": 2}


def test_import_of_what_does_not_exist_is_refused(yard):
    """The id is named."""
    yard.program('toy.Thing("one", value="mine", opts=options(import_="thing-one-9"))')

    result = yard.run("up", "--skip-preview")

    assert result.code == 1
    assert result.messages() == ["resource 'thing-one-9' does not exist"]


def test_retained_object_outlives_its_resource(yard):
    """``retainOnDelete`` removes the state and leaves the world alone."""
    yard.program('toy.Thing("one", value=1, opts=options(retain_on_delete=True))')
    yard.up()
    yard.program("")

    result = yard.up()

    assert result.ops() == [("delete", "one")]
    assert yard.names() == []
    assert yard.things() == ["thing-one-1"]


def test_duplicate_names_are_refused(yard):
    """With the real engine's sentence."""
    yard.program('toy.Thing("one"); toy.Thing("one")')

    result = yard.run("preview")

    assert result.messages() == [
        "Duplicate resource URN 'urn:pulumi:dev::yard::toy:index:Thing::one'; try giving it a unique name"
    ]


def test_dependencies_given_late_are_recorded(yard):
    """``depends_on`` may be an output; explicit providers configure their resources."""
    yard.program(
        """
        provider = toy.Toy("own", prefix="p-")
        one = toy.Thing("one", opts=options(provider=provider))
        toy.Thing("two", opts=options(depends_on=pulumi.Output.from_input([one])))
        """
    )

    yard.up()

    assert yard.resource("two")["dependencies"] == [yard.resource("one")["urn"]]
    assert yard.things() == ["p-thing-one-1", "thing-two-1"]
