"""The shape of a catalogue row: all that a CSI driver needs, as data with a date and its sources."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

RoleName = Literal["controller", "node"]

ProofTier = Literal["run", "parsed", "none"]
"""``run``: the driver itself ran; ``parsed``: only its files went through the real parser; ``none``: neither."""


@dataclass(frozen=True, kw_only=True)
class Proof:
    """How far somebody went with one role of a driver, on a machine without an AWS account."""

    tier: ProofTier
    as_of: str = ""
    """Day of the last time; empty for ``none``."""

    versions: tuple[str, ...] = ()
    """With what: each program and its version."""

    proven: tuple[str, ...] = ()
    not_proven: tuple[str, ...]
    """What an operator must still see for themselves."""


@dataclass(frozen=True, kw_only=True)
class Role:
    """One kind of process of a driver, and the Nomad job that runs it."""

    job_type: Literal["service", "system"]
    arguments: tuple[str, ...]
    """Arguments in order. ``{log_verbosity}`` is filled in; ``${...}`` are Nomad's runtime variables."""

    flags: frozenset[str]
    """Every flag that this role accepts and that does something on Nomad, without the dashes."""

    unfit_flags: Mapping[str, str] = field(default_factory=dict)
    """Flags that the driver accepts too and that do harm or nothing on Nomad, each with the reason."""

    environment: Mapping[str, str] = field(default_factory=dict)
    """Environment; ``{aws_region}`` is filled in."""

    privileged: bool = False
    network_mode: str = ""
    """Docker network mode; empty: Docker's default bridge."""

    host_folders: tuple[str, ...] = ()
    """Folders of the client mounted at the same path, so that what is in them outlives the container."""

    needs: tuple[str, ...] = ()
    """What the client must have, as notes for the operator, written into the job file."""

    probe_proves: str
    """What an answer to ``Probe`` proves of this role."""

    proof: Proof


@dataclass(frozen=True, kw_only=True)
class ExternalId:
    """How the storage provider writes the ids of what the driver serves."""

    pattern: re.Pattern[str]
    allowed: str
    """The pattern in words, with an example."""

    shared: bool
    """Whether one external id may stand under several volume ids."""


@dataclass(frozen=True, kw_only=True)
class Keys:
    """Which keys a map of the volume may have."""

    allowed: frozenset[str] | None
    """``None``: the driver tolerates unknown keys."""

    refused: Mapping[str, str] = field(default_factory=dict)
    """Keys that look right and are not, each with the fix."""


@dataclass(frozen=True, kw_only=True)
class Trap:
    """A known way in which this driver surprises people on Nomad."""

    text: str
    source: str


@dataclass(frozen=True, kw_only=True)
class Driver:
    """A CSI driver on Nomad."""

    name: str
    """Name in this catalogue."""

    title: str
    provider: str
    """The name that the driver answers to ``GetPluginInfo``; Nomad calls it the provider."""

    image: str
    version: str
    """The version of *image*, as the driver answers it."""

    as_of: str
    """Day on which this row was last compared with its sources."""

    sources: tuple[str, ...]
    roles: Mapping[RoleName, Role]
    modes: frozenset[tuple[str, str]]
    """Pairs of access and attachment mode that really work."""

    modes_advice: str
    """What to use in place of a mode that does not."""

    default_mode: tuple[str, str]
    external_id: ExternalId
    fs_types: frozenset[str]
    context: Keys
    topology_key: str | None
    """Segment key that pins a volume to its zone; ``None``: volumes are not bound to one."""

    health_timeout_s: int
    minimum_nomad: str
    storage: Literal["ebs", "efs"]
    """Key of the spec under which storage for this driver is made."""

    traps: tuple[Trap, ...] = ()
