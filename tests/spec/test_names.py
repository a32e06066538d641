"""What names may look like."""

import json
from pathlib import Path

import pytest

from nomad_csi.spec import names, schema
from tests import tables

ZONES = [
    ("us-east-1a", "us-east-1"),
    ("us-gov-west-1b", "us-gov-west-1"),
    ("us-west-2-lax-1a", "us-west-2"),
    ("us-east-1-wl1-bos-wlz-1", "us-east-1"),
    ("us-east-1-wl1-bos-wlz-1a", "us-east-1"),
    ("eu-isoe-west-1a", "eu-isoe-west-1"),
    ("eusc-de-east-1a", "eusc-de-east-1"),
    ("eu-north-12b", "eu-north-12"),
]


@pytest.mark.parametrize(("zone", "region"), ZONES)
def test_a_zone_begins_with_its_region(zone, region):
    """What is taken as a zone has a region that is taken, too, and that is none itself."""
    assert names.AVAILABILITY_ZONE.fullmatch(zone)
    assert names.AWS_REGION.fullmatch(region)
    assert not names.AVAILABILITY_ZONE.fullmatch(region)
    assert not names.AWS_REGION.fullmatch(zone)
    assert names.region_of_zone(zone) == region


@pytest.mark.parametrize("text", ["", "us-east-1", "us-central1-a", "europe-west-1a", "US-EAST-1A", "us-east-1ab"])
def test_what_is_no_zone_of_aws_has_no_region(text):
    """It is left out of the regions of several."""
    assert names.region_of_zone(text) == ""
    assert names.region_of_zones([text, "us-east-1a", "us-east-1b"]) == {"us-east-1"}


def test_name_in_a_urn_is_whole():
    """It may have the signs that separate the parts."""
    assert names.read_urn("urn:pulumi:prod::shop::a:b:C$d:e:F::x::y") == ("prod", "shop", "a:b:C$d:e:F", "x::y")


def test_forms_of_texts_are_as_reviewed():
    """Of values and of keys, as editors check them."""
    found = set()

    def note(part):
        found.update(part.get("patternProperties", ()))
        if isinstance(part.get("pattern"), str):
            found.add(part["pattern"])
        return part

    json.loads(json.dumps(schema.document()), object_hook=note)

    assert sorted(found) == tables.load(Path(__file__).parent / "forms.yaml")
