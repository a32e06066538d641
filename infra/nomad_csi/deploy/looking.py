"""One look at the plugins of a plan: what Nomad says, what instances say themselves, and the verdict on each."""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nomad_csi import nomad
from nomad_csi.deploy import clients, gather
from nomad_csi.nomad import nodes
from nomad_csi.plan import model
from nomad_csi.verify import eligibility, findings, found, instances, plugins, zones


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A plugin to look at."""

    expectation: model.PluginExpectation
    job_ids: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Look:
    """A plugin as it was at one moment."""

    wanted: Wanted
    seen: found.PluginFound
    verdict: plugins.PluginVerdict
    capacity: tuple[findings.Finding, ...]
    """What waiting cannot heal."""


class Looker:
    """Looks at the same plugins again and again. What clients said of themselves is kept until they change."""

    def __init__(
        self,
        client: nomad.Nomad,
        wanted: Iterable[Wanted],
        *,
        probe_timeout_s: float = gather.PROBE_TIMEOUT_S,
        cancelled: threading.Event | None = None,
    ) -> None:
        self._client = client
        self._wanted = tuple(wanted)
        self._probe_timeout_s = probe_timeout_s
        self._cancelled = cancelled
        self._clients = clients.Clients(client)

    def look(self, before: Sequence[Look] = ()) -> tuple[Look, ...]:
        """
        Look at each plugin once; with looks *before*, what restarted since is found.

        Clients may come and go meanwhile: they are listed last, so that none is missed that an instance runs on.
        Raises `errors.NomadApiError` when Nomad does not answer, `errors.CancelledError` when the operator interrupts.
        """
        if not self._wanted:
            return ()
        told = [
            (item.expectation, gather.ask_nomad(self._client, item.expectation, item.job_ids)) for item in self._wanted
        ]
        seen = gather.probe_all(told, timeout_s=self._probe_timeout_s, cancelled=self._cancelled)
        with_zones = any(_needs_zones(expectation, found_) for expectation, found_ in told)
        all_nodes = self._clients.look((item.expectation for item in self._wanted), with_zones=with_zones)
        earlier = [item.seen for item in before] if before else [None for _ in seen]
        return tuple(
            _look(item, now, all_nodes, then) for item, now, then in zip(self._wanted, seen, earlier, strict=True)
        )


def _look(
    wanted: Wanted, seen: found.PluginFound, all_nodes: tuple[nodes.Node, ...], before: found.PluginFound | None
) -> Look:
    return Look(
        wanted=wanted,
        seen=seen,
        verdict=plugins.compare_plugin(wanted.expectation, seen, all_nodes, before),
        capacity=eligibility.check_capacity(wanted.expectation, all_nodes),
    )


def _needs_zones(expectation: model.PluginExpectation, told: found.PluginFound) -> bool:
    reports = any(zones.of_segments(item.segments) for item in instances.all_of(told.plugin))
    return reports or expectation.min_healthy_per_zone is not None
