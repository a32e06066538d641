"""One check the plugins of a plan: what Nomad says, what instances say themselves, and the status of each."""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nomad_csi import findings, nomad
from nomad_csi.health import clients, eligibility, found, gather, instances, plugins
from nomad_csi.nomad import nodes
from nomad_csi.plan import model
from nomad_csi.probing import probe_job_plugins

NONE = probe_job_plugins.ProbedVolumes()


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
        self._cancelled = cancelled or threading.Event()
        self._on_nodes = on_nodes
        self._clients = clients.ClientCache(client)

    def look(
        self, before: Sequence[Look] = (), *, is_first: bool = False, needs: probe_job_plugins.ProbedVolumes = NONE
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
        known = [seen for _, seen in self._told()] if how else []
        said = probe_job_plugins.ask(self._client, known, how, needs, self._cancelled) if how else None
        seen = gather.probe_all(self._told(), timeout_s=self._probe_timeout_s, cancelled=self._cancelled)
        if said is not None:
            expectations = [item.expectation for item in self._wanted]
            seen = probe_job_plugins.merged(list(zip(expectations, seen, strict=True)), said)
        with_zones = any(_needs_zones(item.expectation, now) for item, now in zip(self._wanted, seen, strict=True))
        all_nodes = self._clients.look((item.expectation for item in self._wanted), with_zones=with_zones)
        earlier = [item.seen for item in before] if before else [None for _ in seen]
        return tuple(
            Look(
                wanted=item,
                seen=now,
                status=plugins.compare_plugin(item.expectation, now, all_nodes, then),
                clients=all_nodes,
                deep=_deep(item.expectation, now, said, needs),
            )
            for item, now, then in zip(self._wanted, seen, earlier, strict=True)
        )

    def _told(self) -> list[tuple[model.PluginExpectation, found.PluginFound]]:
        return [
            (item.expectation, gather.ask_nomad(self._client, item.expectation, item.job_ids)) for item in self._wanted
        ]


def _deep(
    expectation: model.PluginExpectation,
    seen: found.PluginFound,
    said: probe_job_plugins.ProbeJobAnswers | None,
    needs: probe_job_plugins.ProbedVolumes,
) -> tuple[findings.Finding, ...]:
    if said is None:
        return ()
    return probe_job_plugins.compared(expectation.plugin_id, seen.plugin, said, needs).findings


def _needs_zones(expectation: model.PluginExpectation, told: found.PluginFound) -> bool:
    reports = any(eligibility.zone_of_segments(item.segments) for item in instances.all_of(told.plugin))
    return reports or expectation.min_healthy_per_zone is not None
