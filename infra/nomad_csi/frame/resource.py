"""
The interface of every custom resource, in plain Python.

Property names are Pulumi's (camelCase), values are JSON values, `UNKNOWN` marks an unknown value.
"""

import contextlib
import functools
import re
import threading
from collections.abc import Callable, Container, Mapping
from concurrent import futures
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from nomad_csi import concurrency, errors, nomad
from nomad_csi.spec import names

if TYPE_CHECKING:
    from nomad_csi.frame import properties

# The objects of one operation of the engine, such as a preview or an update. A process serves one at a time.


_Answer = TypeVar("_Answer")
_Inputs = Mapping[str, Any]


class Operation:
    """
    The objects of an operation, by type token and URN.

    Thread-safe: each method makes one change of a dictionary or set, and Python makes these one at a time.
    """

    def __init__(self) -> None:
        self._declared: dict[str, dict[str, _Inputs]] = {}
        self._recorded: dict[str, Mapping[str, Any]] = {}
        self._clusters: set[str] = set()
        self._created: set[tuple[str, str]] = set()
        self._answers: dict[str, futures.Future[Any]] = {}

    def declare(self, token: str, urn: str, inputs: Mapping[str, Any]) -> None:
        """Record that the program declares the object *urn* with checked *inputs*."""
        self._declared.setdefault(token, {})[urn] = inputs

    def declared(self, token: str, urn: str) -> Mapping[str, Any] | None:
        """Return the inputs that the program declares for *urn*; ``None`` where it has not declared it so far."""
        return self._declared.get(token, {}).get(urn)

    def all_declared(self, token: str) -> tuple[Mapping[str, Any], ...]:
        """Return the inputs of every object of the type *token* that the program has declared so far."""
        return tuple(self._declared.get(token, {}).values())

    def record(self, urn: str, outputs: Mapping[str, Any]) -> None:
        """Record that the state has the object *urn* with *outputs*."""
        self._recorded[urn] = outputs

    def recorded(self, urn: str) -> Mapping[str, Any]:
        """Return the outputs that the state has of *urn*; empty where it was not compared in this operation."""
        return self._recorded.get(urn, {})

    def see(self, outputs: Mapping[str, Any]) -> None:
        """Record the cluster of an object of the state with *outputs*."""
        if outputs.get("cluster"):
            self._clusters.add(str(outputs["cluster"]))

    def recorded_cluster(self) -> Mapping[str, Any]:
        """Return the output ``cluster`` of the objects of the state; empty where none was seen so far, or several."""
        clusters = tuple(self._clusters)
        return {"cluster": clusters[0]} if len(clusters) == 1 else {}

    def create(self, token: str, identity: str) -> None:
        """Record that *identity* was created, or taken over."""
        self._created.add((token, identity))

    def was_created(self, token: str, identity: str) -> bool:
        """Return whether this operation has created *identity*, or taken it over."""
        return (token, identity) in self._created

    def once(self, question: str, ask: Callable[[], _Answer]) -> _Answer:
        """Return what *ask* returned, or raise what it raised, on its first call in this operation."""
        own: futures.Future[_Answer] = futures.Future()
        answer = self._answers.setdefault(question, own)
        if answer is own:
            concurrency.settle(ask, own)
        value: _Answer = answer.result()
        return value


# The interface of a resource.


UNKNOWN = names.UNKNOWN

Properties = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class ResourceDiff:
    """The differences between an object and its desired state."""

    updates: tuple[str, ...] = ()
    """Properties that change in place."""

    replaces: tuple[str, ...] = ()
    """Properties whose change needs a new object."""

    added: frozenset[str] = frozenset()
    """Those of them that had no value before."""

    removed: frozenset[str] = frozenset()
    """Those of them whose value is removed."""

    notice: str = ""
    """A sentence for the user about the consequences of the change; shown in a preview."""

    @property
    def any(self) -> bool:
        """Whether there is a difference at all."""
        return bool(self.updates or self.replaces)


def top_of_path(path: str) -> str:
    """Return the top-level property of *path*: ``top_of_path("a[0].b")`` is ``"a"``."""
    return re.split(r"[.\[]", path, maxsplit=1)[0]


def difference(
    declared: "properties.Declaration",
    old_inputs: Mapping[str, Any],
    new_inputs: Mapping[str, Any],
    *,
    changed: Container[str] | None = None,
    also_updates: tuple[str, ...] = (),
    notice: str = "",
) -> ResourceDiff:
    """
    Return how *new_inputs* differs from *old_inputs*, replacing where a property is *declared* so.

    *changed* are the properties that are compared; ``None``: all but those that do not change the object.
    *also_updates* differ although the inputs are equal. *notice* is kept only for a replacement.
    """
    compared = declared.inputs.keys() - declared.not_compared if changed is None else changed
    every = sorted(old_inputs.keys() | new_inputs.keys())
    differing = [name for name in every if name in compared and old_inputs.get(name) != new_inputs.get(name)]
    replaces = tuple(name for name in differing if name in declared.replacing)
    updates = [*(name for name in differing if name not in replaces), *map(top_of_path, also_updates)]
    return ResourceDiff(
        updates=tuple(dict.fromkeys(updates)),
        replaces=replaces,
        added=frozenset(differing) - old_inputs.keys(),
        removed=frozenset(differing) - new_inputs.keys(),
        notice=notice if replaces else "",
    )


def identity(*parts: str) -> str:
    """Return *parts* joined by ``/``; `UNKNOWN` where one of them is unknown."""
    return UNKNOWN if UNKNOWN in parts else "/".join(parts)


class InitFailedError(errors.NomadCsiError):
    """The object exists and is recorded, but not in its desired state yet. The next run continues from here."""

    def __init__(self, identity: str, outputs: Properties, reasons: tuple[str, ...]) -> None:
        super().__init__("; ".join(reasons))
        self.identity = identity
        self.outputs = outputs
        self.reasons = reasons


def _silent(_message: str) -> None:
    """Say nothing."""


@dataclass(frozen=True, kw_only=True)
class Context:
    """Connections, options and log functions of a step."""

    connect: "Callable[[], nomad.Nomad]"  # in quotes: programs import this module, and send no requests
    """Return the value of `client`, shared by all steps, which must not close it."""

    root: Path | None = None
    """The folder that `RenderedFile` paths are relative to; ``None``: not configured, so no file can be written."""

    imports: bool = False
    """Whether the preview is for an import: what there is already is not refused, as it is about to be imported."""

    sandbox: str = ""
    """The mark of the sandbox that this process runs in; empty outside of one. Recorded in every object's outputs."""

    stack: str = ""
    """Label of the stack of the step, ``project/stack``; empty where it is unknown."""

    status: Callable[[str], None] = _silent
    """Show a short line while the step runs, with the changing part first; sent on change only."""

    warn: Callable[[str], None] = _silent
    """Show a permanent warning."""

    cancelled: threading.Event = field(default_factory=threading.Event)
    """Set when the operator interrupts."""

    timeout_s: float = 0
    """The user's custom timeout of this step, in seconds; 0: the step's own default."""

    urn: str = ""
    """URN of the step's object; empty where there is none."""

    operation: Operation = field(default_factory=Operation)
    """The preview or update that this step is part of."""

    @functools.cached_property
    def client(self) -> "nomad.Nomad":
        """The cluster's client. Raises `errors.SpecError`."""
        return self.connect()


class Resource(Protocol):
    """One kind of custom resource."""

    declared: "properties.Declaration"

    def check(self, new_inputs: Mapping[str, Any]) -> tuple[Properties, tuple[errors.Problem, ...]]:
        """Return *new_inputs* with defaults filled in and without absent values; or nothing, and all problems."""
        return self.declared.check(new_inputs)

    def diff(
        self,
        identity: str,
        old_inputs: Mapping[str, Any],
        old_outputs: Mapping[str, Any],
        new_inputs: Mapping[str, Any],
    ) -> ResourceDiff:
        """Compare the recorded with the desired state. Sends no request."""

    def preview(self, new_inputs: Mapping[str, Any]) -> tuple[str, Properties]:
        """Return the id and outputs that a create or update will return, `UNKNOWN` where they are unknown."""

    def preflight(self, context: Context, old_outputs: Mapping[str, Any], new_inputs: Mapping[str, Any]) -> None:
        """
        Check the cluster and the cloud in a preview: `preview` sends no request.

        Raise `errors.RefusedError` for what `create` or `update` would refuse; change nothing. *old_outputs* are empty
        where nothing is recorded. Unknown values are not checked. A check that failed to run is a warning: a preview
        continues without Nomad.
        """
        del context, old_outputs, new_inputs

    def create(self, context: Context, new_inputs: Mapping[str, Any]) -> tuple[str, Properties]:
        """Create the object, or take over one that is equal and ours. Return its id and outputs."""

    def read(
        self, context: Context, identity: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any]
    ) -> tuple[Properties, Properties] | None:
        """
        Return inputs (in the shape of `check`) and outputs as they are now; ``None`` when the object is gone.

        *inputs* and *outputs* are empty for an import. While the cluster is unreachable, the recorded state is kept.
        """

    def update(
        self, context: Context, identity: str, old_outputs: Mapping[str, Any], new_inputs: Mapping[str, Any]
    ) -> Properties:
        """Change the object in place; *old_outputs* are its recorded outputs. Return its outputs."""

    def delete(self, context: Context, identity: str, outputs: Mapping[str, Any]) -> None:
        """Delete the object. An object that does not exist is no error."""


# Common parts of steps that send requests to Nomad: ids, and an unreachable cluster.


def seen_afterwards(
    read: Callable[[], _Answer | None], identity: str, outputs: Properties, *, done: str, gone: str
) -> _Answer:
    """
    Return the result of *read* for the object *identity*, after a step that has *done* something to it.

    Raises `InitFailedError` with *outputs* where it cannot be read, or is *gone*, so that the state keeps the id.
    """
    try:
        answer = read()
    except errors.NomadApiError as error:
        raise InitFailedError(identity, outputs, (f"{done}, but not seen afterwards: {error}",)) from error
    if answer is None:
        raise InitFailedError(identity, outputs, (gone,))
    return answer


def split_identity(identity: str, form: str) -> tuple[str, str]:
    """Return both parts of an id such as ``default/mysql``. Raises `errors.SpecError` naming the *form* expected."""
    namespace, _, name = identity.partition("/")
    if not namespace or not name or "/" in name:
        problem = errors.Problem(path="id", got=repr(identity), allowed=form)
        raise errors.SpecError((problem,), source="import")
    return namespace, name


def is_unreachable(error: errors.NomadApiError) -> bool:
    """Return whether *error* does not concern the object: no response, or one that asks to retry later."""
    return error.status is None or error.kind == "retry"


@dataclass(frozen=True)
class KeptIfUnreachable(contextlib.AbstractContextManager[object, bool]):
    """
    A block that reads from Nomad and returns the result; code after it runs only where Nomad was unreachable.

    Where the object is recorded, an unreachable cluster becomes a warning and the step continues after the block;
    for an object that is not recorded (an import) the error is raised.
    """

    context: Context
    subject: str
    is_recorded: bool

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        if not isinstance(error, errors.NomadApiError) or not (self.is_recorded and is_unreachable(error)):
            return False
        address = self.context.client.connection.address
        self.context.warn(f"{address} is not reachable: {self.subject} was not compared")
        return True


class Previewed(KeptIfUnreachable):
    """A block of a preview that reads from Nomad: the step continues where Nomad is unreachable, or refuses."""

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        if isinstance(error, errors.NomadApiError) and not is_unreachable(error):
            self.context.warn(f"{self.subject} was not checked: {error}")
            return True
        return super().__exit__(kind, error, traceback) or isinstance(error, errors.NomadApiError)
