"""Verify a whole plan: gather what there is, compare, report. Waits for nothing unless told to watch."""

import dataclasses
import functools
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from nomad_csi import findings, nomad
from nomad_csi.claims import claim_status
from nomad_csi.health import drain_findings, explaining, gather, minimum_version, plugins
from nomad_csi.nomad import changes, nodes, volumes
from nomad_csi.nomad import plugins as plugin_records
from nomad_csi.plan import guests, model, registration
from nomad_csi.plan import volumes as planned
from nomad_csi.probing import probe_job_plugins
from nomad_csi.registration import secret_safety
from nomad_csi.verification import looking, report
from nomad_csi.verification import volumes as volume_status

_NONE: Mapping[str, str] = {}


class Verifier:
    """
    Verifies one plan again and again. What restarted since the last round is found, and not healthy in that round.

    For one thread at a time.

    Args:
        client: the cluster.
        plan: what is expected.
        external_ids: external ids of storage that the plan makes, by ``namespace/volume_id``. Those that are in
            neither are not compared.
        probe_timeout_s: deadline of the questions to one plugin instance.
        on_nodes: how instances are asked on their own clients, by a job; ``None``: only those whose sockets are here.

    """

    def __init__(
        self,
        client: nomad.Nomad,
        plan: model.StoragePlan,
        external_ids: Mapping[str, str] = _NONE,
        *,
        probe_timeout_s: float = gather.PROBE_TIMEOUT_S,
        on_nodes: probe_job_plugins.OnNodes | None = None,
    ) -> None:
        wanted = [
            looking.WatchedPlugin(expectation=item.expectation, job_ids=tuple(job.job_id for job in item.jobs))
            for item in plan.plugins
        ]
        self._client = client
        self._plan = plan
        self._external_ids = external_ids
        self._looker = looking.Looker(client, wanted, probe_timeout_s=probe_timeout_s, on_nodes=on_nodes)
        self._before: tuple[looking.Look, ...] = ()

    def verify(self, *, watch_s: float = 0.0) -> report.VerificationReport:
        """
        Return what is as planned and what is not; an error ends a round that does not count.

        *watch_s*: seconds between a first and a second check of the plugins, to see restarts; 0: one look.

        Raises:
            errors.NomadApiError: Nomad did not answer, or may not tell.
            errors.NomadCsiError: the job on the clients could not be removed; with the command that does.

        """
        before = self._before
        if watch_s:
            before = self._looker.look(is_first=True)
            time.sleep(watch_s)
        there = self._there()
        looks = self._looker.look(before, needs=self._needs(there))
        statuses = tuple(_explained(self._client, seen) for seen in looks)
        deep = [item for seen in looks for item in seen.deep]
        records = {seen.status.plugin_id: seen.seen.plugin for seen in looks}
        records |= self._others(there, records)
        statuses_on_volumes = self._volumes(there, records, statuses, deep)
        own = {f"volume {item.key}" for item in statuses_on_volumes}
        found = report.VerificationReport(
            plugins=statuses,
            volumes=statuses_on_volumes,
            extra=(
                *(item for item in deep if item.subject not in own),
                *self._drains(there, records, looks),
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
        return list(volumes.get_many(self._client, [volumes.key_of(item.registration) for item in self._plan.volumes]))

    def _needs(self, there: Iterable[volumes.Volume | None]) -> probe_job_plugins.ProbedVolumes:
        """Return for which volumes controllers may be asked; of secrets the plan alone knows."""
        wanted = [item.registration for item in self._plan.volumes]
        return probe_job_plugins.ProbedVolumes(
            registered=tuple(item for item in there if item is not None),
            with_secrets=frozenset((item.namespace, item.volume_id) for item in wanted if item.secrets),
        )

    def _volumes(
        self,
        there: Sequence[volumes.Volume | None],
        records: Mapping[str, plugin_records.Plugin | None],
        statuses: Iterable[plugins.PluginStatus],
        deep: Iterable[findings.Finding],
    ) -> tuple[volume_status.VolumeStatus, ...]:
        wanted = [planned.desired_document(item, self._external_ids) for item in self._plan.volumes]
        served_by = {item.plugin_id: item for item in statuses}
        heard: dict[str, list[findings.Finding]] = defaultdict(list)
        for item in deep:
            heard[item.subject].append(item)
        for guest in guests.find(self._plan.volumes, _made(self._plan.volumes, wanted, there)):
            heard[f"volume {guest.key}"].append(volume_status.guest(guest))
        for held in there:
            if held is not None and held.plugin_id in records:
                record = records[held.plugin_id]
                healthy = _healthy_controllers(record, served_by.get(held.plugin_id))
                heard[f"volume {held.key}"] += claim_status.without_controller(held, record, healthy=healthy)
        return tuple(
            volume_status.judge_volume(
                document,
                held,
                served_by.get(document.plugin_id),
                made_by_plugin=planned_volume.made_by_plugin,
                heard=heard[f"volume {document.key}"],
            )
            for planned_volume, document, held in zip(self._plan.volumes, wanted, there, strict=True)
        )

    def _drains(
        self,
        there: Iterable[volumes.Volume | None],
        records: Mapping[str, plugin_records.Plugin | None],
        looks: Sequence[looking.Look],
    ) -> Iterator[findings.Finding]:
        """Yield what drains do to claims on the plan's volumes; clients are listed where no plugin was checked."""
        claimed = [volume for volume in there if volume is not None and volume.claims]
        if claimed:
            clients = looks[0].clients if looks else nodes.list_nodes(self._client)
            yield from drain_findings.check(claimed, records, clients)

    def _others(
        self, there: Iterable[volumes.Volume | None], served: Collection[str]
    ) -> dict[str, plugin_records.Plugin | None]:
        """Return what Nomad says of plugins of claimed volumes that the plan does not have: one call for each."""
        ids = sorted({volume.plugin_id for volume in there if volume is not None and volume.claims}.difference(served))
        records = gather.in_parallel(functools.partial(plugin_records.get, self._client, item) for item in ids)
        return dict(zip(ids, records, strict=True))


def _healthy_controllers(record: plugin_records.Plugin | None, status: plugins.PluginStatus | None) -> int:
    """Return how many there are, by the status where the plan has the plugin, else by Nomad."""
    if status is not None:
        return sum(row.role == "controller" and row.status == plugins.HEALTHY for row in status.instances)
    return sum(item.healthy for item in record.controllers) if record else 0


def _explained(client: nomad.Nomad, seen: looking.Look) -> plugins.PluginStatus:
    """Return the status with what explains it, where not everything is well."""
    if seen.status.status == plugins.HEALTHY:
        return seen.status
    wanted = seen.wanted
    fetched = explaining.explain(client, wanted.expectation, wanted.job_ids, seen.seen, seen.status)
    return dataclasses.replace(seen.status, causes=(*explaining.recorded(seen.status), *fetched))


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
