"""What is done about a resource: create, update, replace, nothing."""


def test_outputs_are_printed_where_they_changed(yard):
    """All of them then, with a mark at those that changed. Pulumi's own engine prints them every time."""
    yard.program('pulumi.export("kept", 1); pulumi.export("changed", 1)')
    first, same = yard.up(), yard.up()
    yard.program('pulumi.export("kept", 1); pulumi.export("changed", 2)')

    changed = yard.up()

    printed = [result.text.partition("Outputs:\n")[2].partition("\nResources")[0] for result in (first, same, changed)]
    assert printed == ["    changed: 1\n    kept   : 1\n", "", "  ~ changed: 1 => 2\n    kept   : 1\n"]
