"""Verify a whole plan: gather what there is, compare, report. Waits for nothing unless told to watch."""

import dataclasses
import functools
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from nomad_csi import errors, findings, nomad
from nomad_csi.claims import claim_status
from nomad_csi.health import drain_findings, explaining, gather, minimum_version, plugins
from nomad_csi.nomad import changes, nodes, volumes
from nomad_csi.nomad import plugins as plugin_records
from nomad_csi.plan import guests, model, registration
from nomad_csi.plan import volumes as planned
from nomad_csi.probing import probe_job, probe_job_plugins
from nomad_csi.registration import secret_safety
from nomad_csi.verification import looking, report
from nomad_csi.verification import volumes as volume_status

_NONE: Mapping[str, str] = {}


def verify(
    client: nomad.Nomad,
    plan: model.StoragePlan,
    external_ids: Mapping[str, str] = _NONE,
    *,
    watch_s: float = 0.0,
    probe_timeout_s: float = gather.PROBE_TIMEOUT_S,
    cancelled: threading.Event | None = None,
    on_nodes: probe_job_plugins.OnNodes | None = None,
) -> report.VerificationReport:
    """
    Return what is as planned and what is not.

    Args:
        client: the cluster.
        plan: what is expected.
        external_ids: external ids of storage that the plan makes, by ``namespace/volume_id``. Those that are in
            neither are not compared.
        watch_s: seconds between a first and a second check of the plugins, to see restarts; 0: one look.
        probe_timeout_s: deadline of the questions to one plugin instance.
        cancelled: ends the verification with `errors.CancelledError`.
        on_nodes: how instances are asked on their own clients, by a job; ``None``: only those whose sockets are here.

    Raises:
        errors.NomadApiError: Nomad did not answer, or may not tell.
        errors.NomadCsiError: that job could not be removed; with the command that does.
        errors.CancelledError: *cancelled* was set.

    """
    verifier = Verifier(
        client, plan, external_ids, probe_timeout_s=probe_timeout_s, cancelled=cancelled, on_nodes=on_nodes
    )
    return verifier.verify(watch_s=watch_s)


class Verifier:
    """
    Verifies one plan again and again. What restarted since the last round is found, and not healthy in that round.

    Args are those of `verify`. For one thread at a time.
    """

    def __init__(
        self,
        client: nomad.Nomad,
        plan: model.StoragePlan,
        external_ids: Mapping[str, str] = _NONE,
        *,
        probe_timeout_s: float = gather.PROBE_TIMEOUT_S,
        cancelled: threading.Event | None = None,
        on_nodes: probe_job_plugins.OnNodes | None = None,
    ) -> None:
        wanted = [
            looking.WatchedPlugin(expectation=item.expectation, job_ids=tuple(job.job_id for job in item.jobs))
            for item in plan.plugins
        ]
        self._client = client
        self._plan = plan
        self._external_ids = external_ids
        self._cancelled = cancelled or threading.Event()
        self._looker = looking.Looker(
            client, wanted, probe_timeout_s=probe_timeout_s, cancelled=self._cancelled, on_nodes=on_nodes
        )
        self._before: tuple[looking.Look, ...] = ()

    def verify(self, *, watch_s: float = 0.0) -> report.VerificationReport:
        """Return what is as planned and what is not. Raises what `verify` does; such a round does not count."""
        before = self._before
        if watch_s:
            before = self._looker.look(is_first=True)
            if self._cancelled.wait(watch_s):
                raise errors.CancelledError("cancelled while plugins were watched; nothing was changed")
        there = self._there()
        looks = self._looker.look(before, needs=self._needs(there))
        statuses = tuple(_explained(self._client, seen) for seen in looks)
        served_by = {item.plugin_id: _Serving.of(item, seen) for item, seen in zip(statuses, looks, strict=True)}
        deep = [item for seen in looks for item in seen.deep]
        known = dict(served_by) | self._others(there, served_by)
        statuses_on_volumes = self._volumes(there, known, deep)
        own = {f"volume {item.key}" for item in statuses_on_volumes}
        found = report.VerificationReport(
            plugins=statuses,
            volumes=statuses_on_volumes,
            extra=(
                *(item for item in deep if item.subject not in own),
                *self._drains(there, known, looks),
                *minimum_version.findings_of(self._client, self._plan.plugins),
            ),
        )
        self._before = looks
        return found

    def events(self, tell: Callable[[str], None]) -> changes.Events:
        """Return a flag that goes up when something of the plan changes; *tell*: told once where there is none."""
        return changes.Events(self._client, self._topics, tell)

    def _topics(self) -> tuple[str, ...]:
        """
        Return the topics for `changes.Events`: plugins, the allocations of their jobs, clients, volumes.

        Volumes only where every server is known to be new enough: an older one can erase their secrets by it.
        """
        is_harmless = bool(self._plan.volumes) and secret_safety.is_excluded(self._client)
        return (
            *sorted({f"CSIPlugin:{item.plugin_id}" for item in self._plan.plugins}),
            *sorted({f"Allocation:{job.job_id}" for item in self._plan.plugins for job in item.jobs}),
            "Node",
            *sorted({f"CSIVolume:{item.registration.volume_id}" for item in self._plan.volumes if is_harmless}),
        )

    def _there(self) -> list[volumes.Volume | None]:
        """Return what Nomad holds of each volume of the plan."""
        keys = [(item.registration.namespace, item.registration.volume_id) for item in self._plan.volumes]
        found: dict[tuple[str, str], volumes.Volume | None] = {}
        for namespace in dict.fromkeys(namespace for namespace, _ in keys):
            ids = [volume_id for place, volume_id in keys if place == namespace]
            there = volumes.get_many(self._client, namespace, ids)
            found |= {(namespace, volume_id): item for volume_id, item in zip(ids, there, strict=True)}
        return [found[key] for key in keys]

    def _needs(self, there: Iterable[volumes.Volume | None]) -> probe_job.ProbedVolumes:
        """Return for which volumes controllers may be asked; of secrets the plan alone knows."""
        wanted = [item.registration for item in self._plan.volumes]
        return probe_job.ProbedVolumes(
            registered=tuple(item for item in there if item is not None),
            with_secrets=frozenset((item.namespace, item.volume_id) for item in wanted if item.secrets),
        )

    def _volumes(
        self,
        there: Sequence[volumes.Volume | None],
        known: Mapping[str, "_Serving"],
        deep: Iterable[findings.Finding],
    ) -> tuple[volume_status.VolumeStatus, ...]:
        wanted = [planned.desired_document(item, self._external_ids) for item in self._plan.volumes]
        heard: dict[str, tuple[findings.Finding, ...]] = {}
        for item in deep:
            heard[item.subject] = (*heard.get(item.subject, ()), item)
        for guest in guests.find(self._plan.volumes, _made(self._plan.volumes, wanted, there)):
            subject = f"volume {guest.key}"
            heard[subject] = (*heard.get(subject, ()), volume_status.guest(guest))
        return tuple(
            _volume(item, document, volume, known, heard)
            for item, document, volume in zip(self._plan.volumes, wanted, there, strict=True)
        )

    def _drains(
        self, there: Iterable[volumes.Volume | None], known: Mapping[str, "_Serving"], looks: Sequence[looking.Look]
    ) -> Iterator[findings.Finding]:
        """Yield what drains do to claims on the plan's volumes; clients are listed where no plugin was checked."""
        claimed = [volume for volume in there if volume is not None and volume.claims]
        if claimed:
            records = {plugin_id: item.record for plugin_id, item in known.items()}
            clients = looks[0].clients if looks else nodes.list_nodes(self._client)
            yield from drain_findings.check(claimed, records, clients)

    def _others(
        self, there: Iterable[volumes.Volume | None], served_by: Mapping[str, "_Serving"]
    ) -> dict[str, "_Serving"]:
        """Return what Nomad says of plugins of claimed volumes that the plan does not have: one call for each."""
        ids = sorted({volume.plugin_id for volume in there if volume is not None and volume.claims} - set(served_by))
        records = gather.in_parallel(functools.partial(plugin_records.get, self._client, item) for item in ids)
        return {item: _Serving.told(record) for item, record in zip(ids, records, strict=True)}


@dataclass(frozen=True, kw_only=True)
class _Serving:
    """The plugin of a volume."""

    record: plugin_records.Plugin | None
    status: plugins.PluginStatus | None
    controllers: int
    """Healthy ones, by the status where there is one."""

    @classmethod
    def of(cls, status: plugins.PluginStatus, seen: looking.Look) -> Self:
        rows = [row for row in status.instances if row.role == "controller" and row.status == plugins.HEALTHY]
        return cls(record=seen.seen.plugin, status=status, controllers=len(rows))

    @classmethod
    def told(cls, record: plugin_records.Plugin | None) -> Self:
        healthy = sum(item.healthy for item in record.controllers) if record else 0
        return cls(record=record, status=None, controllers=healthy)


def _explained(client: nomad.Nomad, seen: looking.Look) -> plugins.PluginStatus:
    """Return the status with what explains it, where not everything is well."""
    if seen.status.status == plugins.HEALTHY:
        return seen.status
    wanted = seen.wanted
    fetched = explaining.explain(client, wanted.expectation, wanted.job_ids, seen.seen, seen.status)
    return dataclasses.replace(seen.status, causes=(*explaining.recorded(seen.status), *fetched))


def _volume(
    item: model.VolumePlan,
    wanted: registration.VolumeRegistration,
    there: volumes.Volume | None,
    known: Mapping[str, _Serving],
    heard: Mapping[str, tuple[findings.Finding, ...]],
) -> volume_status.VolumeStatus:
    serving = known.get(wanted.plugin_id)
    status = volume_status.judge_volume(
        wanted,
        there,
        serving.status if serving else None,
        made_by_plugin=item.made_by_plugin,
    )
    said = heard.get(f"volume {status.key}", ())
    holding = known.get(there.plugin_id) if there else None
    alarm: tuple[findings.Finding, ...] = ()
    if there is not None and holding is not None:
        alarm = tuple(claim_status.without_controller(there, holding.record, healthy=holding.controllers))
    return dataclasses.replace(status, findings=(*status.findings, *said, *alarm))


def _made(
    planned: Iterable[model.VolumePlan],
    wanted: Iterable[registration.VolumeRegistration],
    there: Iterable[volumes.Volume | None],
) -> dict[str, str]:
    """Return the external ids of storage that the plan makes, by key: by the stack's output, else by Nomad."""
    return {
        item.key: document.external_id or (volume.external_id if volume else "")
        for item, document, volume in zip(planned, wanted, there, strict=True)
        if not item.made_by_plugin and item.source
    }
