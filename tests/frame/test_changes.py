"""Differences name properties, and replace where that is declared."""

from typing import Annotated

from nomad_csi.frame import properties, resource


class Inputs(properties.Properties):
    id: Annotated[str, properties.Mark.REPLACES]
    places: Annotated[list[dict[str, str]], properties.Mark.REPLACES] = []
    context: dict[str, str] = {}
    adopt: Annotated[bool, properties.Mark.NOT_COMPARED] = False
    capabilities: list[dict[str, str]] = []
    step: Annotated[str, properties.Mark.NOT_RECORDED] = ""


DECLARED = properties.Declaration(token="", input_model=Inputs, output_model=properties.Properties)


def test_top_of_a_path():
    """What is before the first dot or bracket."""
    tops = map(resource.top_of_path, ("context", "context.tier", "places[0].zone"))
    assert list(tops) == ["context", "context", "places"]


def test_difference_names_the_properties():
    """Each once, with those that are added and removed apart."""
    old = {"id": "a", "context": {"tier": "fast"}, "capabilities": [{"accessMode": "r"}]}
    new = {"id": "a", "context": {"tier": "slow"}, "places": []}

    found = resource.difference(DECLARED, old, new, changed={"context", "capabilities"})

    assert (found.updates, found.replaces) == (("capabilities", "context"), ())
    assert (found.added, found.removed) == (frozenset(), {"capabilities"})
    assert resource.difference(DECLARED, {}, old).added == {"id", "context", "capabilities"}


def test_difference_replaces_and_notices():
    """A change of a fixed property replaces, and carries the notice; an update does not."""
    old, new = {"places": [{"zone": "a"}], "id": "x"}, {"places": [{"zone": "b"}], "id": resource.UNKNOWN}

    found = resource.difference(DECLARED, old, new, notice="deregisters first")

    assert found.replaces == ("id", "places")
    assert found.notice == "deregisters first"
    assert resource.difference(DECLARED, {"context": {}}, {"context": {"a": "b"}}, notice="boo").notice == ""


def test_difference_ignores_how_a_step_is_made():
    """A property that only says how to make the object does not change it."""
    found = resource.difference(DECLARED, {"id": "a"}, {"id": "a", "adopt": True})

    assert found == resource.ResourceDiff()
    assert not found.any
    assert DECLARED.recorded({"id": "a", "adopt": True, "step": "x"}) == {"id": "a", "adopt": True}


def test_difference_in_the_outputs_is_added_by_the_caller():
    """What the inputs do not show."""
    found = resource.difference(DECLARED, {"context": {"a": "b"}}, {}, also_updates=("driftType",))

    assert (found.updates, found.replaces) == (("context", "driftType"), ())
