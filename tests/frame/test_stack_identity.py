"""Which stack made an object, by its outputs."""

import pytest

from nomad_csi import errors
from nomad_csi.frame import resource, stack_identity


@pytest.mark.parametrize(
    ("outputs", "now", "is_other"),
    [
        ({"owner": "shop/prod", "stack": "shop/prod"}, "shop/prod", False),
        ({"owner": "shop/prod", "stack": "shop/prod"}, "shop/test", True),
        ({"owner": "shop/prod"}, "shop/test", True),  # of an older release
        ({"owner": "ops/by-hand", "stack": "shop/prod"}, "shop/test", False),  # an owner that was set by hand
        ({}, "shop/test", False),
        ({"owner": "shop/prod", "stack": "shop/prod"}, "", False),
    ],
)
def test_label_of_the_state_is_that_of_the_stack(outputs, now, is_other):
    """Else it was renamed, or copied: nothing is removed before an `up` took it over."""
    context = resource.Context(connect=lambda: None, stack=now)

    assert bool(stack_identity.other_stack(context, outputs)) is is_other


def test_id_is_read_from_the_state_and_imported_by_itself():
    """Nothing else has it; another id than one of ours is refused."""
    kind, context = stack_identity.StackIdentityResource(), resource.Context(connect=lambda: None, stack="shop/prod")
    inputs, known = {"stack": "shop/prod"}, {"stack": "shop/prod", "stackId": "0123456789abcdef"}

    assert kind.read(context, "x", inputs, known) == (inputs, known)
    assert kind.read(context, "0123456789abcdef", {}, {}) == (inputs, known)
    with pytest.raises(errors.SpecError, match=r"id: expected 16 hexadecimal digits, got 'x'"):
        kind.read(context, "x", {}, {})
