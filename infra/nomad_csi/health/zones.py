"""The zone of a client as Nomad found it, and the zone of an instance as its driver reports it."""

from collections.abc import Mapping

from nomad_csi.nomad.records import nodes

CLIENT_ATTRIBUTES = ("platform.aws.placement.availability-zone", "platform.gce.zone")
"""
Where Nomad's fingerprint puts a client's zone.

Source: hashicorp/nomad, ``client/fingerprint/env_aws.go`` and ``env_gce.go``, 2026-08-21.
"""

SEGMENT_SUFFIX = "/zone"
"""How topology keys of zones end, such as ``topology.ebs.csi.aws.com/zone``."""


def of_client(node: nodes.Node) -> str:
    """Return the zone that *node* is in by Nomad's own check the machine; empty where that is not known."""
    return next((node.attributes[name] for name in CLIENT_ATTRIBUTES if node.attributes.get(name)), "")


def of_segments(segments: Mapping[str, str]) -> str:
    """Return the zone among topology *segments*; empty where none is named."""
    return next((value for key, value in sorted(segments.items()) if key.endswith(SEGMENT_SUFFIX)), "")
