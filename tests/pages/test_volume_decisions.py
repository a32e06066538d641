"""The page of what is decided about a volume names each refusal."""

import typing

from nomad_csi.volumes import decide, facts
from tests.model import tree
from tests.pages import volume_decisions as page


def test_each_refusal_and_each_registration_has_its_words():
    """A new one needs some."""
    assert tuple(page.REASONS) == typing.get_args(decide.Refusal)
    assert set(page.reasons()) == set(page.REASONS)
    assert {*page.REGISTRATIONS, "unseen"} == set(tree.values(facts.Presence)["registration"])
    assert tuple(page.ENDS) == tree.values(facts.Removal)["ends"]
