"""What registering a volume would do to what Nomad holds: nothing, a change, a refusal, or less than it looks. Pure."""

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from nomad_csi.deploy import volume_differences
from nomad_csi.nomad import volumes
from nomad_csi.plan import registration

Kind = Literal["new", "equal", "hidden", "changes", "refused", "ignored"]
"""
``new``: Nomad has none. ``equal``: it has it so. ``hidden``: what it shows is so, the rest cannot be seen.
``changes``: it would change. ``refused``: it would refuse. ``ignored``: it would accept, and leave it as it is.
"""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a registration would do."""

    is_new: bool = False
    differences: tuple[volume_differences.Difference, ...] = ()

    hidden: tuple[str, ...] = ()
    """Parts that Nomad never shows: not compared, and sent."""

    def of(self, effect: volume_differences.Effect) -> tuple[volume_differences.Difference, ...]:
        """Return the differences with this *effect*."""
        return tuple(item for item in self.differences if item.effect == effect)

    @property
    def kind(self) -> Kind:
        """The verdict in a word; a refusal goes before all others."""
        if self.is_new:
            return "new"
        effects = {item.effect for item in self.differences}
        by_weight: tuple[volume_differences.Effect, ...] = ("refused", "changes", "ignored")
        found = next((effect for effect in by_weight if effect in effects), None)
        return found or ("hidden" if self.hidden else "equal")

    @property
    def must_be_sent(self) -> bool:
        """Whether a registration has anything to do, and Nomad would do it."""
        return self.is_new or (not self.of("refused") and bool(self.of("changes") or self.hidden))


NEW = Verdict(is_new=True)


def sentences(differences: Iterable[volume_differences.Difference]) -> tuple[str, ...]:
    """Return *differences* in words, and behind them what to do, once however many ask for it."""
    found = tuple(differences)
    fixes = dict.fromkeys(item.fix for item in found if item.fix)
    return (*(str(item) for item in found), *fixes)


def verdict(
    wanted: registration.VolumeRegistration, found: volumes.Volume | None, *, made_by_plugin: bool = False
) -> Verdict:
    """
    Return what registering *wanted* would do to *found*.

    Where *made_by_plugin*, external id and context are the plugin's answers, and no wish. An empty external id of
    *wanted* is one that is not known yet.
    """
    if found is None:
        return NEW
    readable = volume_differences.readable(wanted, found)
    return Verdict(
        differences=tuple(volume_differences.of(readable, found, made_by_plugin=made_by_plugin)),
        hidden=tuple(volume_differences.hidden(wanted, found, made_by_plugin=made_by_plugin)),
    )


def in_order_of(
    wanted: registration.VolumeRegistration, found: volumes.Volume | None
) -> registration.VolumeRegistration:
    """Return *wanted* with its places in the order in which *found* has them: Nomad compares order, and means none."""
    if found is None or wanted.required_topologies == found.requested_topologies:
        return wanted
    if not volume_differences.same_places(wanted.required_topologies, found.requested_topologies):
        return wanted
    return dataclasses.replace(wanted, required_topologies=found.requested_topologies)
