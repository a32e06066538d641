"""One check the plugins of a plan: what Nomad says, what instances say themselves, and the status of each."""

import dataclasses
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nomad_csi import findings, nomad
from nomad_csi.health import clients, eligibility, found, gather, instances, plugins
from nomad_csi.nomad import nodes
from nomad_csi.plan import model
from nomad_csi.probing import probe_job, probe_job_plugins

NONE = probe_job.ProbedVolumes()


@dataclass(frozen=True, kw_only=True)
class WatchedPlugin:
    """A plugin to check."""

    expectation: model.PluginExpectation
    job_ids: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Look:
    """A plugin as it was at one moment."""

    wanted: WatchedPlugin
    seen: found.PluginFound
    status: plugins.PluginStatus
    clients: tuple[nodes.Node, ...]
    """All of the cluster, listed after the instances."""

    capacity: tuple[findings.Finding, ...]
    """What waiting cannot heal."""

    deep: tuple[findings.Finding, ...] = ()
    """What its sockets answered against its volumes, and what Nomad remembers; where a job asked them."""


class Looker:
    """Looks at the same plugins again and again. What clients said of themselves is kept until they change."""

    def __init__(
        self,
        client: nomad.Nomad,
        wanted: Iterable[WatchedPlugin],
        *,
        probe_timeout_s: float = gather.PROBE_TIMEOUT_S,
        cancelled: threading.Event | None = None,
        on_nodes: probe_job_plugins.OnNodes | None = None,
    ) -> None:
        self._client = client
        self._wanted = tuple(wanted)
        self._probe_timeout_s = probe_timeout_s
        self._cancelled = cancelled
        self._on_nodes = on_nodes
        self._clients = clients.ClientCache(client)

    def look(
        self, before: Sequence[Look] = (), *, is_first: bool = False, needs: probe_job.ProbedVolumes = NONE
    ) -> tuple[Look, ...]:
        """
        Check each plugin once; with looks *before*, what restarted since is found.

        *is_first*: another look follows, so that no job asks instances on their clients for this one.
        *needs*: registered volumes, for which that job asks controllers too.

        Clients may come and go meanwhile: they are listed last, so that none is missed that an instance runs on.
        Raises `errors.NomadApiError` when Nomad does not answer, `errors.CancelledError` when the operator interrupts.
        """
        if not self._wanted:
            return ()
        how = None if is_first else self._on_nodes
        deep: list[tuple[findings.Finding, ...]] = [() for _ in self._wanted]
        said = probe_job_plugins.ask(self._client, self._told(), how, needs, self._cancelled) if how else None
        told = self._told()
        seen = gather.probe_all(told, timeout_s=self._probe_timeout_s, cancelled=self._cancelled)
        if said is not None:
            told = [(pair[0], now) for pair, now in zip(told, seen, strict=True)]
            seen = probe_job_plugins.merged(told, said)
            deep = [probe_job_plugins.deep(*pair, said, needs) for pair in told]
        with_zones = any(_needs_zones(expectation, found_) for expectation, found_ in told)
        all_nodes = self._clients.look((item.expectation for item in self._wanted), with_zones=with_zones)
        earlier = [item.seen for item in before] if before else [None for _ in seen]
        return tuple(
            dataclasses.replace(_look(item, now, all_nodes, then), deep=heard)
            for item, now, then, heard in zip(self._wanted, seen, earlier, deep, strict=True)
        )

    def _told(self) -> list[tuple[model.PluginExpectation, found.PluginFound]]:
        return [
            (item.expectation, gather.ask_nomad(self._client, item.expectation, item.job_ids)) for item in self._wanted
        ]


def _look(
    wanted: WatchedPlugin, seen: found.PluginFound, all_nodes: tuple[nodes.Node, ...], before: found.PluginFound | None
) -> Look:
    return Look(
        wanted=wanted,
        seen=seen,
        status=plugins.compare_plugin(wanted.expectation, seen, all_nodes, before),
        clients=all_nodes,
        capacity=eligibility.check_capacity(wanted.expectation, all_nodes),
    )


def _needs_zones(expectation: model.PluginExpectation, told: found.PluginFound) -> bool:
    reports = any(eligibility.zone_of_segments(item.segments) for item in instances.all_of(told.plugin))
    return reports or expectation.min_healthy_per_zone is not None
