"""
The shape that every custom resource has, in plain Python.

Property names are Pulumi's (camelCase), values are JSON values, `UNKNOWN` stands for what is not known yet.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from nomad_csi import errors, nomad

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""Pulumi's marker of a value that is not known yet (pulumi SDK, ``pulumi/runtime/rpc.py``, ``UNKNOWN``)."""

Properties = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Failure:
    """What `Resource.check` refuses: where and why. The provider never names the property on the wire."""

    path: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Difference:
    """What separates an object from what is wanted."""

    updates: tuple[str, ...] = ()
    """Paths that change in place, such as ``capabilities[0].accessMode``."""

    replaces: tuple[str, ...] = ()
    """Paths whose change needs a new object."""

    delete_before_replace: bool = True

    notice: str = ""
    """A sentence for the operator about what the change entails; shown in preview."""

    @property
    def any(self) -> bool:
        """Whether there is a difference at all."""
        return bool(self.updates or self.replaces)


class InitFailedError(errors.NomadCsiError):
    """The object exists and is recorded, but is not as it should be yet. The next run goes on from here."""

    def __init__(self, identity: str, outputs: Properties, reasons: tuple[str, ...]) -> None:
        super().__init__("; ".join(reasons))
        self.identity = identity
        self.outputs = outputs
        self.reasons = reasons


def _silent(_message: str) -> None:
    """Say nothing."""


@dataclass(frozen=True, kw_only=True)
class Context:
    """What a step may use, and whom it tells."""

    connect: Callable[[], nomad.Nomad]
    """Return a client for the configured cluster. Raises `errors.SpecError` where the configuration is wrong."""

    root: Path
    """The folder that `RenderedFile` paths are relative to."""

    sandbox: str = ""
    """The mark of the sandbox this process runs in; empty outside of one. Recorded in every object's outputs."""

    status: Callable[[str], None] = _silent
    """Show a short line while the step runs; the part that changes first, sent on change only."""

    warn: Callable[[str], None] = _silent
    """Show a line that stays."""

    cancelled: threading.Event = field(default_factory=threading.Event)
    """Set when the operator interrupts."""


class Resource(Protocol):
    """One kind of custom resource."""

    token: str
    """Pulumi's type token, such as ``nomad-csi:index:VolumeRegistration``."""

    secret_properties: frozenset[str]
    """Top-level properties that are always secret."""

    def check(self, news: Mapping[str, Any]) -> tuple[Properties, tuple[Failure, ...]]:
        """Return *news* with defaults filled in, and everything that is wrong with it."""

    def diff(
        self, identity: str, old_inputs: Mapping[str, Any], old_outputs: Mapping[str, Any], news: Mapping[str, Any]
    ) -> Difference:
        """Compare what is recorded with what is wanted. Asks nobody."""

    def preview(self, news: Mapping[str, Any]) -> tuple[str, Properties]:
        """Return the id and outputs that a create or update will give, `UNKNOWN` where they cannot be known."""

    def create(self, context: Context, news: Mapping[str, Any]) -> tuple[str, Properties]:
        """Make the object, or take over one that is equal and ours. Return its id and outputs."""

    def read(
        self, context: Context, identity: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any]
    ) -> tuple[Properties, Properties] | None:
        """Return inputs (in the shape of `check`) and outputs as they are now; ``None`` when the object is gone."""

    def update(
        self, context: Context, identity: str, old_inputs: Mapping[str, Any], news: Mapping[str, Any]
    ) -> Properties:
        """Change the object in place. Return its outputs."""

    def delete(self, context: Context, identity: str, outputs: Mapping[str, Any]) -> None:
        """Remove the object. What is gone already is no error."""
