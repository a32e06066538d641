"""The page on identity and ownership has the tables of the decision, names each refusal, and stays short."""

import re
import typing

from nomad_csi.volume import decide, facts
from tests.volume import page


def test_tables_are_those_of_the_code():
    """`python -m tests.volume.page` writes them again."""
    assert page.written() == page.PAGE.read_text(encoding="utf-8")


def test_each_refusal_and_each_registration_has_its_words():
    """A new one needs some."""
    assert tuple(page.REASONS) == typing.get_args(decide.Refusal)
    assert set(page.reasons()) == set(page.REASONS)
    assert {*page.REGISTRATIONS, "unseen"} == set(facts.values(facts.Presence)["registration"])
    assert tuple(page.ENDS) == facts.values(facts.Removal)["ends"]


def test_page_can_be_read_at_once():
    """At most 1,500 words."""
    words = re.findall(r"[\w'.:/-]*\w[\w'.:/-]*", page.PAGE.read_text(encoding="utf-8"))

    assert len(words) <= 1500
