"""Differences are told by the deepest path, and replace where the declaration says so."""

from nomad_csi.frame import compare, declaration, properties, resource

DECLARED = declaration.Declaration(
    token="",
    description="",
    outputs={},
    inputs={
        "id": properties.Property(kind="text", replaces=True),
        "places": properties.Property(kind="list", replaces=True),
        "context": properties.Property(kind="map"),
        "capabilities": properties.Property(kind="list"),
        "adopt": properties.Property(kind="flag", compared=False),
    },
)


def test_difference_names_the_deepest_paths():
    """Nested changes are told where they are; what appeared and vanished is told apart."""
    old = {"id": "a", "context": {"tier": "fast", "gone": "x"}, "capabilities": [{"accessMode": "r"}]}
    new = {
        "id": "a",
        "context": {"tier": "slow", "new": "y"},
        "capabilities": [{"accessMode": "w"}, {"accessMode": "r"}],
    }

    found = compare.difference(DECLARED, old, new)

    assert found.updates == (
        "capabilities[0].accessMode",
        "capabilities[1]",
        "context.gone",
        "context.new",
        "context.tier",
    )
    assert found.added == {"capabilities[1]", "context.new"}
    assert found.removed == {"context.gone"}
    assert found.replaces == ()


def test_difference_replaces_and_notices():
    """A change of a fixed property replaces, wherever in it, and carries the notice."""
    old, new = {"places": [{"zone": "a"}], "id": "x"}, {"places": [{"zone": "b"}], "id": resource.UNKNOWN}

    found = compare.difference(DECLARED, old, new, notice="deregisters first")

    assert found.replaces == ("id", "places[0].zone")
    assert found.notice == "deregisters first"


def test_difference_has_no_notice_without_a_replacement():
    """An update needs no warning."""
    assert compare.difference(DECLARED, {"context": {}}, {"context": {"a": "b"}}, notice="boo").notice == ""


def test_difference_ignores_how_a_step_is_made():
    """A property that only says how to make the object does not change it."""
    found = compare.difference(DECLARED, {"id": "a"}, {"id": "a", "adopt": True})

    assert found == resource.ResourceDiff()
    assert not found.any


def test_difference_in_the_outputs_is_added_by_the_caller():
    """What the inputs do not show."""
    found = compare.difference(DECLARED, {"context": {"a": "b"}}, {}, also_updates=("driftType",))

    assert (found.updates, found.replaces) == (("context", "driftType"), ())
