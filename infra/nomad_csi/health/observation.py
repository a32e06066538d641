"""Check the plugins of a plan: observe them in Nomad and by CSI probes, and determine their statuses."""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nomad_csi import nomad
from nomad_csi.health import clients, gather, observed_plugin, plugins, probe_run
from nomad_csi.nomad import nodes
from nomad_csi.plan import model


@dataclass(frozen=True, kw_only=True)
class WatchedPlugin:
    """A plugin to check."""

    expectation: model.PluginExpectation
    job_ids: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Observation:
    """Observed state and status of a plugin at one moment."""

    wanted: WatchedPlugin
    plugin: observed_plugin.ObservedPlugin
    status: plugins.PluginStatus
    clients: tuple[nodes.Node, ...]
    """All clients of the cluster, listed after the instances."""


class Observer:
    """Checks the same plugins repeatedly. Attributes of clients are cached until these change."""

    def __init__(
        self,
        client: nomad.Nomad,
        wanted: Iterable[WatchedPlugin],
        *,
        probe_timeout_s: float = gather.PROBE_TIMEOUT_S,
        cancelled: threading.Event | None = None,
        on_nodes: probe_run.OnNodes | None = None,
        client_cache: clients.ClientCache | None = None,
    ) -> None:
        self._client = client
        self._wanted = tuple(wanted)
        self._probe_timeout_s = probe_timeout_s
        self._cancelled = cancelled or threading.Event()
        self._on_nodes = on_nodes
        self._clients = client_cache or clients.ClientCache(client)

    def observe(self, before: Sequence[Observation] = (), *, is_first: bool = False) -> tuple[Observation, ...]:
        """
        Check each plugin once; with earlier checks *before*, restarts since then are findings.

        *is_first*: another check follows, so this one runs no job on the clients.

        Clients may join or leave meanwhile: they are listed last, so that the client of each instance is listed.
        Raises `errors.NomadApiError` if Nomad does not respond, `errors.CancelledError` if the operator interrupts.
        """
        if not self._wanted:
            return ()
        how = None if is_first else self._on_nodes
        if how:
            answers = probe_run.ask(self._client, [observed for _, observed in self._ask_nomad()], how, self._cancelled)
            observed = probe_run.merged(self._ask_nomad(), answers)
        else:
            observed = gather.probe_all(self._ask_nomad(), timeout_s=self._probe_timeout_s, cancelled=self._cancelled)
        all_nodes = self._clients.read_clients(item.expectation for item in self._wanted)
        earlier = [item.plugin for item in before] if before else [None for _ in observed]
        return tuple(
            Observation(
                wanted=item,
                plugin=now,
                status=plugins.compare_plugin(item.expectation, now, all_nodes, then),
                clients=all_nodes,
            )
            for item, now, then in zip(self._wanted, observed, earlier, strict=True)
        )

    def _ask_nomad(self) -> list[tuple[model.PluginExpectation, observed_plugin.ObservedPlugin]]:
        return [
            (item.expectation, gather.ask_nomad(self._client, item.expectation, item.job_ids)) for item in self._wanted
        ]
