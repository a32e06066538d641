"""
What is done with one volume: `decide_presence` where it is wanted, `decide_removal` where it is not. Pure and total.

A decision is the steps in their order, or the one reason why nothing is done; and remarks on what the user should know
before. Every path decides here: the custom resources, in a preview and in an update, and the command line.
"""

from dataclasses import dataclass
from typing import Literal

from nomad_csi.volumes import facts

Step = Literal[
    "write record",
    "register",
    "create",
    "create again",
    "change",
    "deregister",
    "delete storage",
    "release record",
]
"""
``register``: send the registration, new or changed. ``create``: have the plugin create new, empty storage. ``create
again``: have the plugin find the storage that was created before, by its name; where another one is known for the id,
the answer is an error, and that volume is deregistered again. ``change``: change a created volume in place, and grow
it. A ``deregister`` before a ``register`` is rolled back where the registration fails.
"""

Refusal = Literal[
    "other cluster",
    "foreign",
    "unreadable",
    "protected",
    "shared",
    "unfit",
    "claimed",
    "taken",
    "never in place",
    "changed meanwhile",
    "impossible",
    "renamed stack",
    "owner not known",
    "dependents",
    "unproven",
    "other storage",
    "unrecorded",
]
"""Why nothing is done; `volumes.explain` has the sentence of each."""

Remark = Literal[
    "taken over",
    "moved",
    "registered again",
    "re-pointed",
    "held elsewhere",
    "owner not known",
    "storage stays",
    "storage deleted",
]
"""What the user should know of a decision."""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """Steps in their order, or the reason why nothing is done."""

    steps: tuple[Step, ...] = ()
    refusal: Refusal | None = None
    remarks: tuple[Remark, ...] = ()


def refuse(reason: Refusal) -> Decision:
    """Return the decision that nothing is done for *reason*."""
    return Decision(refusal=reason)


def decide_presence(known: facts.Presence) -> Decision:
    """Return what brings a wanted volume into its desired state, from all facts about it."""
    if known.protect and known.recorded in {"other", "doubtful"}:
        return refuse("protected")
    if known.cluster in {"other", "lost"}:
        return refuse("other cluster")
    if known.record == "foreign" and not known.adopt:
        return refuse("foreign")
    if known.recorded != "nothing" and known.dependents != "none":
        return refuse("dependents")
    if known.registration == "not known":
        return refuse("unreadable")
    if known.kept == "other":  # an id keeps its storage until the user gives it up by name
        return refuse("other storage")
    if known.registration == "refused":
        return refuse("impossible")
    if known.registration == "absent":
        return _existing_absent(known) if known.source == "existing" else _created_absent(known)
    if known.registration in {"re-register", "other-storage", "drifted"}:
        return _registered_otherwise(known)
    return _registered(known)


def _existing_absent(known: facts.Presence) -> Decision:
    """Decide about storage that exists, and whose volume id is not registered."""
    if known.sharing == "refused":
        return refuse("shared")
    if known.recorded == "nothing":
        return Decision(steps=("write record", "register"))
    remark: Remark = "registered again" if known.recorded == "same" else "re-pointed"
    return Decision(steps=("write record", "register"), remarks=(remark,))


def _created_absent(known: facts.Presence) -> Decision:
    """
    Decide about a volume that its plugin creates, and that is not registered.

    Storage that the state or the owner record knows is found again by its name; where the plugin answers another one,
    the id stays without storage until the user gives up the first. Nothing is created that no record keeps.
    """
    if known.recorded == "nothing" and known.record == "not known":
        return refuse("unrecorded")
    if known.recorded != "nothing" or known.kept == "same":
        return Decision(steps=("write record", "create again"), remarks=("registered again",))
    return Decision(steps=("write record", "create again" if known.kept == "begun" else "create"))


def _registered_otherwise(known: facts.Presence) -> Decision:
    """Decide about a registration that Nomad never changes into the desired one."""
    if known.recorded == "nothing":
        return refuse("taken")
    if known.registration == "drifted" or (known.registration == "other-storage" and known.recorded == "same"):
        return refuse("changed meanwhile")
    if known.source == "created":
        return refuse("never in place")
    if known.registration == "other-storage" and known.sharing == "refused":
        return refuse("shared")
    if known.fitness == "unfit":
        return refuse("unfit")
    if known.claims == "held":
        return refuse("claimed")
    remarks: tuple[Remark, ...] = ("re-pointed",) if known.registration == "other-storage" else ()
    return Decision(steps=("write record", "deregister", "register"), remarks=remarks)


def _registered(known: facts.Presence) -> Decision:
    """Decide about a registration that is as desired, or that Nomad changes in place."""
    if known.registration == "equal":
        return Decision(steps=("write record",), remarks=_of_take_over(known))
    is_ours = known.recorded != "nothing" or known.record == "own"
    if known.registration == "in-place" and not (is_ours or known.adopt):
        return refuse("taken")
    if known.registration == "in-place" and known.sharing == "refused":
        return refuse("shared")
    send: Step = "register" if known.source == "existing" else "change"
    return Decision(steps=("write record", send), remarks=_of_take_over(known))


def _of_take_over(known: facts.Presence) -> tuple[Remark, ...]:
    if known.recorded != "nothing":
        return ()
    return ("moved",) if known.record in {"own", "sibling"} else ("taken over",)


def decide_removal(known: facts.Removal) -> Decision:
    """
    Return how a volume is removed that is not wanted any more, from all facts about it.

    The owner record shows whether another resource has taken the volume over: it has another nonce then. Without the
    record that is not known, and the volume stays registered.
    """
    if known.is_renamed:
        return refuse("renamed stack")
    if known.cluster in {"other", "lost"} and not _is_nothing_left(known):
        return refuse("other cluster")
    if (reason := _of_deletion_after(known)) or (reason := _of_removal(known)):
        return refuse(reason)
    if known.record == "sibling":
        return Decision(remarks=("held elsewhere",))
    if known.record == "not known" and known.registration != "absent":
        return Decision(remarks=("owner not known",))
    deletes = known.ends == "deleted here"
    steps: tuple[tuple[Step, bool], ...] = (
        ("deregister", known.registration == "same"),
        ("delete storage", deletes),
        ("release record", True),
    )
    remark: Remark = "storage stays" if known.ends == "kept" else "storage deleted"
    return Decision(steps=tuple(step for step, is_needed in steps if is_needed), remarks=(remark,))


def _is_nothing_left(known: facts.Removal) -> bool:
    """Return whether a cluster that lost its identity has nothing of the volume, and its storage is kept."""
    return known.cluster == "lost" and known.registration == "absent" and known.ends == "kept"


def _of_deletion_after(known: facts.Removal) -> Refusal | None:
    """
    Return why a resource of the program may not delete the storage afterwards: nothing is decided then.

    A registration that another resource holds stays, and needs the storage.
    """
    if known.ends != "deleted after":
        return None
    if known.protect and not known.is_replaced:
        return "protected"
    is_needed = (known.record == "sibling" and known.registration == "same") or known.dependents != "none"
    return "dependents" if is_needed else None


def _of_removal(known: facts.Removal) -> Refusal | None:
    """Return why the volume is not removed; nothing is deregistered before all that follows is permitted."""
    if known.record == "sibling":
        return None
    is_there = known.registration != "absent"
    if known.record == "foreign" and (is_there or known.ends == "deleted here"):
        return "foreign"
    if known.ends == "deleted here" and (not known.is_proven or known.record == "not known"):
        return "unproven"
    if known.ends == "deleted here" and known.dependents != "none":
        return "dependents"
    if known.record == "not known" and is_there:
        return "owner not known" if known.is_replaced or known.ends == "deleted after" else None
    if known.registration == "other-storage":
        return "changed meanwhile"
    if known.is_replaced and known.fitness == "unfit":
        return "unfit"
    return "claimed" if is_there and known.claims == "held" else None
