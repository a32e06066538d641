"""The request, the outcome and the questions of a claim repair. Pure."""

import shlex
from dataclasses import dataclass
from typing import Literal

from nomad_csi.plan import registration
from nomad_csi.volumes import outcome

WAIT_S = 30.0
"""How long each step may take to show an effect."""

Status = Literal["free", "registered", "held", "attached", "declined", "refused", "deregistered"]
"""
``free``: no claim is left. ``registered``: registered again, without the claims. ``held``: an allocation that has not
ended claims it. ``attached``: no claim is left, and EC2 still has it on an instance. ``declined``: a step was not
confirmed. ``refused``: a step is not safe, or not possible. ``deregistered``: it is deregistered, and could not be
registered again.
"""

COLLECT = (
    "step 2: have Nomad collect garbage. It tries again to detach and free what ended allocations claim, in the whole "
    "cluster; it also removes all ended jobs and allocations, with their logs and events"
)
DETACH = (
    "step 3: have Nomad unmount {volume} on client {node} and detach it there. A task that still uses it there loses it"
)
FORCE = (
    "step 4: deregister {volume} together with its claims, and register it again from {source}. Nothing is "
    "unmounted or detached by that; from then on any job may claim it. {storage}"
)
RESUME = (
    "step 4, continued: a repair that began at {begun} UTC deregistered {volume} and did not register it again. "
    "Register it from {source}; from then on any job may claim it. {storage}"
)
NOT_NOTED = (
    "the repair is not noted: the token lacks rights to write variables below nomad-csi/ in the volume's namespace"
)
WITHOUT_DOCUMENT = (
    "without --from the last step, to deregister the volume and register it again, is not taken: nothing else may free "
    "the claims of a client that is lost"
)
NOT_ASKED = (
    "It cannot be checked from here whether its storage {external_id} is still attached or mounted somewhere: make "
    "sure of it"
)


@dataclass(frozen=True, kw_only=True)
class RepairRequest(registration.NamedVolume):
    """The volume to repair, and the options of the repair."""

    document: registration.VolumeRegistration | None = None
    """The registration with secrets and mount flags; ``None``: the last step cannot be taken."""

    source: str = ""
    """The source of the registration."""

    aws_region: str = ""
    """The region in which EC2 is asked; empty: EC2 is not asked."""

    wait_s: float = WAIT_S

    options: tuple[str, ...] = ()
    """Further command-line options for the suggested commands: ``--secrets FILE``."""

    @property
    def again(self) -> str:
        """The command that repairs this volume, and resumes an interrupted repair."""
        region = ["--aws-region", self.aws_region] if self.aws_region else []
        arguments = ["nomad-csi", "claims", "repair", self.key, "--from", self.source or "SPEC|FILE", *region]
        return shlex.join([*arguments, *self.options])

    @property
    def manual_command(self) -> str:
        """The command that registers the volume from *source*, if there is no note of an interrupted repair."""
        return shlex.join(["nomad-csi", "apply", self.source or "SPEC|FILE", *self.options])


class EndError(Exception):
    """The repair is complete."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


class MissingError(EndError):
    """The volume does not exist in Nomad."""

    def __init__(self) -> None:
        super().__init__("refused", "Nomad does not have the volume any more; it was deregistered meanwhile")


@dataclass(frozen=True, kw_only=True)
class Repaired(outcome.VolumeOutcome):
    """The outcome of the repair of a volume with stuck claims; its reason is a sentence with the next step."""

    DONE = frozenset({"free", "registered"})
    BROKEN = frozenset({"deregistered"})

    status: Status
    steps: tuple[str, ...]
    """The steps taken, in order: ``wait``, ``gc``, ``detach``, ``force``, ``register``."""
