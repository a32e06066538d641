"""A catalogue row: the description of a CSI driver, with a date, its sources, its traps, and how far it is proven."""

from typing import Literal

import pydantic

from nomad_csi.spec import access, base, driver, driver_role

RoleName = base.PluginRole
ProofTier = Literal["run", "parsed", "none"]
"""``run``: the driver itself ran; ``parsed``: only its files went through the real parser; ``none``: neither."""


class Proof(base.Model):
    """How far somebody went with one role of a driver, on a machine without an AWS account."""

    tier: ProofTier
    as_of: str = ""
    """Day of the last time; empty for ``none``."""

    versions: tuple[str, ...] = ()
    """With what: each program and its version."""

    proven: tuple[str, ...] = ()
    not_proven: tuple[str, ...]
    """What an operator must still see for themselves."""


class Role(driver_role.RoleSpec):
    """One kind of process of a driver in the catalogue."""

    proof: Proof


class Trap(base.Model):
    """A known way in which this driver surprises people on Nomad."""

    text: str
    source: str
    rule: str = ""
    """The rule of `nomad-csi lint` that a job with this trap breaks; empty: there is none."""

    signs: tuple[base.Expression, ...] = ()
    """Regular expressions for what its tasks' events and logs say then, in any part of a line."""


class Driver(driver.DriverSpec):
    """A CSI driver of the catalogue; ``name`` is its key there."""

    as_of: str
    """Day on which this row was last compared with its sources."""

    sources: tuple[str, ...]
    credentials: tuple[str, ...] = ()
    """Where its credentials come from, and how they stay out of arguments, in words."""

    roles: dict[RoleName, Role] = pydantic.Field(min_length=1)  # type: ignore[assignment]  # each role is proven here
    traps: tuple[Trap, ...] = ()


class Unusable(base.Model):
    """A driver that people look for and that cannot run on Nomad."""

    name: str
    title: str
    reason: str
    instead: str
    """What to use."""

    as_of: str
    source: str


def every_mode(first: access.AccessMode, *attachments: access.AttachmentMode) -> tuple[base.CapabilitySpec, ...]:
    """Return each access mode with each of *attachments*, *first* in front, for a driver that takes them all."""
    modes = sorted(access.ACCESS_MODES, key=lambda mode: mode != first)
    return tuple(
        base.CapabilitySpec(access_mode=mode, attachment_mode=attachment)
        for attachment in attachments
        for mode in modes
    )
