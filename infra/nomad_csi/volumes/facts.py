"""
What is known of one volume before something is done with it: each fact is known, absent, or not known. Pure.

A fact is one of a few values, so that every combination can be listed. "not known" is a value of its
own: a token without rights, a cloud that was not queried, a server that must not be read. It never means "absent".
The facts are protocols: a decision reads a fact only where it matters, and only then a request is sent for it.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

Cluster = Literal["same", "other", "lost", "not known"]
"""
Whether the connection leads to the cluster in which the volume is recorded. ``same``: also where nothing is recorded.
``lost``: the cluster has no identity, and this stack has volumes that are recorded in one that has. ``not known``: the
token may not read the identity.
"""

Record = Literal["none", "own", "sibling", "foreign", "not known"]
"""
The owner record. ``own``: this resource's, by its nonce, or this stack's where no nonce is recorded. ``sibling``: this
stack's, with the nonce of another resource or of another state. ``foreign``: another stack's. ``not known``: the token
may not read it, or may not write one that is to keep new storage.
"""

Registration = Literal[
    "absent", "equal", "unseen", "in-place", "re-register", "other-storage", "drifted", "refused", "not known"
]
"""
Nomad's registration of the id, compared with the desired one. ``unseen``: equal in what Nomad shows, and it gets parts
that it never shows. ``in-place``: differs in what Nomad changes.
``re-register``: has the desired storage, and differs in what Nomad never changes. ``other-storage``: has other storage
than the desired one. ``drifted``: as one of these two, and differs from the state in what Nomad never changes, too.
``refused``: Nomad refuses the change at present. ``not known``: reading it would erase secrets.
"""

Recorded = Literal["nothing", "same", "other", "doubtful"]
"""
The storage in the stack's state, compared with the desired one. ``nothing``: the state does not have the volume.
``doubtful``: the external id is the same, and the plugin or a context key that may locate the data changes.
"""

Claims = Literal["none", "ending", "held"]
"""``ending``: all claims are of allocations that have ended, or are about to."""

Sharing = Literal["none", "refused"]
"""
Other registrations of the desired storage in the cluster. ``refused``: two volumes would use it that do not both permit
that.
"""

Fitness = Literal["fit", "unfit"]
"""Whether the plugin and the controller accept the desired registration."""

Source = Literal["existing", "created"]
"""``existing``: the storage exists before. ``created``: the plugin creates it."""

Kept = Literal["nothing", "begun", "same", "other"]
"""
The storage that the owner record keeps for the id, as its plugin creates it, compared with what the id has or gets.
``begun``: its creation was started, and its id is not known. ``other``: the desired volume, the state or the
registration has other storage, by its id, its name or its plugin. ``nothing``: also where the record is not known.
"""

Ends = Literal["kept", "deleted here", "deleted after"]
"""
What becomes of the storage of a removed volume. ``deleted here``: this removal deletes it. ``deleted after``: a
resource of the program deletes it once the registration is removed.
"""


Dependents = Literal["none", "some", "not known"]
"""
Registrations in storage, or in a part of it, whoever owns them and whatever a program declares. ``not known``: the
token may not list volumes.
"""


class Presence(Protocol):
    """The facts about a volume that is wanted."""

    @property
    def source(self) -> Source:
        """Where its storage comes from."""

    @property
    def protect(self) -> bool:
        """Whether the id keeps its data: refuse everything that gives it other data."""

    @property
    def adopt(self) -> bool:
        """Whether to take over a registration that differs, or another stack's."""

    @property
    def recorded(self) -> Recorded:
        """The storage in the stack's state."""

    @property
    def cluster(self) -> Cluster:
        """The cluster that the connection leads to."""

    @property
    def record(self) -> Record:
        """The owner record of the id."""

    @property
    def kept(self) -> Kept:
        """The storage that the owner record keeps for the id."""

    @property
    def registration(self) -> Registration:
        """Nomad's registration of the id."""

    @property
    def claims(self) -> Claims:
        """The claims on that registration."""

    @property
    def sharing(self) -> Sharing:
        """Other volumes of the desired storage."""

    @property
    def dependents(self) -> Dependents:
        """
        Registrations in the storage in the state, also that of this id, once the desired registration is there.

        ``none`` also where nothing deletes that storage afterwards.
        """

    @property
    def fitness(self) -> Fitness:
        """Of the desired registration."""


class Removal(Protocol):
    """The facts about a volume that is removed: it is not wanted any more, or another one replaces it."""

    @property
    def is_replaced(self) -> bool:
        """Whether the program still declares the resource: its replacement is created afterwards."""

    @property
    def is_renamed(self) -> bool:
        """Whether a stack of another name wrote the state: the stack was renamed, or its state copied."""

    @property
    def protect(self) -> bool:
        """As recorded."""

    @property
    def ends(self) -> Ends:
        """What becomes of the storage."""

    @property
    def is_proven(self) -> bool:
        """Whether the state proves that the storage was created for this volume."""

    @property
    def cluster(self) -> Cluster:
        """The cluster that the connection leads to."""

    @property
    def record(self) -> Record:
        """The owner record of the id."""

    @property
    def registration(self) -> Literal["absent", "same", "other-storage"]:
        """Nomad's registration of the id, compared with the recorded storage."""

    @property
    def claims(self) -> Claims:
        """The claims on that registration."""

    @property
    def dependents(self) -> Dependents:
        """Registrations in the storage, without that of this id where it is ``same``."""

    @property
    def fitness(self) -> Fitness:
        """Of the replacement."""


@dataclass(frozen=True, kw_only=True)
class GivenRemoval:
    """The facts about a removal that are all known before; implements `Removal`."""

    record: Record
    registration: Literal["absent", "same", "other-storage"]
    claims: Claims = "none"
    ends: Ends = "kept"
    is_proven: bool = False
    dependents: Dependents = "none"
    is_replaced: bool = False
    is_renamed: bool = False
    protect: bool = False
    cluster: Cluster = "same"
    fitness: Fitness = "fit"
