"""What is attached where, as EC2 says. Plain data."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

MISSING = "missing"
"""Stands for the state of a volume or an instance that EC2 does not know."""


_EBS_ID = re.compile(r"vol-[0-9a-f]{8,17}")


@dataclass(frozen=True, kw_only=True)
class Attachment:
    """A volume on an instance."""

    instance_id: str

    state: str
    """``attaching``, ``attached``, ``detaching`` or ``busy``: to be detached, and still mounted."""

    device: str
    instance_state: str
    """``running``, ``stopping``, ``stopped``, ``shutting-down``, ``terminated``, ``pending`` or ``missing``."""

    def __str__(self) -> str:
        """Return ``attached to i-1 (running) as /dev/xvdba``."""
        verb = "attached" if self.state == "attached" else f"attached ({self.state})"
        return f"{verb} to {self.instance_id} ({self.instance_state}) as {self.device}"


@dataclass(frozen=True, kw_only=True)
class AttachedVolume:
    """An EBS volume as EC2 sees it."""

    external_id: str
    state: str
    """``available``, ``in-use``, ``creating``, ``deleting``, ``error`` or ``missing``."""

    attachments: tuple[Attachment, ...] = ()

    @property
    def is_free(self) -> bool:
        """Whether it is there, and attached to nothing."""
        return self.state == "available" and not self.attachments

    def __str__(self) -> str:
        """Return ``vol-1 is in-use: attached to i-1 (running) as /dev/xvdba``."""
        where = f": {', '.join(map(str, self.attachments))}" if self.attachments else ""
        return f"{self.external_id} is {self.state}{where}"


@dataclass(frozen=True, kw_only=True)
class ObservedAttachments:
    """What EC2 said."""

    volumes: Mapping[str, AttachedVolume] = field(default_factory=dict)
    """By external id; one for each that was asked for."""

    instances: Mapping[str, str] = field(default_factory=dict)
    """State of an instance by its id; those asked for, and those of the attachments."""


def is_ebs(external_id: str) -> bool:
    """Return whether *external_id* is that of an EBS volume."""
    return _EBS_ID.fullmatch(external_id) is not None
