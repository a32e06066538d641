"""docs/reference/compatibility.md says of the releases of Nomad what the product's table says."""

import re

import pytest

from nomad_csi.drivers import catalogue
from nomad_csi.nomad import version_gates
from tests import releases
from tests.docs.test_readme import README
from tests.pages import compatibility

PAGE = compatibility.page()


def test_differences_that_nobody_notices_are_left_out():
    """The others each have a row."""
    known = releases.differences()
    noticed = [each for each in known.values() if not each.felt.startswith("Nothing.")]

    assert len(compatibility.differences()) == len(noticed) + 3
    assert 0 < len(noticed) < len(known)


def test_oldest_releases_are_named_wherever_one_looks():
    """README and page name the oldest Nomad and Pulumi; the oldest Nomad was tried."""
    found = version_gates.releases()

    assert found.tried[0] == found.oldest
    for text in (PAGE, README):
        assert found.oldest in text
        assert found.pulumi in text
    assert f"The AWS EBS driver needs Nomad {catalogue.DRIVERS['aws-ebs'].minimum_nomad}" in re.sub(r"\s+", " ", PAGE)


@pytest.mark.parametrize("name", releases.differences())
def test_a_difference_lies_between_releases_that_were_tried(name):
    """It was seen: the oldest that was tried does otherwise, the newest does it."""
    oldest, *_, newest = version_gates.releases().tried

    assert (releases.has(name, oldest), releases.has(name, newest)) == (False, True)


@pytest.mark.parametrize(
    ("version", "found"),
    [("1.7.15", False), ("1.7.16", True), ("1.8.4", False), ("1.8.8+ent", True), ("1.9.3", False), ("2.0.6-dev", True)],
)
def test_release_lines_count_apart(version, found):
    """A repair that went into older lines is there from their release on."""
    assert releases.has("some-segments-suffice", version) is found


def test_what_is_no_version_has_no_answer():
    """As any other word."""
    assert releases.has("host-volumes", "newest") is None
