"""The region in which AWS is queried: all cases of what is named, left out, of zones and of the spec."""

import itertools
import types

import pytest

from nomad_csi.aws import regions

EBS, EFS = "vol-0123456789abcdef0", "fs-0123456789abcdef0"
ZONES = {"": (), "us": ("us-east-1a", "us-east-1b"), "us, eu": ("us-east-1a", "eu-west-1a"), "no zone": ("rack-1",)}
DEFAULTS = {"": frozenset(), "ap": frozenset({"ap-south-1"}), "ap, ca": frozenset({"ap-south-1", "ca-west-1"})}


def expected(named, is_left_out, zones, default):
    """Return region and reason, by the table of the page on finding stuck claims."""
    if is_left_out:
        return "", "AWS was not queried (--no-aws)"
    if named:
        return named, ""
    known = {"us": ["us-east-1"], "us, eu": ["eu-west-1", "us-east-1"]}.get(zones) or sorted(DEFAULTS[default])
    if len(known) == 1:
        return known[0], ""
    several = f"several AWS regions are known: {', '.join(known)}; name one: --aws-region"
    return "", several if known else "no AWS region is known; name it: --aws-region"


@pytest.mark.parametrize("key", regions.ZONE_KEYS)
def test_region_of_every_choice(key):
    """The zones go before the spec, the option before both, and --no-aws before all."""
    for named, is_left_out, zones, default in itertools.product(("", "sa-east-1"), (False, True), ZONES, DEFAULTS):
        choice = regions.Choice(named=named, is_left_out=is_left_out, default=lambda at=default: DEFAULTS[at])
        name, reason = expected(named, is_left_out, zones, default)

        found = choice.region([{key: zone, "other": "us-west-2a"} for zone in ZONES[zones]])

        assert found == regions.Region(name=name, reason=reason, is_expected=is_left_out)


@pytest.mark.parametrize(
    ("external_ids", "named", "region"),
    [
        ((), "", regions.NONE),
        ((EFS,), "", regions.NONE),
        ((EFS,), "sa-east-1", regions.Region(name="sa-east-1")),
        ((EFS, EBS), "", regions.Region(name="us-east-1")),
        ((EBS,), "sa-east-1", regions.Region(name="sa-east-1")),
    ],
)
def test_region_of_volumes_is_that_of_ebs_volumes(external_ids, named, region):
    """Without one, EC2 has no answer on a volume."""
    zones = {EBS: "us-east-1a", EFS: "eu-west-1a"}
    found = [
        types.SimpleNamespace(external_id=item, topologies=({regions.ZONE_KEYS[0]: zones[item]},))
        for item in external_ids
    ]

    assert regions.Choice(named=named).region_of_volumes(found) == region


def test_default_is_not_read_where_a_zone_names_the_region():
    """A large spec takes seconds."""
    choice = regions.Choice(default=lambda: pytest.fail("read"))

    assert choice.region([{regions.ZONE_KEYS[0]: "us-east-1a"}]).name == "us-east-1"
    left_out = regions.Choice(is_left_out=True, reason="no SDK").region([])
    assert left_out == regions.Region(reason="no SDK", is_expected=True)
