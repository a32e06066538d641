"""What the components of one program share, in one run of it."""

import asyncio
import contextlib
import contextvars
import weakref
from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import pulumi

from nomad_csi import errors
from nomad_csi.components import functions
from nomad_csi.plan import storage

NAME = "nomad-csi"

OF_NOMAD = "nomad-csi:index:StackIdentity"
"""A type of this package: a component's provider of it says which cluster it is for."""


class Scope:
    """One run of a program, or of the components that a program in another language has constructed here."""

    def __init__(self, provider: str = "", *, is_hosted: bool = False) -> None:
        """Begin with nothing declared; *is_hosted*: all components have one provider, as another object each."""
        self.is_hosted = is_hosted
        self.name = f"{NAME}-{provider}" if provider else NAME
        self.stack_id: pulumi.Output[str] | None = None
        self.state: pulumi.Output[functions.State] | None = None
        self.clusters: dict[Hashable, pulumi.Output[str]] = {}
        """The id of each provider's cluster."""
        self.checked: dict[Hashable, pulumi.Output[str]] = {}
        self.registered: set[str] = set()
        """Names of the volumes that the program registers, also former ones, and ``namespace/volume_id`` of each."""
        self.warns_of_removed = False
        self.run: asyncio.Task[Any] | None = None
        self._declared: dict[Hashable, storage.Declared] = {}
        self._named: dict[int, tuple[Any, str]] = {}
        self._warnings: set[str] = set()

    def declared(self, component: pulumi.ComponentResource) -> storage.Declared:
        """Return what is declared for the cluster of *component*'s provider."""
        cluster = self._cluster(component.get_provider(OF_NOMAD))
        return self._declared.setdefault(cluster, storage.Declared())

    def add_spec(
        self, cluster: Hashable, document: Mapping[str, Any], declared: storage.Declared
    ) -> tuple[errors.Problem, ...]:
        """
        Declare a sound spec *document* for the *cluster* of an address and region. Return problems with others.

        *declared* has the spec alone.
        """
        problems: list[errors.Problem] = []
        if self._declared.setdefault(cluster, declared) is not declared:
            self._declared[cluster].add_spec(document, problems)
        return tuple(problems)

    def _cluster(self, provider: pulumi.ProviderResource | None) -> Hashable:
        """Return what components have in common whose *provider* is for the same cluster."""
        if self.is_hosted:
            return None
        if provider is None:
            config = pulumi.Config(NAME)
            return config.get("address"), config.get("region")
        known = getattr(provider, "cluster", None)
        return id(provider) if known is None else known

    def name_output(self, output: Any, name: str) -> None:
        """Remember that *output* is that of the component *name*: a rule need not wait until it is known."""
        self._named[id(output)] = output, name

    def component_of(self, value: Any) -> str | None:
        """Return the name of the component whose output *value* is; ``None``: unknown."""
        return self._named.get(id(value), (None, None))[1]

    def warn_once(self, sentence: str) -> None:
        """Log the warning *sentence*, unless this program has."""
        if sentence not in self._warnings:
            self._warnings.add(sentence)
            pulumi.log.warn(sentence)

    def begin(self, run: asyncio.Task[Any] | None) -> None:
        """Forget what another run has declared: tests may run a program several times with the same mocks."""
        if self.run is not None and self.run.done():
            self._declared.clear()
            self.registered.clear()
            self.warns_of_removed = False
            self.run = None
        self.run = self.run or run


_SCOPE: contextvars.ContextVar[Scope | None] = contextvars.ContextVar("scope", default=None)
_OF_MONITOR: weakref.WeakKeyDictionary[Any, Scope] = weakref.WeakKeyDictionary()


def scope() -> Scope:
    """Return the scope of the components that are declared now."""
    if shared := _SCOPE.get():
        return shared
    monitor = pulumi.runtime.settings.get_monitor()
    own = Scope() if monitor is None else _OF_MONITOR.setdefault(monitor, Scope())
    try:
        own.begin(asyncio.current_task())
    except RuntimeError:  # no loop runs
        own.begin(None)
    return own


@contextlib.contextmanager
def shared_scope(shared: Scope) -> Iterator[None]:
    """Share a scope among the components that are constructed inside."""
    token = _SCOPE.set(shared)
    try:
        yield
    finally:
        _SCOPE.reset(token)
