"""The region in which AWS is queried: the one that is named, else that of the storage's zones. Pure."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from nomad_csi.aws import records
from nomad_csi.spec import names

ZONE_KEYS = ("topology.ebs.csi.aws.com/zone", "topology.kubernetes.io/zone")
"""Topology keys whose value is a zone of AWS where the driver is of AWS."""


def zones_of(topologies: Iterable[Mapping[str, str]]) -> set[str]:
    """Return the zones in *topologies*, which are topology segments."""
    return {topology[key] for topology in topologies for key in ZONE_KEYS if key in topology}


@dataclass(frozen=True, kw_only=True)
class Region:
    """The region, or why AWS is not queried."""

    name: str = ""
    """Such as ``us-east-1``; empty: AWS is not queried."""

    reason: str = ""
    """Why AWS is not queried, or did not answer; empty: it was queried, or nothing is of AWS."""

    is_expected: bool = False
    """Whether the user left AWS out."""


NONE = Region(is_expected=True)
"""Nothing is of AWS."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What a user chose."""

    named: str = ""
    """The region named; empty: that of the storage."""

    is_left_out: bool = False
    """Whether AWS is not to be queried."""

    reason: str = ""
    """Why it is left out; empty: the user left it out."""

    default: Callable[[], frozenset[str]] = frozenset
    """Returns the regions of the spec, or of the environment, for storage whose zones name none."""

    def region(self, topologies: Iterable[Mapping[str, str]]) -> Region:
        """Return the region of storage in *topologies*, which are topology segments."""
        if self.is_left_out:
            return Region(reason=self.reason or "AWS was not queried (--no-aws)", is_expected=True)
        if self.named:
            return Region(name=self.named)
        known = names.region_of_zones(zones_of(topologies)) or self.default()
        if len(known) > 1:
            return Region(reason=f"several AWS regions are known: {', '.join(sorted(known))}; name one: --aws-region")
        if not known:
            return Region(reason="no AWS region is known; name it: --aws-region")
        return Region(name=next(iter(known)))

    def region_of_volumes(self, volumes: Iterable[Any]) -> Region:
        """Return the region of the EBS volumes among *volumes*; where there are none, only a named one is queried."""
        ebs = [volume for volume in volumes if records.is_ebs(volume.external_id)]
        if not ebs and not self.named:
            return NONE
        return self.region(topology for volume in ebs for topology in volume.topologies)


BY_STORAGE = Choice()
"""AWS is queried where the storage names a region."""

LEFT_OUT = Choice(is_left_out=True)
"""AWS is not queried."""
