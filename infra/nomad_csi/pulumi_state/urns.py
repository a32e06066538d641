"""
The name that Pulumi gives a resource: ``urn:pulumi:STACK::PROJECT::TYPES::NAME``. Pure.

Source: pulumi/pulumi, ``URN`` in ``sdk/go/common/resource/urn/urn.go``, 2026-08.
"""

from typing import NamedTuple


class UrnParts(NamedTuple):
    """The parts of a URN."""

    stack: str
    project: str
    types: str
    """The types of its parents and its own, with ``$`` between them."""

    name: str

    @property
    def type(self) -> str:
        """Its own type, such as ``nomad-csi:index:PluginJob``."""
        return self.types.rpartition("$")[2]


def read(urn: str) -> UrnParts:
    """Return the parts of *urn*."""
    return UrnParts(*urn.removeprefix("urn:pulumi:").split("::", 3))
