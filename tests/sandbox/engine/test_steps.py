"""What is done about a resource: create, update, replace, nothing."""


def test_outputs_are_printed_where_they_changed(yard):
    """All of them then, with a mark at those that changed. Pulumi's own engine prints them every time."""
    yard.program('pulumi.export("kept", 1); pulumi.export("changed", 1)')
    first, same = yard.up(), yard.up()
    yard.program('pulumi.export("kept", 1); pulumi.export("changed", 2)')

    changed = yard.up()

    printed = [result.text.partition("Outputs:\n")[2].partition("\nResources")[0] for result in (first, same, changed)]
    assert printed == ["    changed: 1\n    kept   : 1\n", "", "  ~ changed: 1 => 2\n    kept   : 1\n"]


def test_import_of_what_does_not_exist_is_refused(yard):
    """The id is named."""
    yard.program('toy.Thing("one", value="mine", opts=options(import_="thing-one-9"))')

    result = yard.run("up", "--skip-preview")

    assert result.code == 1
    assert result.messages() == ["resource 'thing-one-9' does not exist"]


def test_duplicate_names_are_refused(yard):
    """With the real engine's sentence."""
    yard.program('toy.Thing("one"); toy.Thing("one")')

    result = yard.run("preview")

    assert result.messages() == [
        "Duplicate resource URN 'urn:pulumi:dev::yard::toy:index:Thing::one'; try giving it a unique name"
    ]
